//! Golden vectors, properties and theorems of the crate `polling`.

mod chance;
mod crossings;
mod cycles;
mod explained;
mod golden_advarss;
mod golden_models;
mod golden_online;
mod golden_sia;
mod golden_steps;
mod hints;
mod offered;
mod properties;
mod properties_budget;
mod properties_learned;
mod reference;
mod reference_steps;
mod running;
mod specs;
mod table_two;
mod tide;
mod tide_budget;
mod tide_steady;
mod upgrade;
mod vectors;
