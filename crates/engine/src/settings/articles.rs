//! Settings for the pages behind entries, and for what is found out about entries.

use std::sync::Arc;
use std::time::Duration;

use article::topic::{DEFAULT_TOPIC_TABLE, TopicTable};
use feed::ArticleMode;

/// Pages of one domain on one day: more than the largest news site publishes.
const PER_DOMAIN: u32 = 500;
/// Pages of all domains on one day.
const PER_DAY: u32 = 20_000;
/// Most pages arrive within a minute. Gaps and a second try fit into an hour.
const WAIT: Duration = Duration::from_secs(3600);

/// Settings for articles.
#[derive(Clone, Debug)]
pub struct ArticlesSettings {
    /// When pages are fetched, for feeds without a setting of their own or by a tag.
    pub mode: ArticleMode,
    /// Pages that are fetched without being asked: of one registrable domain, and of all, a day.
    pub per_domain_max: u32,
    pub per_day_max: u32,
    /// Queries that use the article decide without it after this time.
    pub wait: Duration,
    /// Articles older than this are deleted; `None`: they stay as long as their entry.
    pub age_max: Option<Duration>,
    /// Also keep the pages as they came.
    pub keep_html: bool,
    /// The language of entries about which nothing is known.
    pub default_language: Option<String>,
    /// The words that mean a topic.
    pub topics: Arc<TopicTable>,
    /// Whether icons of sites are fetched.
    pub icons: bool,
}

impl Default for ArticlesSettings {
    fn default() -> ArticlesSettings {
        ArticlesSettings {
            mode: ArticleMode::Never,
            per_domain_max: PER_DOMAIN,
            per_day_max: PER_DAY,
            wait: WAIT,
            age_max: None,
            keep_html: false,
            default_language: None,
            // A test of `article` reads the table.
            topics: Arc::new(TopicTable::parse(DEFAULT_TOPIC_TABLE).unwrap_or_default()),
            icons: false,
        }
    }
}
