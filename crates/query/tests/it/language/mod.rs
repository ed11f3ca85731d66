//! The language: statements, faults, the catalog, and the examples of the manual.

mod catalog;
mod documentation;
mod faults;
mod rules;
mod statements;
