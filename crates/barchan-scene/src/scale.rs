//! More grains of the same size: `--scale`.
//!
//! The number of grains is multiplied by a factor f while the grains stay as they are. Lengths of the geometry grow by
//! L = f^(1/3); gravity stays, so times grow by √L = f^(1/6) (Froude similarity), velocities by √L, rates of grains by
//! f/√L = f^(5/6). Stresses stay: loads grow with the area, and a plunger keeps its thickness (mass ∝ L²), so that grains are
//! squeezed as in the original. What belongs to the grains (radii, shapes, roughness of walls, time step) stays. A population
//! placed by hand (`at`) is part of the geometry: it keeps its number, and its radius grows by L.
//!
//! How each key grows is said where it is stated.

use crate::assets::Assets;
use crate::keys::{Key, Scale, Stated};
use crate::types::*;

impl Scene {
    /// The same scene with `factor` times the grains, at the same grain size, in a geometry that grows with them.
    ///
    /// | what | grows as |
    /// |---|---|
    /// | numbers of grains | f |
    /// | domain, walls, ground, regions, orifices, discs, amplitudes, positions | f^(1/3) |
    /// | radii of grains, shapes, roughness, columns' width, dt, stresses | 1 |
    /// | radius of a population placed by `at` (its number stays), bodies | f^(1/3) |
    /// | times, velocities | f^(1/6) |
    /// | frequencies, angular rates | f^(−1/6) |
    /// | rates of emitters | f^(5/6) |
    /// | loads and masses of plungers | f^(2/3) |
    pub fn scaled(&self, factor: f64) -> Self {
        self.scaled_with(factor, &Assets::default())
    }

    /// The same for a scene with files: a population placed by `at` may have its size from one.
    pub(crate) fn scaled_with(&self, factor: f64, assets: &Assets) -> Self {
        let mut scene = self.clone();
        // A factor that is no multiplier leaves the scene alone; the command line refuses it with a message.
        if !(factor.is_finite() && factor > 0.0) {
            return scene;
        }
        let scale = Scale::new(factor);
        let whole = Key::new("", "");
        scene.grow(&scale, &whole);
        for g in scene
            .grains
            .iter_mut()
            .filter(|g| matches!(g.place, Place::At(_) | Place::Trees { .. } | Place::Sheet { .. }))
        {
            let listed = || assets.listed_radius(self, &g.shape).map(Size::Fixed);
            g.radius = g.radius.take().or_else(listed);
            g.radius.grow(&scale, &whole);
        }
        scene
    }
}
