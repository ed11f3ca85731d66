//! When the pages behind the entries of a feed are fetched.

use serde::{Deserialize, Serialize};

/// When the page behind an entry is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ArticleMode {
    /// Only if somebody asks for it.
    #[default]
    Never,
    /// When somebody opens the entry.
    Opened,
    /// For every new entry.
    Every,
}

impl ArticleMode {
    pub const ALL: [ArticleMode; 3] = [ArticleMode::Never, ArticleMode::Opened, ArticleMode::Every];

    pub const fn word(self) -> &'static str {
        match self {
            ArticleMode::Never => "never",
            ArticleMode::Opened => "opened",
            ArticleMode::Every => "every",
        }
    }

    pub fn from_word(word: &str) -> Option<ArticleMode> {
        ArticleMode::ALL.into_iter().find(|mode| mode.word() == word)
    }
}
