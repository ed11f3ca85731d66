//! Golden vectors, properties and theorems of the crate `polling`.

mod chance;
mod crossings;
mod golden_models;
mod golden_online;
mod golden_sia;
mod golden_steps;
mod hints;
mod properties;
mod specs;
mod table_two;
mod vectors;
