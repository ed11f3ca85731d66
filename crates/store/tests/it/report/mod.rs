//! Reports about the whole instance.

mod overview;
