//! The state as columns: parcels in their order, and the pressures, stresses and lifts from which the next solves start.

use crate::exchange::Account;
use crate::grid::ROWS;
use crate::step::Liquid;
use barchan_core::columns::{Column, Columns, Saved, Unfit, of_length};
use glam::DVec3;

/// Names of the components of the stress.
const STRESS: [&str; 6] = ["stress xx", "stress yy", "stress zz", "stress yz", "stress xz", "stress xy"];

/// The account as whole numbers.
fn counted(a: &Account) -> Vec<u64> {
    let numbers = [a.dissipated, a.slipped, a.moved].map(f64::to_bits);
    [a.evaporated, a.condensed].into_iter().chain(numbers).collect()
}

/// The complete state.
pub fn save(liquid: &Liquid) -> Columns {
    let p = &liquid.parcels;
    let flat = |v: &[DVec3]| Column::F64(v.iter().flat_map(|x| x.to_array()).collect());
    let cells = |v: &[[i32; 3]]| Column::U32(v.iter().flatten().map(|&c| c as u32).collect());
    let (flow, account, solid) = (&liquid.flow, &liquid.account, &liquid.solid);
    let mut out = vec![
        ("cell".to_owned(), cells(&p.cell)),
        ("offset".to_owned(), flat(&p.offset)),
        ("velocity".to_owned(), flat(&p.velocity)),
        ("affine".to_owned(), Column::F32(p.affine.iter().flatten().copied().collect())),
        ("quanta".to_owned(), Column::U32(p.quanta.clone())),
        ("id".to_owned(), Column::U32(p.id.clone())),
        ("thin".to_owned(), Column::U32(p.thin.iter().map(|&t| u32::from(t)).collect())),
        ("gas position".to_owned(), flat(&liquid.gas.position)),
        ("gas velocity".to_owned(), flat(&liquid.gas.velocity)),
        ("gas id".to_owned(), Column::U32(liquid.gas.id.clone())),
        ("account".to_owned(), Column::U64(counted(account))),
        ("counts".to_owned(), Column::U32(vec![liquid.born, liquid.poor])),
        ("solid cell".to_owned(), cells(&solid.list().map(|c| c.0).collect::<Vec<_>>())),
        ("solid quanta".to_owned(), Column::U32(solid.list().map(|c| c.1).collect())),
        ("solid backs".to_owned(), cells(&solid.backs().collect::<Vec<_>>())),
        ("held cell".to_owned(), cells(&solid.borne.held.keys().map(|k| k.0).collect::<Vec<_>>())),
        ("held wall".to_owned(), Column::U32(solid.borne.held.keys().map(|k| u32::from(k.1)).collect())),
        ("held force".to_owned(), flat(&solid.borne.held.values().copied().collect::<Vec<_>>())),
        ("solid gravity".to_owned(), flat(&[solid.gravity])),
        ("claims".to_owned(), cells(&solid.claims.iter().copied().collect::<Vec<_>>())),
        ("claimed".to_owned(), Column::F64(vec![solid.claimed])),
        (
            "solid account".to_owned(),
            Column::U64(vec![solid.frozen, solid.thawed, u64::from(solid.steps), solid.since.to_bits()]),
        ),
        ("bricks".to_owned(), cells(liquid.grid.bricks.get(1..).unwrap_or(&[]))),
    ];
    for (name, field) in [("pressure", &flow.pressure), ("lift", &flow.lift)] {
        let rows = field.get(ROWS..).unwrap_or(&[]);
        out.push((name.to_owned(), Column::F64(rows.iter().flatten().copied().collect())));
    }
    let rested = solid.rest.get(ROWS..).unwrap_or(&[]);
    out.push(("solid rest".to_owned(), Column::F32(rested.iter().flatten().copied().collect())));
    for (name, field) in STRESS.iter().zip(&flow.stress) {
        let rows = field.get(ROWS..).unwrap_or(&[]);
        out.push((name.to_string(), Column::F32(rows.iter().flatten().copied().collect())));
    }
    out
}

/// Takes back what [`save`] gave.
pub fn load(liquid: &mut Liquid, saved: Saved<'_>) -> Result<(), Unfit> {
    let mut fresh = Liquid::new(liquid.settings.clone());
    let id = saved.u32s("id")?;
    let n = id.len();
    let triples = |name: &str| -> Result<Vec<[i32; 3]>, Unfit> {
        Ok(saved.u32s(name)?.chunks_exact(3).map(|c| [c[0] as i32, c[1] as i32, c[2] as i32]).collect())
    };
    let vectors = |name: &str, n: usize| -> Result<Vec<DVec3>, Unfit> {
        Ok(saved.f64s_of(name, 3 * n)?.chunks_exact(3).map(DVec3::from_slice).collect())
    };
    let p = &mut fresh.parcels;
    (p.cell, p.offset, p.velocity) = (triples("cell")?, vectors("offset", n)?, vectors("velocity", n)?);
    let affine = saved.f32s("affine")?;
    p.quanta = saved.u32s("quanta")?;
    for (name, found, expected) in
        [("cell", p.cell.len(), n), ("affine", affine.len(), 9 * n), ("quanta", p.quanta.len(), n)]
    {
        of_length(name, found, expected)?;
    }
    p.affine = affine.chunks_exact(9).map(|c| std::array::from_fn(|k| c[k])).collect();
    p.id = id;
    p.thin = saved.u32s("thin")?.into_iter().map(|t| t as u8).collect();
    of_length("thin", p.thin.len(), n)?;
    let g = &mut fresh.gas;
    g.id = saved.u32s("gas id")?;
    (g.position, g.velocity) = (vectors("gas position", g.id.len())?, vectors("gas velocity", g.id.len())?);
    let account = saved.u64s_of("account", 5)?;
    let number = |k: usize| f64::from_bits(account[k]);
    let (dissipated, slipped, moved) = (number(2), number(3), number(4));
    fresh.account = Account { evaporated: account[0], condensed: account[1], dissipated, slipped, moved };
    let counts = saved.u32s("counts")?;
    of_length("counts", counts.len(), 2)?;
    (fresh.born, fresh.poor) = (counts[0], counts[1]);
    let bricks = triples("bricks")?;
    let count = bricks.len();
    let (frozen, quanta) = (triples("solid cell")?, saved.u32s("solid quanta")?);
    of_length("solid quanta", quanta.len(), frozen.len())?;
    let frozen: Vec<([i32; 3], u32)> = frozen.into_iter().zip(quanta).collect();
    fresh.solid.put(&fresh.grid, &frozen, &triples("solid backs")?);
    let (held, wall) = (triples("held cell")?, saved.u32s("held wall")?);
    of_length("held wall", wall.len(), held.len())?;
    let force = vectors("held force", held.len())?;
    let walls = wall.into_iter().map(|w| u16::try_from(w).map_err(|_| Unfit::new("column held wall names no wall")));
    let places = held.into_iter().zip(walls).map(|(c, w)| Ok((c, w?)));
    fresh.solid.borne.held = places.zip(force).map(|(p, f)| Ok((p?, f))).collect::<Result<_, Unfit>>()?;
    fresh.solid.gravity = vectors("solid gravity", 1)?[0];
    fresh.solid.claims = triples("claims")?.into_iter().collect();
    fresh.solid.claimed = saved.f64s_of("claimed", 1)?[0];
    let account = saved.u64s_of("solid account", 4)?;
    (fresh.solid.frozen, fresh.solid.thawed) = (account[0], account[1]);
    (fresh.solid.steps, fresh.solid.since) = (account[2] as u32, f64::from_bits(account[3]));
    if let Some(before) = fresh.grid.set(bricks) {
        fresh.flow.follow(&before);
        fresh.solid.follow(&before);
    }
    if fresh.grid.len() != count + 1 {
        return Err(Unfit::new("column bricks names a brick twice"));
    }
    for (name, field) in [("pressure", &mut fresh.flow.pressure), ("lift", &mut fresh.flow.lift)] {
        *field = rows(&saved.f64s_of(name, count * ROWS * 8)?);
    }
    for (name, field) in STRESS.iter().zip(&mut fresh.flow.stress) {
        let numbers = saved.f32s(name)?;
        of_length(name, numbers.len(), count * ROWS * 8)?;
        *field = rows(&numbers);
    }
    let rested = saved.f32s("solid rest")?;
    if !rested.is_empty() {
        of_length("solid rest", rested.len(), count * ROWS * 8)?;
        fresh.solid.rest = rows(&rested);
    }
    *liquid = fresh;
    Ok(())
}

/// A field from the numbers of all bricks but nowhere.
fn rows<T: Copy + Default>(numbers: &[T]) -> Vec<[T; 8]> {
    let nowhere = std::iter::repeat_n([T::default(); 8], ROWS);
    nowhere.chain(numbers.chunks_exact(8).map(|c| std::array::from_fn(|k| c[k]))).collect()
}
