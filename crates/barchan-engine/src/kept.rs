//! Volume maps of meshes, kept in the user's cache folder between runs.
//!
//! A map depends on the mesh in its own frame, on spacing, cell and kernel, and on nothing else; its file is called by the hash of these. Files are
//! read where a scene's other files are, as bytes that assembling makes maps of, and written when a run begins. A file that is damaged, of another
//! version or of another mesh is passed over: the map is then made anew, and takes the file's place.

use crate::assemble::map_settings;
use crate::world::World;
use barchan_core::mesh::Mesh;
use barchan_io::atomic;
use barchan_scene::{Assets, BodyContact, Scene};
use barchan_sph::Sph;
use barchan_sph::maps::{MapKey, VolumeMap};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maps larger than that are made anew every time [bytes].
const MOST: u64 = 1 << 28;

fn file(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}.map"))
}

/// The folder of the maps in a cache folder.
pub(crate) fn folder(cache: PathBuf) -> PathBuf {
    cache.join("maps")
}

/// The maps, by name of their keys, that are kept of a scene's meshes.
pub(crate) fn read(scene: &Scene, assets: &Assets, folder: &Path) -> BTreeMap<String, Arc<[u8]>> {
    let Some(settings) = map_settings(scene) else { return BTreeMap::new() };
    let key = |mesh: &Mesh| MapKey::of(mesh, &settings).to_string();
    let walls = assets.walls.values().map(|s| key(s.facets.mesh()));
    let touched = |i: &usize| scene.bodies.get(*i).is_some_and(|b| b.contact == BodyContact::Mesh);
    let bodies = assets.bodies.iter().filter(|(i, _)| touched(i));
    let bodies = bodies.filter_map(|(_, s)| s.shape.skin().map(|m| key(&m.scaled(s.radius))));
    let taken = |key: String| {
        let path = file(folder, &key);
        let small = std::fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= MOST);
        let bytes = small.then(|| std::fs::read(&path).ok()).flatten()?;
        Some((key, bytes.into()))
    };
    walls.chain(bodies).filter_map(taken).collect()
}

/// Keeps the maps of a world that are not kept yet. What cannot be written is not kept: it costs the next run a second.
pub(crate) fn write(world: &World, folder: &Path) {
    let Some(sph) = world.solver::<Sph>() else { return };
    for shape in sph.settings().shapes.iter().flatten() {
        let Some(map) = shape.map() else { continue };
        let name = map.key().to_string();
        let path = file(folder, &name);
        let is_there =
            std::fs::read(&path).is_ok_and(|b| VolumeMap::from_bytes(&b).is_ok_and(|m| m.key().to_string() == name));
        if is_there {
            continue;
        }
        let bytes = map.to_bytes();
        if bytes.len() as u64 <= MOST && std::fs::create_dir_all(folder).is_ok() {
            // Another run may write the same at the same time: each file is whole.
            let _ = atomic::write(&path, &bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{assemble, load};
    use barchan_scene::Parsed;

    const SCENE: &str = r#"
duration = 0.05
[domain]
min = [-0.2, -0.2, -0.1]
max = [0.2, 0.2, 0.5]
[materials.wood]
density = 600
young = "5 MPa"
restitution = 0.5
friction = 0.4
[[walls]]
name = "ring"
material = "wood"
mesh = { file = "torus", scale = 0.1, at = [0, 0, 0.1] }
[[bodies]]
name = "ball"
material = "wood"
mesh = "sphere"
scale = 0.04
at = [0, 0, 0.3]
[[continuum]]
name = "sand"
spacing = "1 cm"
density = 2650
friction_angle = "33 deg"
fill = { box = { min = [-0.1, -0.1, 0.15], max = [0.1, 0.1, 0.22] } }
"#;

    fn parsed(with: Option<&Path>) -> Parsed {
        let mut parsed = load(SCENE, "ring", Path::new("")).unwrap_or_else(|e| panic!("{}", e.listing()));
        let mut assets = (*parsed.assets).clone();
        assets.maps = with.map_or_else(BTreeMap::new, |f| read(&parsed.scene, &assets, f));
        parsed.assets = assets.into();
        parsed
    }

    fn hash(parsed: &Parsed, folder: &Path) -> u64 {
        let mut world = assemble(parsed).unwrap_or_else(|e| panic!("{}", e.listing()));
        write(&world, folder);
        (0..30).for_each(|_| world.step().unwrap());
        world.hash()
    }

    #[test]
    fn a_map_is_kept_for_the_next_run_and_a_damaged_or_foreign_file_is_made_anew() {
        let cache = tempfile::tempdir().unwrap();
        let folder = folder(cache.path().to_owned());
        let fresh = hash(&parsed(None), &folder);
        let files = || {
            let mut all: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path()).collect();
            all.sort();
            all
        };
        let whole: Vec<Vec<u8>> = files().iter().map(|f| std::fs::read(f).unwrap()).collect();
        assert_eq!(whole.len(), 2, "the ring and the ball: {:?}", files());
        // What is kept is found by both meshes, and makes the same world.
        let again = parsed(Some(&folder));
        assert_eq!(again.assets.maps.len(), 2);
        for (key, bytes) in &again.assets.maps {
            assert_eq!(VolumeMap::from_bytes(bytes).unwrap().key().to_string(), *key);
        }
        assert_eq!(hash(&again, &folder), fresh);
        // A damaged file, and one of another mesh.
        let mut damaged = whole[0].clone();
        damaged[whole[0].len() / 2] ^= 1;
        for bad in [&damaged[..], &whole[1], b"", b"barchanV"] {
            std::fs::write(&files()[0], bad).unwrap();
            assert_eq!(hash(&parsed(Some(&folder)), &folder), fresh);
            assert_eq!(std::fs::read(&files()[0]).unwrap(), whole[0], "made anew");
        }
    }

    #[test]
    fn a_kept_map_is_what_a_world_is_made_with() {
        let cache = tempfile::tempdir().unwrap();
        let fresh = hash(&parsed(None), cache.path());
        let mut other = parsed(Some(cache.path()));
        let scene = &other.scene;
        // A map of the same key whose ring is a little thicker: nobody would look at the mesh again.
        let settings = map_settings(scene).unwrap();
        let mesh = other.assets.walls[&0].facets.mesh();
        let (key, thick) = (MapKey::of(mesh, &settings), mesh.scaled(1.05));
        let surface = barchan_core::mesh::near::Surface::build(&thick).unwrap();
        let lie = VolumeMap::of(&surface, key, &settings).unwrap();
        let mut assets = (*other.assets).clone();
        assets.maps.insert(key.to_string(), lie.to_bytes().into());
        other.assets = assets.into();
        assert!(hash(&other, cache.path()) != fresh);
    }
}
