"""Writes terrain files with GDAL (rasterio) and Pillow into FOLDER, and beside each NAME the heights that are to be found,
NAME.heights: f64, rows from the south. What must be refused has NAME.refused with words of the message instead.

Called by terrain_back.rs: python terrain_back.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np
import rasterio
from PIL import Image
from rasterio.transform import Affine, from_origin

folder = Path(sys.argv[1])
random = np.random.default_rng(1)
METRES = from_origin(500_000, 5_400_000, 0.5, 0.5)


def expect(name, heights):
    np.ascontiguousarray(heights[::-1], dtype="<f8").tofile(folder / f"{name}.heights")


def geotiff(name, heights, transform=METRES, crs="EPSG:32633", scale=None, **options):
    rows, columns = heights.shape
    profile = dict(driver="GTiff", height=rows, width=columns, count=1, dtype=heights.dtype, crs=crs, transform=transform)
    with rasterio.open(folder / name, "w", **(profile | options)) as file:
        file.write(heights, 1)
        if scale:
            file.scales, file.offsets = [scale[0]], [scale[1]]


# Every type of number, plain, packed, in strips and in tiles, with and without prediction.
for dtype in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64"):
    if dtype.startswith("float"):
        heights = (1000 * random.random((70, 45)) - 500).astype(dtype)
    else:
        info = np.iinfo(dtype)
        heights = random.integers(max(info.min, -10**6), min(info.max, 10**6), (70, 45)).astype(dtype)
    floating = dtype.startswith("float")
    for packing in ("none", "deflate", "lzw"):
        for tiled in (False, True):
            options = dict(tiled=True, blockxsize=32, blockysize=16) if tiled else {}
            if packing != "none" and (floating or dtype.endswith(("16", "32"))):
                options["predictor"] = 3 if floating else 2
            name = f"{dtype}-{packing}-{'tiles' if tiled else 'strips'}.tif"
            geotiff(name, heights, compress=packing, **options)
            expect(name, heights.astype(float))

heights = (100 * random.random((20, 30))).astype("float32")
geotiff("big-endian.tif", heights, ENDIANNESS="BIG")
expect("big-endian.tif", heights)
geotiff("bigtiff.tif", heights, BIGTIFF="YES")
expect("bigtiff.tif", heights)
geotiff("south-up.tif", heights, transform=Affine(0.5, 0, 500_000, 0, 0.5, 5_400_000))
expect("south-up.tif", heights[::-1])
stored = random.integers(0, 1000, (20, 30)).astype("int16")
geotiff("scaled.tif", stored, scale=(0.1, -5.0))
expect("scaled.tif", stored * 0.1 - 5.0)
for name, mark in (("hole.tif", -9999.0), ("least.tif", np.finfo("float32").min), ("nan.tif", np.nan)):
    holed = heights.copy()
    holed[3, 4] = mark
    geotiff(name, holed, nodata=mark)
    expect(name, np.where(holed == np.float32(mark), np.nan, holed.astype(float)))
geotiff("undeclared.tif", np.full((2, 2), np.finfo("float32").min, "float32"))
(folder / "undeclared.tif.refused").write_text("missing data|gdal_translate -a_nodata")
geotiff("degrees.tif", heights, transform=from_origin(15.0, 48.0, 1 / 3600, 1 / 3600), crs="EPSG:4326")
expect("degrees.tif", heights)
geotiff("feet.tif", heights, crs="EPSG:2263")
expect("feet.tif", heights)
geotiff("zstd.tif", heights, compress="zstd")
(folder / "zstd.tif.refused").write_text("compression|COMPRESS=DEFLATE")
geotiff("turned.tif", heights, transform=Affine.rotation(20) * METRES)
(folder / "turned.tif.refused").write_text("turned or mirrored|gdalwarp")
with rasterio.open(
    folder / "huge.tif", "w", driver="GTiff", height=60_000, width=60_000, count=1, dtype="float32", tiled=True, SPARSE_OK=True
):
    pass
(folder / "huge.tif.refused").write_text("60000 × 60000|gdal_translate -outsize")
whole = (folder / "float32-deflate-tiles.tif").read_bytes()
(folder / "cut.tif").write_bytes(whole[: len(whole) // 2])
(folder / "cut.tif.refused").write_text("cut.tif")

profile = dict(driver="AAIGrid", height=20, width=30, count=1, dtype="float32", nodata=-9999.0)
for name, transform, crs in (
    ("metres.asc", METRES, "EPSG:32633"),
    ("degrees.asc", from_origin(15.0, 48.0, 1 / 3600, 1 / 3600), "EPSG:4326"),
):
    holed = heights.copy()
    holed[0, 0] = -9999.0
    with rasterio.open(folder / name, "w", transform=transform, crs=crs, SIGNIFICANT_DIGITS=9, **profile) as file:
        file.write(holed, 1)
    expect(name, np.where(holed == -9999.0, np.nan, holed.astype(float)))

grey = random.integers(0, 256, (9, 7)).astype("uint8")
Image.fromarray(grey).save(folder / "grey8.png")
expect("grey8.png", grey / 255)
deep = random.integers(0, 65536, (9, 7)).astype("uint16")
Image.fromarray(deep).save(folder / "grey16.png")
expect("grey16.png", deep / 65535)
colour = random.integers(0, 256, (9, 7, 3)).astype("uint8")
Image.fromarray(colour).save(folder / "colour.png")
expect("colour.png", colour @ np.array([0.2126, 0.7152, 0.0722]) / 255)
Image.fromarray(grey).convert("P").save(folder / "palette.png")
expect("palette.png", grey / 255)
Image.fromarray(grey).save(folder / "lossy.jpg")
(folder / "lossy.jpg.refused").write_text("JPEG|save it as PNG")
print("written")
