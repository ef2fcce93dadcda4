//! Tests that look inside: operators and bits.

mod bits;
mod guards;
mod operators;
