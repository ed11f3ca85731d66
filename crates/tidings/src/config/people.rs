//! `[people]`: the accounts of an instance.

use engine::{PeopleSettings, WeightRule};
use serde::Deserialize;

use super::DurationText;
use super::source::ConfigSource;
use crate::error::CliError;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeopleTable {
    weights: Option<String>,
    keep_unwanted: Option<DurationText>,
    suggestions: Option<bool>,
}

pub fn settings(table: PeopleTable, source: &ConfigSource) -> Result<PeopleSettings, CliError> {
    let mut settings = PeopleSettings::default();
    if let Some(word) = table.weights {
        settings.weights = WeightRule::from_word(&word).ok_or_else(|| {
            let reason = format!("`{word}` is not `readers` or `equal`");
            source.fault("people", "weights", reason)
        })?;
    }
    settings.keep_unwanted = table.keep_unwanted.map_or(settings.keep_unwanted, |time| time.0);
    settings.suggestions = table.suggestions.unwrap_or(settings.suggestions);
    Ok(settings)
}
