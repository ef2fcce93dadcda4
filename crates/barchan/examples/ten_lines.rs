//! Runs a scene of the gallery from ten lines of Rust: `cargo run --release --example ten_lines`.

use barchan::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = load("hourglass")?;
    let mut world = assemble(&scene)?;
    while world.time() < 0.1 {
        world.step()?;
    }
    let lowest = world.frame().grains().position.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    println!("after {:.3} s the lowest of {} grains is at z = {lowest:.4} m", world.time(), world.pieces());
    Ok(())
}
