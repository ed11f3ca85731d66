//! Looks for feeds that are subscribed twice: in two formats, or at two addresses.

use store::Store;

use super::DoctorCheck;
use crate::command::dataset::population::{self, OwnDuplicates};
use crate::error::CliError;

/// Pairs that are named. More would hide the other checks.
const NAMED_MAX: usize = 10;

/// Proposes feeds to remove; nothing is merged.
pub fn check(store: &Store) -> Result<Vec<DoctorCheck>, CliError> {
    let OwnDuplicates { feeds, pairs: found } = population::own(store)?;
    if found.is_empty() {
        let says = "no feed is subscribed twice".to_owned();
        return Ok(vec![DoctorCheck::good("duplicates", says)]);
    }
    let named = found.iter().take(NAMED_MAX).map(|pair| {
        let ((id, url), (kept, kept_url)) = (&feeds[pair.superfluous], &feeds[pair.kept]);
        let says = format!("feed {id} ({url}) {}: feed {kept} ({kept_url})", pair.why);
        let remedy = format!("look at both; to keep one only: tidings feed remove {id}");
        DoctorCheck::advice("duplicates", says, remedy)
    });
    let mut checks: Vec<DoctorCheck> = named.collect();
    if found.len() > NAMED_MAX {
        let more = found.len() - NAMED_MAX;
        let remedy = "remove some of these, then run `tidings doctor` again".to_owned();
        checks.push(DoctorCheck::advice("duplicates", format!("{more} more pairs"), remedy));
    }
    Ok(checks)
}
