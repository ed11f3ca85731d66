//! Reading entries, read marks and search.

mod articles;
mod entries;
mod icons;
mod list;
mod search;
mod search_parity;
mod undo;
