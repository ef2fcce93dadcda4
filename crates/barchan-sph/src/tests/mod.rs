//! Tests that look inside: operators and bits.

mod bits;
mod operators;
