//! How far the pressure problem is solved.

use super::scene::*;
use crate::Alone;
use crate::press::Load;
use crate::solve::Limits;
use glam::DVec3;

/// Iterations of each of so many steps, and the largest residual of a step's last pressure solve.
fn watched(a: &mut Alone, steps: usize) -> (Vec<usize>, f64) {
    let (mut iterations, mut residual) = (Vec::new(), 0f64);
    for _ in 0..steps {
        a.step().unwrap();
        iterations.push(a.report().press_iterations);
        residual = residual.max(a.report().press.residual);
    }
    (iterations, residual)
}

fn heap() -> Alone {
    let s = settings([96.0, 8.0, 48.0], [false, true, false]);
    let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1), plane(DVec3::ZERO, DVec3::X, 1)]);
    a.fill([[0, 0, 0], [32, 8, 32]], |_| true, |_| DVec3::ZERO).unwrap();
    a
}

/// A column eight cells wide between two walls of that friction.
fn column(depth: f64, wall: u16) -> Alone {
    let s = settings([8.0, 8.0, depth + 8.0], [false, true, false]);
    let walls = vec![
        plane(DVec3::ZERO, DVec3::Z, 1),
        plane(DVec3::ZERO, DVec3::X, wall),
        plane(DVec3::X * 8.0, -DVec3::X, wall),
    ];
    let mut a = world(s, walls);
    a.fill([[0, 0, 0], [8, 8, depth as i32]], |_| true, |_| DVec3::ZERO).unwrap();
    a
}

#[test]
fn a_column_of_a_hundred_cells_is_solved_at_once() {
    for wall in [1, 2] {
        let (iterations, residual) = watched(&mut column(100.0, wall), 20);
        assert!(residual <= 3e-4, "wall {wall}: residual {residual:e}");
        assert!(*iterations.iter().max().unwrap() <= 20, "wall {wall}: iterations of three solves {iterations:?}");
    }
}

#[test]
fn a_smooth_upright_wall_carries_no_weight() {
    // What a face beside the wall does not take of the pressure below it, it does not take of that above it either.
    let mut a = column(32.0, 2);
    a.step().unwrap();
    let weight = a.len() as f64 / 8.0 * a.settings().bulk();
    for w in [1, 2] {
        let force = a.boundary.states()[w].force;
        assert!(force.z.abs() < 2e-3 * weight, "wall {w} carries {} of {weight}", force.z);
        assert!(force.x.abs() > 0.1 * weight, "wall {w} is pressed on by {}", force.x);
    }
}

#[test]
fn a_collapsing_heap_is_solved_in_few_iterations() {
    let (iterations, residual) = watched(&mut heap(), 60);
    let mean = iterations.iter().sum::<usize>() as f64 / iterations.len() as f64;
    assert!(residual <= 3e-4, "residual {residual:e}");
    assert!(mean < 30.0, "{mean} iterations in the three solves of a step");
}

#[test]
fn the_cycle_through_coarser_grids_finds_what_the_plain_solver_finds() {
    let mut a = heap();
    (0..10).for_each(|_| a.step().unwrap());
    let l = &mut a.liquid;
    let mut solved = |error: f64| {
        let limits = Limits { tolerance: 1e-12, error, iterations: 5000 };
        let (filling, gravity) = ([&l.flow.carried.mass[..], &l.fractions.capacity[..]], l.settings.gravity);
        let load = Load { flux: &l.flux, tension: 0.0, filling, gravity, cell: 1.0 };
        let mut field = Vec::new();
        let outcome = l.problem.solve(&l.grid, limits, Some(load), &mut field);
        assert!(outcome.residual <= 1e-12, "residual {:e}", outcome.residual);
        (field, outcome.iterations)
    };
    let ((deep, few), (plain, many)) = (solved(1.0), solved(f64::INFINITY));
    let most = plain.iter().flatten().fold(0.0, |m: f64, p| m.max(*p));
    let off = deep.iter().flatten().zip(plain.iter().flatten()).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    assert!(most > 5.0 && off < 1e-8 * most, "they differ by {off:e} of {most}");
    assert!(3 * few < many, "{few} iterations against {many}");
}
