//! Materials, and what a *pair* of them does: one table serves grain on grain and grain on wall.

/// What a grain or a wall is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name in the scene.
    pub name: String,
    /// Density [kg/m³].
    pub density: f64,
    /// Young's modulus [Pa]; infinite for a rigid wall.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Coefficient of restitution of a central impact, 0 < e ≤ 1.
    pub restitution: f64,
    /// Coefficient of sliding friction.
    pub friction: f64,
    /// Coefficient of rolling resistance: largest torque over (effective radius × normal force).
    pub rolling: f64,
    /// Coefficient of twisting resistance, likewise about the normal.
    pub twisting: f64,
    /// Surface energy γ [J/m²]; two spheres part at a pull of 4πγR* (DMT).
    pub cohesion: f64,
}

/// Values given for one pair of materials in place of the mixed ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairOverride {
    /// One material.
    pub a: u16,
    /// The other; may be the same.
    pub b: u16,
    /// Coefficient of restitution.
    pub restitution: Option<f64>,
    /// Coefficient of sliding friction.
    pub friction: Option<f64>,
    /// Coefficient of rolling resistance.
    pub rolling: Option<f64>,
    /// Coefficient of twisting resistance.
    pub twisting: Option<f64>,
    /// Surface energy [J/m²].
    pub cohesion: Option<f64>,
}

/// Effective properties of a contact between two materials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Effective modulus E* [Pa]: 1/E* = (1 − ν₁²)/E₁ + (1 − ν₂²)/E₂.
    pub young: f64,
    /// Effective shear modulus G* [Pa]: 1/G* = (2 − ν₁)/G₁ + (2 − ν₂)/G₂.
    pub shear: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Coefficient of sliding friction.
    pub friction: f64,
    /// Coefficient of rolling resistance.
    pub rolling: f64,
    /// Coefficient of twisting resistance.
    pub twisting: f64,
    /// Surface energy [J/m²].
    pub cohesion: f64,
}

/// All materials of a scene with their pair overrides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Materials {
    /// By index.
    pub list: Vec<Material>,
    /// Exceptions to the mixing rule; the last one given for a pair holds.
    pub overrides: Vec<PairOverride>,
}

impl Materials {
    /// Number of materials.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What materials `a` and `b` do to each other. Moduli combine as in Hertz's theory [Johnson 1985, §4.2; Mindlin
    /// 1949]; coefficients as geometric means, so that one smooth partner makes a smooth contact.
    pub fn pair(&self, a: u16, b: u16) -> Pair {
        let (p, q) = (&self.list[a as usize], &self.list[b as usize]);
        let shear = |m: &Material| m.young / (2.0 * (1.0 + m.poisson));
        let mean = |x: f64, y: f64| (x * y).sqrt();
        let given = self
            .overrides
            .iter()
            .rev()
            .find(|o| (o.a, o.b) == (a, b) || (o.b, o.a) == (a, b))
            .cloned()
            .unwrap_or_default();
        Pair {
            young: 1.0 / ((1.0 - p.poisson * p.poisson) / p.young + (1.0 - q.poisson * q.poisson) / q.young),
            shear: 1.0 / ((2.0 - p.poisson) / shear(p) + (2.0 - q.poisson) / shear(q)),
            restitution: given.restitution.unwrap_or_else(|| mean(p.restitution, q.restitution)),
            friction: given.friction.unwrap_or_else(|| mean(p.friction, q.friction)),
            rolling: given.rolling.unwrap_or_else(|| mean(p.rolling, q.rolling)),
            twisting: given.twisting.unwrap_or_else(|| mean(p.twisting, q.twisting)),
            cohesion: given.cohesion.unwrap_or_else(|| mean(p.cohesion, q.cohesion)),
        }
    }

    /// Whether any pair resists rolling or twisting, so that contacts must remember angles.
    pub fn resist_rolling(&self) -> bool {
        let n = self.len() as u16;
        (0..n).any(|a| (0..=a).any(|b| self.pair(a, b).rolling > 0.0 || self.pair(a, b).twisting > 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glass() -> Material {
        Material {
            name: "glass".into(),
            density: 2500.0,
            young: 1e7,
            poisson: 0.3,
            restitution: 0.6,
            friction: 0.5,
            rolling: 0.0,
            twisting: 0.0,
            cohesion: 0.0,
        }
    }

    #[test]
    fn equal_materials_mix_to_the_closed_form() {
        let m = Materials { list: vec![glass()], overrides: vec![] };
        let p = m.pair(0, 0);
        assert!((p.young - 1e7 / (2.0 * 0.91)).abs() < 1e-3);
        assert!((p.shear - 1e7 / (4.0 * 1.3 * 1.7)).abs() < 1e-3);
        assert!((p.friction - 0.5).abs() < 1e-15);
    }

    #[test]
    fn a_rigid_wall_leaves_the_grain_alone_to_deform() {
        let wall = Material { name: "rigid".into(), young: f64::INFINITY, ..glass() };
        let m = Materials { list: vec![glass(), wall], overrides: vec![] };
        assert!((m.pair(0, 1).young - 1e7 / 0.91).abs() < 1e-3);
    }

    #[test]
    fn an_override_holds_both_ways_round_and_only_for_its_pair() {
        let mut m = Materials { list: vec![glass(), glass()], overrides: vec![] };
        m.overrides.push(PairOverride { a: 1, b: 0, friction: Some(0.1), ..Default::default() });
        assert_eq!(m.pair(0, 1), m.pair(1, 0));
        assert_eq!(m.pair(0, 1).friction, 0.1);
        assert_eq!(m.pair(0, 0).friction, 0.5);
    }
}
