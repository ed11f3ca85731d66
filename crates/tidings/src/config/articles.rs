//! `[articles]`: the pages behind entries, and what is found out about entries.

use std::path::PathBuf;
use std::sync::Arc;

use article::topic::{DEFAULT_TOPIC_TABLE, TopicTable};
use engine::ArticlesSettings;
use feed::ArticleMode;
use serde::Deserialize;

use super::DurationText;
use super::source::ConfigSource;
use crate::error::CliError;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArticlesTable {
    fetch: Option<String>,
    per_domain: Option<u32>,
    per_day: Option<u32>,
    wait: Option<DurationText>,
    age: Option<DurationText>,
    keep_html: Option<bool>,
    default_language: Option<String>,
    topics: Option<PathBuf>,
    icons: Option<bool>,
}

/// Returns the settings of the table. Icons are fetched unless the operator says no.
pub fn settings(table: ArticlesTable, source: &ConfigSource) -> Result<ArticlesSettings, CliError> {
    let fault = |key: &str, reason: String| source.fault("articles", key, reason);
    let mut settings = ArticlesSettings { icons: true, ..ArticlesSettings::default() };
    if let Some(word) = table.fetch {
        settings.mode = ArticleMode::from_word(&word).ok_or_else(|| {
            fault("fetch", format!("`{word}` is not `never`, `opened` or `every`"))
        })?;
    }
    settings.per_domain_max = table.per_domain.unwrap_or(settings.per_domain_max);
    settings.per_day_max = table.per_day.unwrap_or(settings.per_day_max);
    settings.wait = table.wait.map_or(settings.wait, |wait| wait.0);
    settings.age_max = table.age.map(|age| age.0);
    settings.keep_html = table.keep_html.unwrap_or(false);
    settings.icons = table.icons.unwrap_or(true);
    if let Some(language) = table.default_language {
        let tag = article::language::language_tag(&language);
        let tag = tag.ok_or_else(|| {
            fault("default_language", format!("`{language}` is not a language such as `de`"))
        })?;
        settings.default_language = Some(tag);
    }
    if let Some(path) = table.topics {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| fault("topics", format!("{}: {error}", path.display())))?;
        // The table of the operator comes first; a word that it lacks keeps its usual topic.
        let own = TopicTable::parse(&text)
            .map_err(|error| fault("topics", format!("{}: {error}", path.display())))?;
        let usual = TopicTable::parse(DEFAULT_TOPIC_TABLE).unwrap_or_default();
        settings.topics = Arc::new(own.over(usual));
    }
    Ok(settings)
}
