//! Experiments, published tables and reports.

mod definitions;
mod reports;
mod shapes;
mod table_two;
