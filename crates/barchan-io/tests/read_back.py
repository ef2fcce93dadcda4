"""Reads a run's folder with VTK's own reader and plyfile, and compares it with the tables beside it.

Called by read_back.rs: python read_back.py FOLDER
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import plyfile
import vtk
from vtk.util.numpy_support import vtk_to_numpy

folder = Path(sys.argv[1])
# VTK reports a bad file to its error window; make it an exception.
errors = []


def read(path):
    reader = vtk.vtkXMLPolyDataReader()
    reader.AddObserver("ErrorEvent", lambda *_: errors.append(f"VTK cannot read {path}"))
    reader.SetFileName(str(path))
    reader.Update()
    assert not errors, errors
    return reader.GetOutput()


def same(found, expected, what):
    assert np.array_equal(found, expected), f"{what}: {found} is not {expected}"


series = ElementTree.parse(folder / "frames.pvd").getroot()
assert series.get("type") == "Collection"
entries = series.findall("./Collection/DataSet")
assert [e.get("file") for e in entries] == [f"frames/{i:06}.vtp" for i in range(3)]

for i, entry in enumerate(entries):
    table = folder / f"{i}.csv"
    names = table.read_text().split("\n")[0].split(",")
    rows = np.loadtxt(table, delimiter=",", skiprows=1, ndmin=2) if i < 2 else np.zeros((0, len(names)))
    column = {name: rows[:, k] for k, name in enumerate(names)}
    xyz, velocity, spin = rows[:, 0:3], rows[:, 4:7], rows[:, 7:10]

    data = read(folder / entry.get("file"))
    n = len(rows)
    assert data.GetNumberOfPoints() == n and data.GetNumberOfVerts() == n, (n, data.GetNumberOfPoints())
    fields, points = data.GetFieldData(), data.GetPointData()
    time = fields.GetArray("TimeValue").GetValue(0)
    assert time == float(entry.get("timestep")) == 0.1 + 0.2 * i, time
    assert fields.GetArray("step").GetValue(0) == int(time * 1e6)
    materials = fields.GetAbstractArray("material_names")
    assert [materials.GetValue(k) for k in range(2)] == ["dry sand", 'Körner\\n <"&">']
    walls = fields.GetAbstractArray("wall_names")
    assert [walls.GetValue(k) for k in range(2)] == ["floor", 'lid, "upper"']
    same(vtk_to_numpy(fields.GetArray("wall_force")), [[-1, 2, -300], [-2, 4, -600]], "wall_force")
    assert fields.GetArray("wall_rotation").GetNumberOfComponents() == 4
    units = vtk.vtkDataArray.UNITS_LABEL()
    assert n or fields.GetArray("solid_id") is None
    if n:
        assert points.GetArray("pressure").GetInformation().Get(units) == "Pa"
        assert points.GetArray("velocity").GetInformation().Get(units) == "m/s"
        assert data.GetPoints().GetDataType() == vtk.VTK_DOUBLE
        same(vtk_to_numpy(data.GetPoints().GetData()), xyz, "positions")
        same(vtk_to_numpy(points.GetArray("radius")), column["radius"], "radius")
        same(vtk_to_numpy(points.GetArray("velocity")), velocity.astype(np.float32), "velocity")
        same(vtk_to_numpy(points.GetArray("spin")), spin.astype(np.float32), "spin")
        for name in ("id", "material", "pressure"):
            same(vtk_to_numpy(points.GetArray(name)), column[name], name)
        # A grain's mass is shared by its spheres.
        _, first, grain = np.unique(column["id"], return_index=True, return_inverse=True)
        shared = np.bincount(grain, weights=vtk_to_numpy(points.GetArray("mass")))
        assert np.allclose(shared, column["grain_mass"][first], rtol=1e-12, atol=0)
        solids = np.loadtxt(folder / f"{i}-solids.csv", delimiter=",", skiprows=1, ndmin=2)
        assert len(solids) == [1250, 2][i], len(solids)
        places = {"id": [0], "shape": [1], "position": [2, 3, 4], "orientation": [5, 6, 7, 8], "radius": [9]}
        for name, at in places.items():
            same(vtk_to_numpy(fields.GetArray(f"solid_{name}")).reshape(len(solids), -1), solids[:, at], f"solid_{name}")
        assert fields.GetArray("solid_position").GetInformation().Get(units) == "m"
        # Cells refer to points one by one.
        cells = data.GetVerts()
        same(vtk_to_numpy(cells.GetConnectivityArray()), np.arange(n), "connectivity")
        same(vtk_to_numpy(cells.GetOffsetsArray()), np.arange(n + 1), "offsets")
        chosen = vtk.vtkThreshold()
        chosen.SetInputData(data)
        chosen.SetInputArrayToProcess(0, 0, 0, vtk.vtkDataObject.FIELD_ASSOCIATION_POINTS, "material")
        chosen.SetUpperThreshold(0.5)
        chosen.SetThresholdFunction(vtk.vtkThreshold.THRESHOLD_UPPER)
        chosen.Update()
        found, expected = chosen.GetOutput().GetNumberOfCells(), np.count_nonzero(column["material"] == 1)
        assert found == expected, f"threshold: {found} is not {expected}"

    ply = plyfile.PlyData.read(folder / f"frames/{i:06}.ply")
    vertex = ply["vertex"]
    assert not ply.text and ply.byte_order == "<" and vertex.count == n
    for name in ("x", "y", "z", "radius", "vx", "vy", "vz"):
        same(vertex[name], column[name].astype(np.float32), name)
    same(vertex["id"], column["id"], "id")
    same(vertex["material"], column["material"], "material")
    assert "material dry sand" in ply.comments
    assert f"time {time!r}" in ply.comments, ply.comments

print("read back: 3 frames")
