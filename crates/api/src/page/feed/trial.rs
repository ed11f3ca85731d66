//! The trial of a CSS selector: what it finds in the page behind the newest entry of a feed. It
//! becomes a setting only by a second press.

use askama::Template;
use axum::response::Response;
use dispatch::command::{Command, CommandResult};
use feed::FeedId;
use store::{EntryFilter, EntryRow, FeedRow};

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::form::SignedForm;
use crate::page::frame::{Frame, NavSection, Visitor};
use crate::page::notice::{not_found, render, run_command, store_error};
use crate::words::plural;

/// Entries among which one with a link is looked for.
const ENTRIES_MAX: u32 = 20;

#[derive(Template)]
#[template(path = "trial.html")]
struct TrialPage {
    frame: Frame,
    id: FeedId,
    title: String,
    /// The setting of the form, which the second press sends again.
    articles: String,
    selector: String,
    page: String,
    words: String,
    lines: Vec<String>,
    reason: Option<String>,
}

/// Tries the selector of a form and shows the text.
pub async fn show(
    context: &ServerContext,
    visitor: Visitor,
    row: FeedRow,
    form: &SignedForm,
) -> Response {
    let (store, feed) = (context.store.clone(), Some(row.id));
    let newest = move || store.recent_entries(None, &EntryFilter { feed, limit: ENTRIES_MAX });
    let entries = match run_blocking(newest).await {
        Ok(entries) => entries,
        Err(error) => return store_error(context, visitor, &error),
    };
    let Some(entry) = entries.iter().find(|entry| entry.link.is_some()) else {
        let text = "The feed has no entry with a link, so there is no page to try.".to_owned();
        return not_found(context, visitor, text);
    };
    let selector = form.text("selector").trim().to_owned();
    let wanted = (!selector.is_empty()).then(|| selector.clone());
    let command = Command::TryArticle { entry: entry.id.0, selector: wanted };
    let (words, text, reason) = match run_command(context, &visitor, command).await {
        Ok(CommandResult::TriedArticle { words, text, reason, .. }) => (words, text, reason),
        Ok(_) => (0, String::new(), None),
        Err(refused) => return refused,
    };
    render(&TrialPage {
        id: row.id,
        title: super::title(&row),
        articles: form.text("articles").to_owned(),
        selector,
        page: page_name(entry),
        words: plural(words, "word", "words"),
        lines: text.lines().map(str::to_owned).collect(),
        reason,
        frame: Frame::new(context, visitor, Some(NavSection::Feeds)),
    })
}

fn page_name(entry: &EntryRow) -> String {
    let title = entry.title.as_deref().map(crate::sanitise::text);
    title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| "the newest entry".to_owned())
}
