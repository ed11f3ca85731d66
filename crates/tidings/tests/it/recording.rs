//! Discovery from long lists, recordings and data sets.

mod archive_tools;
mod discovery;
mod imported;
mod kept;
mod killed;
mod no_room;
mod played;
mod published;
mod recorded;
mod web;
