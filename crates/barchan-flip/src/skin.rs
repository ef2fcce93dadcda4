//! The surface of liquid and solid as readers see it: each face a quadrilateral with corners of its own, so that what it carries is its own too.
//!
//! Reads the state, writes nothing but a surface. Costs as much as the pass that spreads grains.

use crate::clumps;
use crate::fractions::Fractions;
use crate::grid::Grid;
use crate::parcels::{self, Order};
use crate::settings::Settings;
use crate::step::Liquid;
use crate::surface::Surface;
use crate::surface::mesh::{Ground, NONE};
use barchan_core::frame::{self, Extra, SURFACE};

impl Liquid {
    /// The surface, with `load` (grains on a face over its limit), `psi` (Ψ [grains], by whose differences they leave it) and `full` (1 where more ride
    /// on a face than fit there).
    pub fn skin(&self) -> frame::Surface {
        let (settings, mut parcels, mut order) = (&self.settings, self.parcels.clone(), Order::default());
        // Before the first step there is no grid yet, and after one all parcels are within reach of it.
        let known = self.pack.mass.len() == self.grid.rows() && self.fractions.capacity.len() == self.grid.rows();
        let mut own = Grid::new(self.grid.period);
        if !known {
            own.set(parcels::bricks(&parcels, &own));
        }
        let grid = if known { &self.grid } else { &own };
        let mut open = Fractions::default();
        open.capacity.resize(own.rows(), [1.0; 8]);
        let fractions = if known { &self.fractions } else { &open };
        parcels::sort(&mut parcels, grid, &mut order);
        let deep = match known {
            true => self.near_open().into_iter().map(|near| !near).collect(),
            false => vec![0; grid.rows()],
        };
        let mut surface = Surface::default();
        surface.field.update(grid, &parcels, &order, &self.solid, &deep);
        let on = Ground { grid, fractions, solid: &self.solid, frame: self.frame };
        surface.lay_out(&on, &settings.surface, -settings.gravity.normalize_or_zero());
        let load = if self.gas.len() > 0 { self.weigh_faces(&mut surface, &on, settings) } else { Vec::new() };
        let of = |f: usize, values: &[f64]| match surface.carries[f] {
            NONE => 0.0,
            j => values.get(j as usize).copied().unwrap_or(0.0) as f32,
        };
        let faces = &surface.mesh.faces;
        let each =
            |value: &dyn Fn(usize) -> f32| -> Vec<f32> { (0..faces.len()).flat_map(|f| [value(f); 4]).collect() };
        let corners = faces.iter().flat_map(|f| f.corners.map(|c| surface.mesh.vertices[c as usize]));
        let full = (0..faces.len()).flat_map(|f| [u32::from(of(f, &load) > 1.0); 4]);
        frame::Surface {
            name: SURFACE.into(),
            vertices: corners.collect(),
            triangles: (0..faces.len() as u32)
                .flat_map(|f| [[4 * f, 4 * f + 1, 4 * f + 2], [4 * f, 4 * f + 2, 4 * f + 3]])
                .collect(),
            material: settings.material,
            extras: vec![
                Extra::real("load", "", each(&|f| of(f, &load))),
                Extra::real("psi", "", each(&|f| of(f, &surface.psi))),
                Extra::whole("full", full.collect::<Vec<_>>()),
            ],
        }
    }

    /// Load of the faces that carry grains; their Ψ is noted in the surface.
    fn weigh_faces(&self, surface: &mut Surface, on: &Ground<'_>, settings: &Settings) -> Vec<f64> {
        let diameter = settings.gas_diameter();
        let faces = surface.faces(&settings.surface, diameter);
        let face = surface.faces_of(on, &self.gas, diameter);
        let found = clumps::pressures(&faces, &mut face.clone(), &vec![0.0; face.len()]);
        surface.note(&faces, &face, &found.psi);
        surface.load.clone()
    }
}
