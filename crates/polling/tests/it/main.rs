//! Golden vectors, properties and theorems of the crate `polling`.

mod chance;
mod crossings;
mod golden_models;
mod golden_online;
mod golden_sia;
mod golden_steps;
mod hints;
mod properties;
mod properties_budget;
mod reference;
mod reference_steps;
mod running;
mod specs;
mod table_two;
mod upgrade;
mod vectors;
