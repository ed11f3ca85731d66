//! The query language: text to statements and back, with faults that name their position.
//!
//! Input: the text of a file or of a search field. Output: statements, or faults. The [`Catalog`]
//! also checks statements against the queries that exist. This module does not match entries.

pub(crate) mod ast;
mod catalog;
mod fault;
mod lexer;
mod mask;
pub(crate) mod parser;
mod pattern;
mod position;
pub(crate) mod rule;
pub(crate) mod show;
mod suggest;

pub use catalog::{Catalog, Effect};
pub use fault::Fault;
pub use mask::masked;
pub use parser::{label_name, parse, parse_create, parse_rule};
pub use pattern::RegexPattern;
pub use position::Position;
pub use rule::{Rule, RuleAction, rule_text};
pub use suggest::meant_name;
