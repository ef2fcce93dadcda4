//! Tests of the three-phase solver against closed forms.

mod bodies;
mod convergence;
mod gas;
mod liquid;
mod resample;
mod sameness;
mod scene;
mod shown;
mod solid;
mod surface;
