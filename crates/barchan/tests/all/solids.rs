//! Grains that are solids, from the scene to the picture: a stored frame is drawn as the live one is.

use barchan::draw::walls::Stage;
use barchan::draw::{ColourBy, Colouring, Dresser, Show, Skins, Survey};
use barchan::io::vtk::{self, Packing};
use barchan::prelude::*;
use glam::Vec3;

const SCENE: &str = r#"
duration = 0.01
domain = { min = [-0.1, -0.1, -0.01], max = [0.1, 0.1, 0.2] }
[materials.clay]
preset = "glass beads"
[shapes.pair]
spheres = [{ at = [0, 0, 0], radius = "3 mm" }, { at = [0.004, 0, 0], radius = "2 mm" }]
[shapes.ring]
mesh = { file = "torus", scale = 0.012, radius = "4 mm" }
[shapes.block]
mesh = { file = "box", scale = 0.02, radius = "5 mm" }
[[grains]]
material = "clay"
shape = "pair"
at = [[0.06, 0.06, 0.05]]
[[grains]]
material = "clay"
shape = "block"
at = [[0, 0, 0.03], [0.04, 0, 0.03]]
turn = [0.3, 0.4, 0.5]
velocity = [0.3, 0, 0.1]
spin = [3, 2, 1]
[[grains]]
material = "clay"
shape = "ring"
at = [[-0.04, 0, 0.03]]
spin = [0, 20, 0]
[[grains]]
material = "clay"
radius = "3 mm"
at = [[0, 0.06, 0.03], [0.02, 0.06, 0.03]]
[[walls]]
material = "clay"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
"#;

#[test]
fn a_stored_frame_is_drawn_as_the_live_one() {
    let parsed = barchan::engine::load(SCENE, "solids", ".".as_ref()).unwrap();
    let mut world = assemble(&parsed).unwrap();
    while world.time() < 0.01 {
        world.step().unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.vtp");
    let live = world.frame();
    vtk::write(&path, &live, Packing::Raw).unwrap();
    // As another program would, from the text of the scene alone.
    let again = barchan::engine::load(SCENE, "solids", ".".as_ref()).unwrap();
    let shapes = barchan::engine::shapes(&again);
    assert_eq!(shapes, live.grains().shapes, "the same shapes under the same index");
    let stored = barchan::io::frames::read_vtp_with(&path, &shapes).unwrap();
    assert_eq!((live.len(), stored.len()), (6, 7), "only the clump comes back as spheres");

    let stage = |frame: &Frame| {
        let mut survey = Survey::new(vec![], ColourBy::Material, None);
        survey.see(frame).unwrap();
        survey.stage(None)
    };
    let Stage { bounds, cut } = stage(&live);
    assert_eq!(stage(&stored), Stage { bounds, cut }, "framed alike");
    for by in [ColourBy::Material, ColourBy::Id, ColourBy::Speed, ColourBy::Coordination] {
        let dresser = Dresser {
            colouring: Colouring { by: by.clone(), range: Some([0.0, 1.0]), ..Colouring::default() },
            materials: vec![Vec3::new(0.5, 0.3, 0.2)],
            variation: 1.0,
            walls: vec![],
            stage: Stage { bounds, cut },
            floor: Some(Dresser::FLOOR),
            glass: Dresser::GLASS,
            skins: Skins::default(),
            ground: 0,
            grain: None,
            pairs: false,
            grids: false,
            show: Show::Auto,
            wires: false,
            snow: false,
            cover: None,
            left_out: Default::default(),
        };
        let (a, b) = (dresser.dress(&live).unwrap(), dresser.dress(&stored).unwrap());
        assert_eq!((a.spheres.len(), a.solids.len(), a.meshes.len()), (4, 3, 3));
        for (x, y) in a.spheres.iter().zip(&b.spheres).filter(|_| by != ColourBy::Speed) {
            assert_eq!((x.centre, x.radius, x.colour), (y.centre, y.radius, y.colour));
        }
        assert_eq!(a.meshes.len(), b.meshes.len());
        for (x, y) in a.meshes.iter().zip(&b.meshes) {
            assert_eq!((&x.vertices, &x.normals, &x.triangles), (&y.vertices, &y.normals, &y.triangles));
            // Velocities are f32 in the file.
            assert!((x.colour - y.colour).length() < 1e-5, "{by:?}: {} {}", x.colour, y.colour);
        }
    }
}
