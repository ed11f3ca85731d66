//! Counts of opened entries, the popularity of feeds, and the rows behind suggestions.
//!
//! `opened` counts the entries that an account opens, and `person` reads these counts. `popularity`
//! and `neighbours` keep figures over all people who want to be counted. `sites` has the sites of
//! feeds and those that entries link to. `dismissed` has what an account does not want to see.
//!
//! Nothing here decides what is suggested, and no figure names a person. Feeds with secrets are
//! never counted.

pub(crate) mod counted;
mod dismissed;
pub(crate) mod neighbours;
pub(crate) mod opened;
pub(crate) mod person;
pub(crate) mod popularity;
pub(crate) mod sites;
