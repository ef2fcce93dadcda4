//! The particles as columns in the order of slots, and what a step keeps of each.
//!
//! A slot changes when memory is sorted; an id does not. Columns that integrate are f64; what sums over neighbours read is in the working
//! precision `R`, one record a particle: `offset`, `speed`, `sigma`. Only the sum of the density reads `place` (f64).

use barchan_core::simd::Real;
use glam::DVec3;

/// Particles whose sums are taken together, by one thread.
pub const BLOCK: usize = 256;

/// Pressure [Pa], deviatoric stress [Pa] as xx, yy, zz, xy, xz, yz, and the share ‖s‖/Y of the yield bound.
pub type Stress<R> = [R; 8];

impl<R: Real> Local<R> {
    /// From density [kg/m³] and κ [kg²/m⁸].
    pub fn new(density: f64, kappa: f64) -> Local<R> {
        Local { density: R::of(density), volume: R::of(1.0 / density), ratio: R::of(density * density / kappa) }
    }
}

/// What a step finds of a particle before it iterates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local<R> {
    /// Density [kg/m³], walls included.
    pub density: R,
    /// Its inverse [m³/kg].
    pub volume: R,
    /// ρ²/κ [m²], where κ = |g|² + Σ m²|∇W|² is the diagonal of the problem but for dt²/ρ², bodies' yielding included.
    pub ratio: R,
}

/// All particles.
#[derive(Clone, Debug, Default)]
pub struct Particles<R> {
    /// Position [m]; the last is spare.
    pub place: Vec<[f64; 4]>,
    /// Velocity [m/s]; within a step the one without stress.
    pub velocity: Vec<DVec3>,
    /// Pressure and stress, remembered from step to step.
    pub stress: Vec<Stress<R>>,
    /// Index of the kind of matter.
    pub kind: Vec<u16>,
    /// Permanent identity.
    pub id: Vec<u32>,
    /// Density and κ.
    pub local: Vec<Local<R>>,
    /// Position from the domain's middle [m], rounded, at the beginning of the step; and one spare record behind the last particle's.
    pub offset: Vec<[R; 4]>,
    /// Velocity of the iteration under way [m/s], and one spare record behind the last particle's.
    pub speed: Vec<[R; 4]>,
    /// (p I + s)/ρ² of the iteration under way, as xx, yy, zz, xy, xz, yz.
    pub sigma: Vec<[R; 8]>,
}

impl<R: Real> Particles<R> {
    pub fn len(&self) -> usize {
        self.id.len()
    }

    pub fn position(&self, i: usize) -> DVec3 {
        DVec3::from_slice(&self.place[i])
    }

    pub fn push(&mut self, x: DVec3, v: DVec3, pressure: f64, density: f64, kind: u16, id: u32) {
        self.place.push([x.x, x.y, x.z, 0.0]);
        self.velocity.push(v);
        let mut stress = [R::of(0.0); 8];
        stress[0] = R::of(pressure);
        self.stress.push(stress);
        self.kind.push(kind);
        self.id.push(id);
        self.local.push(Local::new(density, density * density));
        self.fit();
    }

    /// Brings the records of the iteration to the number of particles.
    pub fn fit(&mut self) {
        let n = self.len();
        self.offset.resize(n + 1, [R::of(0.0); 4]);
        self.speed.resize(n + 1, [R::of(0.0); 4]);
        self.sigma.resize(n, [R::of(0.0); 8]);
    }

    /// Puts into slot k what was in slot `from[k]`; slots not named are gone.
    pub fn reorder(&mut self, from: &[u32]) {
        fn pick<T: Copy>(column: &mut Vec<T>, from: &[u32]) {
            *column = from.iter().map(|&f| column[f as usize]).collect();
        }
        pick(&mut self.place, from);
        pick(&mut self.velocity, from);
        pick(&mut self.stress, from);
        pick(&mut self.kind, from);
        pick(&mut self.id, from);
        pick(&mut self.local, from);
        self.fit();
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        fn of<T>(column: &Vec<T>) -> usize {
            column.capacity() * size_of::<T>()
        }
        of(&self.place)
            + of(&self.velocity)
            + of(&self.stress)
            + of(&self.kind)
            + of(&self.id)
            + of(&self.local)
            + of(&self.offset)
            + of(&self.speed)
            + of(&self.sigma)
    }
}

/// A symmetric tensor of the stress in double precision.
pub fn deviatoric<R: Real>(stress: &Stress<R>) -> [f64; 6] {
    std::array::from_fn(|k| stress[1 + k].into())
}

/// A difference of places [m] to the nearest image, with the period [m] of each direction, 0 where there is none.
pub fn nearest_image(mut d: DVec3, period: DVec3) -> DVec3 {
    for k in 0..3 {
        if period[k] > 0.0 {
            d[k] -= period[k] * (d[k] / period[k]).round();
        }
    }
    d
}

/// The first three of several numbers as a vector.
pub fn vector<R: Real>(numbers: &[R]) -> DVec3 {
    DVec3::new(numbers[0].into(), numbers[1].into(), numbers[2].into())
}
