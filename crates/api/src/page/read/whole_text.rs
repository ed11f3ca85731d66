//! The page behind an entry on our page: the switch between the feed's text and the article, the
//! button that loads it, and its state in words.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use feed::{ArticleMode, EntryId, FeedId};
use store::{ArticleRow, ArticleState, ArticleText, Store, StoreError};

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::http::paths::local_target;
use crate::page::frame::WriteForm;
use crate::page::notice::{no_entry, store_error};
use crate::reading_time::n_words;
use crate::words::{LocalNow, relative, sentence};

/// The text that a reader wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextChoice {
    Feed,
    Article,
}

impl TextChoice {
    pub const fn word(self) -> &'static str {
        match self {
            TextChoice::Feed => "feed",
            TextChoice::Article => "article",
        }
    }

    pub fn from_word(word: &str) -> Option<TextChoice> {
        [TextChoice::Feed, TextChoice::Article].into_iter().find(|choice| choice.word() == word)
    }
}

/// The page behind an entry, as the store has it.
pub struct StoredPage {
    pub row: Option<ArticleRow>,
    pub state: ArticleState,
}

impl StoredPage {
    pub fn read(store: &Store, entry: EntryId) -> Result<StoredPage, StoreError> {
        Ok(StoredPage { row: store.article(entry)?, state: store.article_state(entry)? })
    }

    pub fn text(&self) -> Option<&ArticleText> {
        self.row.as_ref().and_then(|row| row.content.as_ref().ok())
    }

    /// Returns the text to show: the choice, or the longer one. Consent walls and paywalls give
    /// short pages.
    pub fn chosen(
        &self,
        choice: Option<TextChoice>,
        feed_text: impl FnOnce() -> String,
    ) -> TextChoice {
        match (self.text(), choice) {
            (None, _) => TextChoice::Feed,
            (Some(_), Some(choice)) => choice,
            (Some(article), None) if n_words(&article.text) > n_words(&feed_text()) => {
                TextChoice::Article
            }
            (Some(_), None) => TextChoice::Feed,
        }
    }
}

/// The state of the whole text, as the page shows it.
pub struct WholeText {
    /// The text that is shown.
    pub shown: TextChoice,
    /// Whether the article is there, so that one can switch.
    pub is_there: bool,
    /// The state in a sentence.
    pub says: Option<String>,
    pub is_waiting: bool,
    /// The words of the button. `None`: the entry has no link.
    pub button: Option<&'static str>,
}

impl WholeText {
    pub fn new(page: &StoredPage, shown: TextChoice, has_link: bool, now: LocalNow) -> WholeText {
        let (says, button) = match &page.state {
            ArticleState::NotAsked => (None, "Load the whole text"),
            ArticleState::Waiting(waiting) => {
                let asked = relative(waiting.asked_at, now.at);
                let next = waiting.next_at.filter(|at| *at > now.at);
                let then = match (&waiting.error, next) {
                    (Some(error), Some(next)) => {
                        format!("{} The next try is {}.", sentence(error), relative(next, now.at))
                    }
                    _ => {
                        "The site gets one request at a time, so this can take a minute.".to_owned()
                    }
                };
                (Some(format!("The whole text was asked for {asked}. {then}")), "Ask again now")
            }
            ArticleState::There { .. } => (None, "Load again"),
            ArticleState::Nothing { reason } => {
                let reason = sentence(reason);
                (Some(format!("The whole text could not be loaded. {reason}")), "Try again")
            }
        };
        WholeText {
            shown,
            is_there: page.text().is_some(),
            is_waiting: matches!(page.state, ArticleState::Waiting(_)),
            says,
            button: has_link.then_some(button),
        }
    }

    pub fn is_article(&self) -> bool {
        self.shown == TextChoice::Article
    }
}

/// Returns when the pages of a feed are fetched: its own setting, else that of its tags.
pub fn article_mode(store: &Store, feed: FeedId) -> Result<Option<ArticleMode>, StoreError> {
    let row = match store.feed(feed) {
        Err(StoreError::NoFeed(_)) => return Ok(Some(ArticleMode::Never)),
        row => row?,
    };
    if let Some(mode) = row.settings.article.mode {
        return Ok(Some(mode));
    }
    // The first tag by name counts, as for the engine; people may order their tags otherwise.
    let tags = store.tags()?.into_iter().filter(|tag| row.tags.contains(&tag.tag));
    let modes = tags.filter_map(|tag| Some((tag.tag, tag.settings.article.mode?)));
    Ok(modes.min_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, mode)| mode))
}

/// Asks for the page behind an entry and redirects to the entry.
pub async fn load(
    State(context): State<ServerContext>,
    Path(id): Path<String>,
    sent: WriteForm,
) -> Response {
    let Ok(number) = id.parse() else {
        return no_entry(&context, sent.visitor, id);
    };
    let (store, now) = (context.store.clone(), (context.now)());
    let back = local_target(sent.form.text("back"));
    let account = sent.visitor.account();
    let asked = run_blocking(move || {
        let id = EntryId(number);
        let visible = store.visible_entries(account, &[id])?;
        Ok(visible.contains(&id) && store.request_article_for(account, id, now)?)
    });
    match asked.await {
        Ok(true) => Redirect::to(&back).into_response(),
        Ok(false) => no_entry(&context, sent.visitor, number),
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}
