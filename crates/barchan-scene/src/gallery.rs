//! The gallery: scenes that come with the program, each a commented file to start from.

/// A scene of the gallery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GalleryScene {
    /// Name on the command line.
    pub name: &'static str,
    /// One line: what it shows.
    pub about: &'static str,
    /// When its picture is taken [s]; `None` for the end.
    pub picture: Option<f64>,
    /// The commented TOML.
    pub source: &'static str,
    /// A small picture of it, a PNG, drawn by `barchan gallery`. A new scene borrows another's until that has run.
    pub card: &'static [u8],
}

macro_rules! gallery {
    ($($name:literal $(at $picture:literal)?: $about:literal,)*) => {
        &[$(GalleryScene {
            name: $name,
            about: $about,
            picture: [$(Some($picture),)? None][0],
            source: include_str!(concat!("../../../scenes/gallery/", $name, ".toml")),
            card: include_bytes!(concat!("../../../docs/gallery/small/", $name, ".png")),
        }),*]
    };
}

const GALLERY: &[GalleryScene] = gallery! {
    "pile": "sand poured onto rough ground heaps up at its angle of repose",
    "hourglass" at 0.8: "grains run through a neck at a steady rate, whatever the depth above it",
    "silo" at 0.8: "a shutter drops and a flat-bottomed silo empties through its hole",
    "dune" at 0.12: "two columns of sand collapse, meet, and come to rest as one dune",
    "drum": "small and large grains in a turning drum sort themselves within two turns",
    "brazil-nuts": "shake a box of mixed grains and the large ones rise to the top",
    "column-collapse" at 0.45: "a gate opens and a column of sand collapses and runs out",
    "oedometer" at 1.5: "a plunger loads and unloads a bed; stress against strain shows hysteresis",
    "chute": "a layer flows down an endless rough slope and finds its steady speed",
    "impact" at 0.235: "a steel ball strikes a bed of sand: splash, crater, sudden stop",
    "wheat" at 0.7: "wheat kernels, clumps of three spheres, run out of a hopper",
    "mixer" at 1.2: "four blades of a mesh turn through two layers of beads",
    "screw" at 1.4: "a turning screw of a mesh pushes sand along a trough and over its end",
    "shovel" at 1.8: "a shovel of a mesh digs, lifts and tips a load of sand",
    "tower" at 0.74: "an avalanche of sand topples a tower of two blocks",
    "buried" at 0.5: "a ring falls into sand and is buried under more of it",
    "bowling" at 0.2: "a ball is bowled into a stack of boxes: bodies alone, no sand",
    "knots": "trefoil knots, sampled from a mesh, are poured into a glass and catch in each other",
    "footprints" at 11.0: "boots walk and driven wheels roll over a field of sand, and leave their prints",
    "tyre-tracks": "driven wheels leave ruts in mud and slip where a bank is too steep",
    "furrow" at 4.0: "a plough parts the sand into two banks; its drag grows with the square of its depth",
    "rolling-ball": "a ball rolls down a slope of sand, leaves a track and comes to rest in it",
    "ball-drop": "a steel ball falls on sand and stops at a depth that grows as the cube root of its height",
    "hybrid-pile" at 2.2: "grains poured onto ground; those that lie still below the surface become ground",
    "hybrid-sphere" at 0.4: "a stream of grains buries a ball on the ground; the deep ones become ground",
    "crater" at 0.31: "a heavy ball strikes grains over ground: the ground becomes grains, and a crater",
    "bank" at 0.12: "a bank of ground, cut upright, falls as grains and lies still again as a slope",
    "hourglass-ground" at 1.4: "an hourglass runs out onto ground, and the heart of the heap becomes ground",
    "bucket" at 1.3: "a bucket is tilted and carried along, and pours a dune whose heart becomes ground",
    "chess": "a thousand chess pieces, three shapes from meshes, are poured into a box",
    "sand-column" at 0.5: "a round column of sand collapses: computed as a continuum, shown as grains",
    "sand-hourglass" at 0.8: "a continuum runs through a neck at a steady rate, as grains do",
    "sand-pile": "matter with friction angles of 30, 45 and 60 degrees, poured side by side",
    "truck" at 1.2: "a column of sand falls into the bed of a truck and runs over its sides",
    "pillar" at 0.6: "a pillar of fine sand falls through air, and its tip mushrooms",
    "wind-dune" at 2.0: "gusts of wind carry sand over the crest of a heap",
    "float-and-sink" at 1.5: "balls of three densities fall into a bath without friction: one floats high, one half under, one sinks",
    "bulldozer" at 1.6: "a blade pushes a heap of sand ahead of it and leaves banks on both sides",
    "damp-castle": "a tower of damp sand stands where one of dry sand falls",
    "silo-water" at 0.8: "two silos run empty: sand at a steady rate, matter without friction ever more slowly",
    "phases-collapse" at 0.5: "a round column of sand collapses: parcels on a grid, thin sand flies as grains",
    "phases-splash" at 0.3: "a ball of sand falls into a bed of it: splash, crater, heap",
    "avalanche-skin" at 12.0: "snow runs down a gully, drawn as one surface with grains on it",
    "avalanche-slabs" at 4.0: "a plate of 232 bonded pieces slides off, breaks up and is overtaken by loose snow",
    "slab-release" at 3.0: "a slab of bonded snow is sawn in its weak layer, breaks off at a crown and crumbles",
    "snow-lumps" at 2.0: "a block of bonded snow is tumbled in a drum and breaks into lumps",
    "cornice" at 1.6: "an overhang of bonded snow holds, until a charge breaks it off",
    "house" at 7.0: "an avalanche meets a house and a mast, and the pressure on them is measured",
    "deflecting-dam" at 8.0: "a dam at thirty degrees leads an avalanche aside",
    "forest" at 7.0: "an avalanche runs into a forest, breaks its first rows and is held by the rest",
    "entrainment" at 8.0: "the same slope with and without a cover of snow that flows erode",
    "avalanche" at 14.0: "Snow down a mountain of 512 × 512 cells: out of a bowl, through a gully, onto the plain",
    "beam" at 0.4: "Beams of bonded grains stick out of a wall: short ones bend, long ones break at the root",
    "hockey-stick" at 16.0: "75,000 m³ of snow down the path on which avalanche programs are compared, with maps and run-out",
    "twins": "one column of sand collapses as grains and beside it as a continuum",
};

/// A scene that is timed as a whole: `barchan bench NAME`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BenchScene {
    /// Name on the command line.
    pub name: &'static str,
    /// One line: what is timed.
    pub about: &'static str,
    /// The commented TOML.
    pub source: &'static str,
}

macro_rules! bench {
    ($($name:literal: $about:literal,)*) => {
        &[$(BenchScene {
            name: $name,
            about: $about,
            source: include_str!(concat!("../../../scenes/bench/", $name, ".toml")),
        }),*]
    };
}

const BENCH: &[BenchScene] = bench! {
    "mill": "spout, turning mesh, drain and measurements in one world of grains",
    "beside": "grains and continuum side by side before one piston",
};

/// Every scene that is there to be timed.
pub fn bench_scenes() -> &'static [BenchScene] {
    BENCH
}

/// Every scene of the gallery.
pub fn gallery() -> &'static [GalleryScene] {
    GALLERY
}

/// A scene of the gallery by its name; the error is the nearest name, where one is near.
pub fn gallery_scene(name: &str) -> Result<&'static GalleryScene, Option<&'static str>> {
    let found = GALLERY.iter().find(|s| s.name == name);
    found.ok_or_else(|| crate::read::nearest(name, GALLERY.iter().map(|s| s.name)))
}
