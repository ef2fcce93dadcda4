//! Measurements of contact forces, against a stack whose forces can be counted.

use crate::common;

use common::{BOX, world};

/// Four balls on top of each other: contacts bear the weight of 1, 2 and 3 of them, the floor that of 4.
const STACK: &str = r#"
[[grains]]
material = "beads"
radius = "1 mm"
at = [[0.02, 0.02, 0.001], [0.02, 0.02, 0.003], [0.02, 0.02, 0.005], [0.02, 0.02, 0.007]]
[[measure]]
force_network = {}
every = "10 ms"
[[measure]]
name = "upper"
force_network = { within = { box = { min = [0, 0, 0.003], max = [0.04, 0.04, 0.01] } } }
every = "10 ms"
[[measure]]
force_correlation = { bins = 4, reach = 3.2 }
every = "10 ms"
[[measure]]
contact_angles = { bins = 3 }
every = "10 ms"
[[measure]]
name = "sideways"
contact_angles = { bins = 3, axis = [1, 0, 0] }
every = "10 ms"
"#;

#[test]
fn a_stack_of_balls_has_the_forces_of_its_weight() {
    let mut world = world(&[BOX, STACK]);
    let mut last = vec![vec![]; 5];
    while world.time() < 0.05 {
        world.step().unwrap();
        world.rows().iter().for_each(|r| last[r.measurement] = r.values.clone());
    }
    let weight = world.frame().grains().mass[0] * 9.81;
    let near = |row: &[f64], expected: &[f64]| {
        assert_eq!(row.len(), expected.len());
        for (a, b) in row.iter().zip(expected) {
            assert!((a - b).abs() <= 0.02 * b.abs() + 1e-9, "{row:?} for {expected:?}");
        }
    };
    // A middle contact counts half among the stronger half: (3 + 2/2) of 6.
    near(&last[0][1..], &[3.0, 2.0 * weight, 3.0 * weight, 1.0 / 3.0, 0.5, 4.0 / 6.0]);
    near(&last[1][1..], &[2.0, 1.5 * weight, 2.0 * weight, 0.5, 2.0 / 3.0, 2.0 / 3.0]);
    // Spheres bear 7, 5, 3 and 1 weights, 4 on the average: neighbours at 1, 2 and 3 diameters.
    near(&last[2][1..3], &[4.0, 0.002]);
    let f = |pairs: &[f64]| pairs.iter().sum::<f64>() / pairs.len() as f64 / 16.0;
    // Overlaps bring the third neighbour a little below 3 diameters, still beyond 2.4.
    near(&last[2][3..], &[0.0, f(&[35.0, 15.0, 3.0]), f(&[21.0, 5.0]), f(&[7.0])]);
    let one = 1.0 / 30.0;
    near(&last[3][1..], &[3.0, 0.0, one, 0.0, 0.0, one, 0.0, 0.0, 0.0, 0.0, 0.0]);
    near(&last[4][1..], &[3.0, 0.0, 0.0, 0.0, one, 0.0, 0.0, one, 0.0, 0.0, 0.0]);
}
