//! The page of the visitor's tags: their order, other names, tags that become one. Everything can
//! be undone.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::{BulkCommand, Command};
use store::{AccountId, NumberedTag, QUERY_TAG, Store, StoreError};

use super::feeds::{UndoOffer, tag_href};
use super::frame::{Frame, NavSection, Visitor, WriteForm};
use super::notice::{not_found, render, run_command, store_error};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::words::plural;

pub const PATH: &str = "/tags";

#[derive(Template)]
#[template(path = "tags.html")]
struct TagsPage {
    frame: Frame,
    lines: Vec<TagLine>,
    /// The last changes, newest first. Only the first can be undone.
    changes: Vec<UndoOffer>,
}

struct TagLine {
    tag: String,
    href: String,
    feeds: String,
    is_first: bool,
    is_last: bool,
}

pub async fn list(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let (store, account, now) = (context.store.clone(), visitor.account(), visitor.now(&context));
    let found =
        run_blocking(move || Ok((tags(&store, account)?, store.bulk_changes(account, now.at)?)));
    match found.await {
        Ok((tags, changes)) => {
            let n_tags = tags.len();
            let line = |(place, tag): (usize, NumberedTag)| TagLine {
                href: tag_href(tag.tag.clone()),
                feeds: plural(tag.n_feeds, "feed", "feeds"),
                tag: tag.tag,
                is_first: place == 0,
                is_last: place + 1 == n_tags,
            };
            render(&TagsPage {
                frame: Frame::new(&context, visitor, Some(NavSection::Feeds)),
                lines: tags.into_iter().enumerate().map(line).collect(),
                changes: changes.iter().map(|row| UndoOffer::new(row, now)).collect(),
            })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Returns the tags that people gave, in their order.
fn tags(store: &Store, account: AccountId) -> Result<Vec<NumberedTag>, StoreError> {
    let mut tags = store.tags_of(account)?;
    tags.retain(|tag| tag.number != NumberedTag::UNTAGGED && !tag.tag.starts_with(QUERY_TAG));
    Ok(tags)
}

/// Renames or removes a tag, or moves it one place up or down.
pub async fn change(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let WriteForm { visitor, form } = sent;
    let tag = form.text("tag").to_owned();
    let wish = match form.text("act") {
        "rename" => BulkCommand::RenameTag { tag, to: Some(form.text("name").to_owned()) },
        "remove" => BulkCommand::RenameTag { tag, to: None },
        act @ ("up" | "down") => {
            let (store, account) = (context.store.clone(), visitor.account());
            let tags = match run_blocking(move || tags(&store, account)).await {
                Ok(tags) => tags.into_iter().map(|tag| tag.tag).collect(),
                Err(error) => return store_error(&context, visitor, &error),
            };
            BulkCommand::OrderTags { tags: moved(tags, &tag, act == "up") }
        }
        _ => return not_found(&context, visitor, "The action does not exist.".to_owned()),
    };
    carry_out(&context, &visitor, wish).await
}

/// Sets the whole order: the script sends it after a tag was dragged.
pub async fn order(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let tags = sent.form.all("item").map(str::to_owned).collect();
    let done = carry_out(&context, &sent.visitor, BulkCommand::OrderTags { tags }).await;
    match sent.form.has("part") && done.status().is_redirection() {
        true => StatusCode::NO_CONTENT.into_response(),
        false => done,
    }
}

async fn carry_out(context: &ServerContext, visitor: &Visitor, wish: BulkCommand) -> Response {
    let command = Command::Bulk { wish, account: visitor.subscriber(), everyone: false };
    match run_command(context, visitor, command).await {
        Ok(_) => Redirect::to(PATH).into_response(),
        Err(refused) => refused,
    }
}

/// Returns the tags with one of them a place further up or down.
fn moved(mut tags: Vec<String>, tag: &str, up: bool) -> Vec<String> {
    if let Some(place) = tags.iter().position(|known| known == tag) {
        let to = if up { place.saturating_sub(1) } else { (place + 1).min(tags.len() - 1) };
        tags.swap(place, to);
    }
    tags
}
