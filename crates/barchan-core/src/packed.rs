//! A packing as columns: grains as somebody left them, to begin with.

use glam::DVec3;

/// Grains of a packing, one a row. Columns that a file does not have are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packed {
    /// Centres [m].
    pub position: Vec<DVec3>,
    /// Radii [m].
    pub radius: Vec<f64>,
    /// Velocities [m/s].
    pub velocity: Vec<DVec3>,
    /// Angular velocities [rad/s].
    pub spin: Vec<DVec3>,
    /// Identities.
    pub id: Vec<u32>,
    /// Index into `materials`.
    pub material: Vec<u16>,
    /// Names of the materials; of a file that numbers its types, their numbers.
    pub materials: Vec<String>,
    /// Densities [kg/m³]; for people to compare, the scene's material counts.
    pub density: Vec<f64>,
}

impl Packed {
    /// Number of grains.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// What is wrong with it: columns of other lengths, numbers that are none, ids that come twice.
    pub fn fault(&self) -> Option<String> {
        let n = self.len();
        let lengths = [
            ("radius", self.radius.len()),
            ("velocity", self.velocity.len()),
            ("spin", self.spin.len()),
            ("id", self.id.len()),
            ("material", self.material.len()),
            ("density", self.density.len()),
        ];
        if let Some((name, rows)) = lengths.into_iter().find(|(_, rows)| *rows != 0 && *rows != n) {
            return Some(format!("column {name} has {rows} rows where {n} should be"));
        }
        let vectors = self.position.iter().chain(&self.velocity).chain(&self.spin);
        if n == 0 {
            return Some("it holds no grain".into());
        }
        if !vectors.into_iter().all(|v| v.is_finite()) {
            return Some("a place, velocity or spin is not a finite number".into());
        }
        if let Some(row) = self.radius.iter().position(|r| !(r.is_finite() && *r > 0.0)) {
            return Some(format!("grain {} has a radius of {} m", row + 1, self.radius[row]));
        }
        if let Some(m) = self.material.iter().find(|m| usize::from(**m) >= self.materials.len()) {
            return Some(format!("a grain is of material {m}, and there are {}", self.materials.len()));
        }
        let mut ids = self.id.clone();
        ids.sort_unstable();
        if let Some(twice) = ids.windows(2).find(|w| w[0] == w[1]) {
            return Some(format!("two rows have the id {}: grains of several spheres cannot be imported", twice[0]));
        }
        ids.last().filter(|id| **id == u32::MAX).map(|id| format!("{id} is no id"))
    }

    /// In the order of the ids, where there are some.
    pub fn sorted(self) -> Packed {
        let mut order: Vec<usize> = (0..self.len()).collect();
        if self.id.is_empty() {
            return self;
        }
        order.sort_by_key(|k| self.id[*k]);
        self.rows(&order)
    }

    /// Some of its rows.
    pub fn rows(&self, rows: &[usize]) -> Packed {
        fn pick<T: Copy>(column: &[T], rows: &[usize]) -> Vec<T> {
            if column.is_empty() { Vec::new() } else { rows.iter().map(|k| column[*k]).collect() }
        }
        Packed {
            position: pick(&self.position, rows),
            radius: pick(&self.radius, rows),
            velocity: pick(&self.velocity, rows),
            spin: pick(&self.spin, rows),
            id: pick(&self.id, rows),
            material: pick(&self.material, rows),
            materials: self.materials.clone(),
            density: pick(&self.density, rows),
        }
    }
}
