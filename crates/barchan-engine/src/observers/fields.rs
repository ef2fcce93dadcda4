//! Fields of the continuum on a grid: volume fraction, velocity, stress, shear rate, inertial number.

use super::cells::{Cells, LOOK_EVERY};
use super::{Asked, Observer, View, contacts_of};
use barchan_core::columns::Column;
use barchan_io::csv;
use barchan_io::vti::{CellField, CellGrid};
use barchan_scene::check::Check;
use barchan_scene::measure::Measured;
use barchan_scene::{Region, Scene, keys};
use glam::{DMat3, DVec3};

keys! {
    /// Volume fraction, velocity, stress, shear rate, inertial number and friction in the cells of a grid, as images for ParaView.
    pub struct FieldsKeys = "write `fields = { box = { min, max }, cells = [20, 1, 30] }`" {
        /// Where: a box.
        @flat region: Region [; help("say where to measure: `box = { min, max }`")],
        /// Number of cells along x, y and z.
        cells: [u64; 3] [; help("write how many cells the box has along x, y and z, such as [20, 1, 30]")],
    }
}

impl Measured for FieldsKeys {
    const KEY: &'static str = "fields";
    const ABOUT: &'static str = "Volume fraction, velocity, stress, shear rate, inertial number and friction in the cells of a grid, as images for ParaView.";

    fn check_all(&self, c: &mut Check, path: &str) {
        super::boxed(c, path, &self.region);
        let [x, y, z] = self.cells;
        let number = x.checked_mul(y).and_then(|n| n.checked_mul(z));
        if number.is_none_or(|n| n == 0 || n > 1 << 22) {
            let message = format!("a grid of {x} × {y} × {z} cells cannot be");
            c.error(format!("{path}.cells"), message, "give three numbers from 1 on, four million cells at most");
        }
    }
}

impl Asked for FieldsKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        let (min, max) = self.region.to_core().bounds();
        Box::new(Fields::new(min, max, self.cells.map(|n| n as usize), super::period(scene)))
    }
}

/// What a cell has, in the order of a row: each field's cells together, along x first, and the components of a cell together.
pub const CELL_FIELDS: [CellField; 7] = [
    CellField { name: "volume_fraction", unit: "", components: 1 },
    CellField { name: "velocity", unit: "m/s", components: 3 },
    // xx, yy, zz, xy, yz, xz: the order that VTK takes for a symmetric tensor.
    CellField { name: "stress", unit: "Pa", components: 6 },
    CellField { name: "pressure", unit: "Pa", components: 1 },
    CellField { name: "shear_rate", unit: "1/s", components: 1 },
    CellField { name: "inertial_number", unit: "", components: 1 },
    CellField { name: "friction", unit: "", components: 1 },
];

/// The fields in the cells of a box, each averaged over the time since the last row.
///
/// Stress is positive in compression; the pressure P is a third of its trace. The shear rate is γ̇ = √(2 D':D') of the deviatoric rate of
/// strain D', from central differences of the velocity; the inertial number is γ̇ d/√(P/ρ), the friction √(½ σ':σ')/P: in simple
/// shear they are what [`super::Profile`] gives. What an empty cell does not have is NaN.
#[derive(Clone, Debug)]
pub struct Fields(Cells);

impl Fields {
    /// So many cells in the box from `min` to `max` [m], in a domain with these periods [m], 0 where there is none.
    pub fn new(min: DVec3, max: DVec3, counts: [usize; 3], period: DVec3) -> Fields {
        Fields(Cells::new(min, max, counts, period))
    }

    fn row(&self) -> Vec<f64> {
        let cells = &self.0;
        let all: Vec<_> = (0..cells.sums.len()).map(|k| cells.continuum(k)).collect();
        let velocity: Vec<DVec3> = all.iter().map(|c| c.velocity).collect();
        let rate: Vec<f64> = (0..all.len()).map(|k| shear(gradient(cells, &velocity, k)) * 2.0).collect();
        let mut row = Vec::with_capacity(14 * all.len());
        row.extend(all.iter().map(|c| c.fraction));
        row.extend(velocity.iter().flat_map(|u| u.to_array()));
        row.extend(all.iter().flat_map(|c| {
            let s = c.stress;
            [s.x_axis.x, s.y_axis.y, s.z_axis.z, s.y_axis.x, s.z_axis.y, s.z_axis.x]
        }));
        row.extend(all.iter().map(|c| c.pressure));
        row.extend(&rate);
        row.extend(all.iter().zip(&rate).map(|(c, rate)| c.inertial(*rate)));
        row.extend(all.iter().map(|c| shear(c.stress) / c.pressure));
        row
    }
}

/// √(½ T':T') of the symmetric, deviatoric part of a tensor: τ where that is one shear τ.
fn shear(t: DMat3) -> f64 {
    let t = (t + t.transpose()) * 0.5;
    let mean = (t.x_axis.x + t.y_axis.y + t.z_axis.z) / 3.0;
    let t = t - DMat3::from_diagonal(DVec3::splat(mean));
    (0.5 * (t.x_axis.length_squared() + t.y_axis.length_squared() + t.z_axis.length_squared())).sqrt()
}

/// ∂u/∂x, a column a direction [1/s], between the neighbours that have a velocity; 0 along a direction of one cell, NaN where a cell or
/// both of its neighbours have none.
fn gradient(cells: &Cells, velocity: &[DVec3], cell: usize) -> DMat3 {
    let [nx, ny, _] = cells.counts;
    let (at, stride) = ([cell % nx, cell / nx % ny, cell / (nx * ny)], [1, nx, nx * ny]);
    let along = |k: usize| {
        if cells.counts[k] == 1 {
            return DVec3::ZERO;
        }
        let has = |n: &usize| !velocity[*n].is_nan();
        let below = (at[k] > 0).then(|| cell - stride[k]).filter(has).unwrap_or(cell);
        let above = (at[k] + 1 < cells.counts[k]).then(|| cell + stride[k]).filter(has).unwrap_or(cell);
        let steps = (above - below) / stride[k];
        (velocity[above] - velocity[below]) / (steps as f64 * cells.side[k])
    };
    DMat3::from_cols(along(0), along(1), along(2))
}

impl Observer for Fields {
    fn columns(&self) -> Vec<csv::Column> {
        Vec::new()
    }

    fn grid(&self) -> Option<CellGrid> {
        Some(CellGrid { origin: self.0.low, spacing: self.0.side, counts: self.0.counts, fields: &CELL_FIELDS })
    }

    fn watches(&self) -> bool {
        true
    }

    fn watch(&mut self, view: &View<'_>) {
        if view.frame.step.is_multiple_of(LOOK_EVERY) {
            self.0.add(view.grains(), &contacts_of(view));
        }
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        self.0.add(view.grains(), &contacts_of(view));
        let row = self.row();
        self.0.clear();
        row
    }

    fn save(&self) -> Vec<(&'static str, Column)> {
        self.0.save()
    }

    fn load(&mut self, columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        self.0.load(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{contact, frame};
    use super::*;
    use barchan_core::frame::Population;
    use barchan_core::solver::{Contact, Partner};
    use std::f64::consts::PI;

    /// A cubic lattice of unit spheres of density 2 in simple shear u_y = 3 z, with contacts that bear a pressure along x and a shear in
    /// the plane of the flow.
    fn sheared() -> (Population, Vec<Contact>) {
        let places: Vec<DVec3> =
            (0..64).map(|n| DVec3::new((n % 4) as f64, (n / 4 % 4) as f64, (n / 16) as f64) + 0.5).collect();
        let mut f = frame(&places, 0.5);
        f.velocity = places.iter().map(|x| DVec3::Y * 3.0 * x.z).collect();
        f.mass = vec![2.0 * PI / 6.0; 64].into();
        let contacts = (0..64)
            .map(|g: u32| Contact {
                point: places[g as usize] + 0.5 * DVec3::X,
                normal: DVec3::X,
                normal_force: 9.0,
                ..contact(g, Partner::Grain(if g % 4 == 3 { g - 3 } else { g + 1 }))
            })
            .collect();
        (f, contacts)
    }

    fn field<'a>(row: &'a [f64], name: &str, cells: usize) -> &'a [f64] {
        let k = CELL_FIELDS.iter().position(|f| f.name == name).unwrap();
        let from = CELL_FIELDS[..k].iter().map(|f| f.components).sum::<usize>() * cells;
        &row[from..from + CELL_FIELDS[k].components * cells]
    }

    #[test]
    fn a_sheared_lattice_has_its_fields_in_every_cell() {
        let (f, contacts) = sheared();
        let mut fields = Fields::new(DVec3::ZERO, DVec3::splat(4.0), [4, 2, 4], DVec3::new(4.0, 4.0, 0.0));
        fields.0.add(&f, &contacts);
        let row = fields.row();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert_eq!(row.len(), 14 * 32);
        assert!(field(&row, "volume_fraction", 32).iter().all(|&x| near(x, PI / 6.0)));
        for (cell, u) in field(&row, "velocity", 32).chunks(3).enumerate() {
            assert!(near(u[1], 3.0 * ((cell / 8) as f64 + 0.5)) && near(u[0], 0.0));
        }
        // 9 N on each m² along x and nothing else: P = 3 Pa, √(½ σ':σ') = 9/√3 Pa, I = 3 · 1/√(3/2).
        assert!(field(&row, "stress", 32).chunks(6).all(|s| near(s[0], 9.0) && s[1..].iter().all(|&x| near(x, 0.0))));
        assert!(field(&row, "pressure", 32).iter().all(|&p| near(p, 3.0)));
        assert!(field(&row, "shear_rate", 32).iter().all(|&g| near(g, 3.0)));
        assert!(field(&row, "inertial_number", 32).iter().all(|&i| near(i, 3.0 / 1.5f64.sqrt())));
        assert!(field(&row, "friction", 32).iter().all(|&m| near(m, 3f64.sqrt())));
    }

    #[test]
    fn cells_of_any_number_hold_the_same_in_all() {
        let (f, contacts) = sheared();
        let total = |counts: [usize; 3]| {
            let mut fields = Fields::new(DVec3::splat(-0.3), DVec3::splat(4.4), counts, DVec3::ZERO);
            fields.0.add(&f, &contacts[..3]);
            let room = fields.0.side.element_product();
            let row = fields.row();
            let cells = counts.iter().product();
            let volume: f64 = field(&row, "volume_fraction", cells).iter().sum();
            let mass: f64 = fields.0.sums.iter().map(|s| s.mass).sum();
            let stress: f64 = fields.0.sums.iter().map(|s| s.contact.x_axis.x).sum();
            [volume * room, mass, stress]
        };
        let whole = total([1, 1, 1]);
        for counts in [[3, 5, 7], [1, 11, 2], [20, 1, 20]] {
            assert!(total(counts).iter().zip(whole).all(|(a, b)| (a / b - 1.0).abs() < 1e-12), "{counts:?}");
        }
    }

    #[test]
    fn empty_cells_have_no_velocity() {
        let (f, contacts) = sheared();
        let mut fields = Fields::new(DVec3::ZERO, DVec3::new(4.0, 4.0, 8.0), [1, 1, 8], DVec3::ZERO);
        fields.0.add(&f, &contacts);
        let row = fields.row();
        assert!(field(&row, "shear_rate", 8)[..4].iter().all(|g| (g - 3.0).abs() < 1e-9));
        assert!(field(&row, "velocity", 8)[12..].iter().all(|u| u.is_nan()));
        assert_eq!(field(&row, "volume_fraction", 8)[7], 0.0);
    }
}
