//! `[notifications]`: whether browsers are notified, and which push services may be reached.

use engine::PushSender;
use fetch::Fetcher;
use serde::Deserialize;

use super::Config;
use crate::error::CliError;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotificationsTable {
    enabled: Option<bool>,
    allow_private: Option<bool>,
}

/// The settings of notifications.
#[derive(Clone, Debug)]
pub struct NotificationsSettings {
    pub enabled: bool,
    /// Push services at private addresses may be reached.
    pub allow_private: bool,
    /// The contact that push services learn.
    pub contact: String,
}

pub fn settings(table: &NotificationsTable, contact: &str) -> NotificationsSettings {
    NotificationsSettings {
        enabled: table.enabled.unwrap_or(true),
        allow_private: table.allow_private.unwrap_or(false),
        contact: contact.to_owned(),
    }
}

impl Config {
    /// Returns the sender of notifications; `None` if they are switched off. People name the push
    /// services, so `allow_private` for feeds does not count here.
    pub fn push_sender(&self) -> Result<Option<PushSender>, CliError> {
        let settings = &self.notifications;
        if !settings.enabled {
            return Ok(None);
        }
        let allow_private = settings.allow_private;
        let fetch = fetch::Settings { allow_private, keep_heads: false, ..self.fetch.clone() };
        let contact = settings.contact.clone();
        Ok(Some(PushSender { fetcher: Fetcher::new(fetch)?, contact }))
    }
}
