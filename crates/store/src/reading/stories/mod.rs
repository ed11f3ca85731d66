//! Stories: entries of several feeds that tell the same. The engine finds them behind the polls.
//! The store keeps them and folds them in lists. It does not decide which entries belong together.

pub(crate) mod find;
pub(crate) mod fold;
pub(crate) mod linked;
pub(crate) mod together;
