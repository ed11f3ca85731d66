//! Reading entries, read marks and search.

mod entries;
mod list;
mod search;
mod search_parity;
mod undo;
