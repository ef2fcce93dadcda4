//! The contact law as WGSL, recorded from the processor's.
//!
//! [`barchan_core::contact::react`] has no branches over lanes, so a lane type that writes down each operation in place of doing it turns
//! the law into straight-line code. There is one source of the law; a new one needs no line here. Both sides do the same IEEE operations in the
//! same order, but WGSL lets a driver fuse a·b + c and divide to 2.5 ulp.

use barchan_core::contact::{ContactLaw, Encounter, Memory, react};
use barchan_core::simd::{Lanes, Mask, Vec3};
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Names of the numbers that go into the law, in the order of the fields of [`Encounter`] and [`Memory`], the step last.
const INPUTS: [&str; 12] = [
    "normal: vec3<f32>",
    "overlap: f32",
    "velocity: vec3<f32>",
    "spin: vec3<f32>",
    "radius: f32",
    "mass: f32",
    "row0: vec4<f32>",
    "row1: vec4<f32>",
    "slide: vec4<f32>",
    "roll: vec4<f32>",
    "dt: f32",
    "touching: bool",
];

thread_local! {
    /// Operations recorded so far; `v3` is the result of the fourth. `Lanes` are `Copy` and made from nothing (`splat`), so they cannot
    /// carry it.
    static TAPE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn record(expression: String) -> u32 {
    TAPE.with_borrow_mut(|tape| {
        tape.push(expression);
        tape.len() as u32 - 1
    })
}

/// The result of a recorded operation: an f32 of the shader.
#[derive(Clone, Copy)]
struct Number(u32);

/// The result of a recorded comparison: a bool of the shader.
#[derive(Clone, Copy)]
struct Truth(u32);

impl Mask for Truth {
    fn and(self, other: Truth) -> Truth {
        Truth(record(format!("v{} && v{}", self.0, other.0)))
    }
    fn bits(self) -> u32 {
        unreachable!("the law does not ask which lanes are true")
    }
}

macro_rules! operator {
    ($name:ident, $function:ident, $sign:literal) => {
        impl $name for Number {
            type Output = Number;
            fn $function(self, other: Number) -> Number {
                Number(record(format!(concat!("v{} ", $sign, " v{}"), self.0, other.0)))
            }
        }
    };
}
operator!(Add, add, "+");
operator!(Sub, sub, "-");
operator!(Mul, mul, "*");
operator!(Div, div, "/");

impl Neg for Number {
    type Output = Number;
    fn neg(self) -> Number {
        Number(record(format!("-v{}", self.0)))
    }
}

impl Lanes for Number {
    type Scalar = f32;
    type Mask = Truth;
    fn splat(x: f32) -> Number {
        // By its bits: no decimal in between.
        Number(record(format!("bitcast<f32>({}u)", x.to_bits())))
    }
    fn sqrt(self) -> Number {
        Number(record(format!("sqrt(v{})", self.0)))
    }
    fn max(self, other: Number) -> Number {
        Number(record(format!("max(v{}, v{})", self.0, other.0)))
    }
    fn min(self, other: Number) -> Number {
        Number(record(format!("min(v{}, v{})", self.0, other.0)))
    }
    fn gt(self, other: Number) -> Truth {
        Truth(record(format!("v{} > v{}", self.0, other.0)))
    }
    fn select(self, mask: Truth, other: Number) -> Number {
        Number(record(format!("select(v{}, v{}, v{})", other.0, self.0, mask.0)))
    }
    fn keep(self, mask: Truth) -> Number {
        Number(record(format!("select(0.0, v{}, v{})", self.0, mask.0)))
    }
}

fn number(name: &str) -> Number {
    Number(record(name.into()))
}

fn vector(name: &str) -> Vec3<Number> {
    Vec3(number(&format!("{name}.x")), number(&format!("{name}.y")), number(&format!("{name}.z")))
}

/// WGSL of a law: `struct Reaction` and `fn react(…) -> Reaction`, for other shaders to call.
///
/// `slide.w` is the tangential stiffness last seen, `roll.w` the twisting angle. The reaction holds the normal force with the traction
/// (`traction.w`), the elastic energy with the couple (`couple.w`), and the memory after the step.
pub fn wgsl(law: &ContactLaw, resists: bool) -> String {
    TAPE.with_borrow_mut(Vec::clear);
    let row = ["row0", "row1"].map(|r| ["x", "y", "z", "w"].map(|k| number(&format!("{r}.{k}"))));
    let spin = vector("spin");
    let encounter = Encounter {
        normal: vector("normal"),
        overlap: number("overlap"),
        velocity: vector("velocity"),
        spin,
        // Rolling against a grain's own spin is refused.
        own_spin: spin,
        radius: number("radius"),
        mass: number("mass"),
        row: std::array::from_fn(|k| row[k / 4][k % 4]),
        touching: Truth(record("touching".into())),
    };
    let mut memory =
        Memory { slide: vector("slide"), stiffness: number("slide.w"), roll: vector("roll"), twist: number("roll.w") };
    let r = react(law, resists, &encounter, &mut memory, number("dt"));
    let four = |v: Vec3<Number>, w: Number| format!("vec4<f32>(v{}, v{}, v{}, v{})", v.0.0, v.1.0, v.2.0, w.0);
    let out = [
        four(r.traction, r.press),
        four(r.couple, r.energy),
        four(memory.slide, memory.stiffness),
        four(memory.roll, memory.twist),
    ];
    let body = TAPE.with_borrow(|tape| {
        let lines = tape.iter().enumerate().map(|(k, line)| format!("    let v{k} = {line};\n"));
        lines.collect::<String>()
    });
    format!(
        "struct Reaction {{ traction: vec4<f32>, couple: vec4<f32>, slide: vec4<f32>, roll: vec4<f32> }};\n\
         fn react({}) -> Reaction {{\n{body}    return Reaction({});\n}}\n",
        INPUTS.join(", "),
        out.join(", ")
    )
}
