//! Contacts as readers of frames get them: pairs with everything the solver knows of each.

use barchan_core::frame::{Extra, Frame, Pairs};
use barchan_core::solver::{Contact, Domain, Partner};
use glam::{DVec3, Vec3};
use std::collections::HashMap;

/// Name of these pairs in frames and files.
pub const CONTACTS: &str = "contacts";

/// All contacts: ids of the partners (of a wall [`Pairs::NOBODY`]), from centre to centre, or to the point on the wall.
pub fn pairs(contacts: &[Contact], frame: &Frame, domain: &Domain) -> Pairs {
    let grains = frame.grains();
    let place: HashMap<u32, DVec3> = grains.id.iter().copied().zip(grains.position.iter().copied()).collect();
    let period = domain.period();
    let near = |d: f64, p: f64| if p > 0.0 { d - p * (d / p).round() } else { d };
    let at = |id: u32| place.get(&id).copied().unwrap_or(DVec3::NAN);
    let ends = |c: &Contact| {
        let x = at(c.grain);
        // The point lies on the line of centres, on the side of the partner: its image is the nearest to the point.
        let Partner::Grain(other) = c.partner else { return [x, c.point] };
        let d = at(other) - c.point;
        [x, c.point + DVec3::new(near(d.x, period.x), near(d.y, period.y), near(d.z, period.z))]
    };
    let id = |c: &Contact| [c.grain, if let Partner::Grain(other) = c.partner { other } else { Pairs::NOBODY }];
    let wall = |c: &Contact| if let Partner::Wall(w) = c.partner { u32::from(w) } else { Pairs::NOBODY };
    let real = |name: &str, unit: &str, of: &dyn Fn(&Contact) -> f64| {
        Extra::real(name, unit, contacts.iter().map(|c| of(c) as f32).collect::<Vec<f32>>())
    };
    let vector = |name: &str, unit: &str, of: &dyn Fn(&Contact) -> DVec3| {
        Extra::vector(name, unit, contacts.iter().map(|c| of(c).as_vec3()).collect::<Vec<Vec3>>())
    };
    Pairs {
        name: CONTACTS.into(),
        id: contacts.iter().map(id).collect(),
        ends: contacts.iter().map(ends).collect(),
        extras: vec![
            vector("point", "m", &|c| c.point),
            vector("normal", "", &|c| c.normal),
            real("overlap", "m", &|c| c.overlap),
            real("normal_force", "N", &|c| c.normal_force),
            vector("tangential_force", "N", &|c| c.tangential_force),
            vector("tangential_stretch", "m", &|c| c.slide),
            real("elastic_energy", "J", &|c| c.elastic_energy),
            Extra::whole("wall", contacts.iter().map(wall).collect::<Vec<u32>>()),
        ],
    }
}
