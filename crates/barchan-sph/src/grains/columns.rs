//! The grains as readers and checkpoints see them.

use super::Upsampled;
use barchan_core::columns::{Column, Columns, Saved, Unfit, mix, of_length};
use barchan_core::frame::{Extra, Population, UPSAMPLED};
use glam::{DVec3, Vec3};

impl Upsampled {
    /// The grains as a population. They have no mass: it is that of the particles they stand for.
    pub fn publish(&self) -> Population {
        let n = self.len();
        let owners = || self.owner.iter().zip(&self.count).flat_map(|(&o, &c)| std::iter::repeat_n(o, c as usize));
        Population {
            name: UPSAMPLED.into(),
            position: self.position.clone().into(),
            velocity: self.velocity.iter().map(|v| v.as_dvec3()).collect(),
            radius: self.radius.iter().map(|&r| f64::from(r)).collect(),
            mass: vec![0.0; n].into(),
            id: self.id.clone().into(),
            material: vec![self.settings.material; n].into(),
            extras: vec![
                Extra::real("tint", "", self.tint.clone()),
                Extra::whole("owner", owners().collect::<Vec<u32>>()),
            ],
            ..Population::default()
        }
    }

    /// The complete state but for the settings.
    pub fn save(&self) -> Columns {
        let positions = self.position.iter().flat_map(|x| x.to_array()).collect();
        let velocities = self.velocity.iter().flat_map(|v| v.to_array()).collect();
        let places = self.place.iter().map(|&p| u32::from(p)).collect();
        let column = |name: &str, column: Column| (format!("upsampled {name}"), column);
        vec![
            column("position", Column::F64(positions)),
            column("velocity", Column::F32(velocities)),
            column("radius", Column::F32(self.radius.clone())),
            column("tint", Column::F32(self.tint.clone())),
            column("id", Column::U32(self.id.clone())),
            column("place", Column::U32(places)),
            column("owner", Column::U32(self.owner.clone())),
            column("count", Column::U32(self.count.clone())),
            column("centre", Column::F32(self.centre.iter().flat_map(|c| c.to_array()).collect())),
            column("next id", Column::U32(vec![self.next])),
        ]
    }

    /// Takes back what [`Upsampled::save`] gave.
    pub fn load(&mut self, saved: Saved<'_>) -> Result<(), Unfit> {
        let name = |name: &str| format!("upsampled {name}");
        let id = saved.u32s(&name("id"))?;
        let n = id.len();
        let position = saved.f64s_of(&name("position"), 3 * n)?;
        let singles = |what: &str, expected: usize| {
            let column = saved.f32s(&name(what))?;
            of_length(&name(what), column.len(), expected)?;
            Ok::<_, Unfit>(column)
        };
        let whole = |what: &str, expected: usize| {
            let column = saved.u32s(&name(what))?;
            of_length(&name(what), column.len(), expected)?;
            Ok::<_, Unfit>(column)
        };
        let velocity = singles("velocity", 3 * n)?;
        let (radius, tint) = (singles("radius", n)?, singles("tint", n)?);
        let place = whole("place", n)?;
        let owner = saved.u32s(&name("owner"))?;
        let count = whole("count", owner.len())?;
        let total: u64 = count.iter().map(|&c| u64::from(c)).sum();
        of_length(&name("count"), total as usize, n)?;
        let centre = singles("centre", 3 * owner.len())?;
        let next = whole("next id", 1)?[0];
        self.place = place
            .into_iter()
            .map(|p| u16::try_from(p).map_err(|_| Unfit::new("column upsampled place is damaged")))
            .collect::<Result<_, _>>()?;
        self.position = position.chunks_exact(3).map(DVec3::from_slice).collect();
        self.velocity = velocity.chunks_exact(3).map(Vec3::from_slice).collect();
        self.centre = centre.chunks_exact(3).map(Vec3::from_slice).collect();
        (self.radius, self.tint, self.id, self.owner, self.count, self.next) = (radius, tint, id, owner, count, next);
        Ok(())
    }

    /// Mixes the state into a hash.
    pub fn hash(&self, start: u64) -> u64 {
        let mut hash = start;
        for (x, v) in self.position.iter().zip(&self.velocity) {
            hash = x.to_array().into_iter().fold(hash, |h, x| mix(h, x.to_bits()));
            hash = v.to_array().into_iter().fold(hash, |h, v| mix(h, u64::from(v.to_bits())));
        }
        for k in 0..self.len() {
            let bits = u64::from(self.radius[k].to_bits()) << 32 | u64::from(self.tint[k].to_bits());
            hash = mix(mix(hash, bits), u64::from(self.id[k]) << 32 | u64::from(self.place[k]));
        }
        self.owner.iter().zip(&self.count).fold(hash, |h, (&o, &c)| mix(h, u64::from(o) << 32 | u64::from(c)))
    }
}
