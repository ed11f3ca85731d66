//! `[recording]`: whether the daemon records all polls, and whether it publishes the figures.

use serde::Deserialize;

use super::source::ConfigSource;
use crate::args::recording::size;
use crate::error::CliError;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordingTable {
    continuous: Option<bool>,
    publish: Option<bool>,
    max_size: Option<String>,
    max_feed_size: Option<String>,
}

/// The settings of recordings by the daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordingSettings {
    /// Every poll is recorded with its messages and documents, without an end.
    pub continuous: bool,
    /// Strangers may see the figures of public feeds, and an export of each month.
    pub publish: bool,
    pub bytes_max: Option<u64>,
    pub feed_bytes_max: Option<u64>,
}

impl RecordingTable {
    pub fn settings(&self, source: &ConfigSource) -> Result<RecordingSettings, CliError> {
        let read = |key, text: &Option<String>| {
            let bytes = text.as_deref().map(size).transpose();
            bytes.map_err(|reason| source.fault("recording", key, reason))
        };
        Ok(RecordingSettings {
            continuous: self.continuous.unwrap_or(false),
            publish: self.publish.unwrap_or(false),
            bytes_max: read("max_size", &self.max_size)?,
            feed_bytes_max: read("max_feed_size", &self.max_feed_size)?,
        })
    }
}
