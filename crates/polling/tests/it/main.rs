//! Golden vectors, properties and theorems of the crate `polling`.

mod budget;
mod extremes;
mod golden;
mod policy;
mod properties;
mod reference;
mod support;
mod tide;
