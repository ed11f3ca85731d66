//! What people change on a feed: poll it now, pause it, name it, tag it, set its policy and
//! bounds, remove it. Every act is a form; removing asks once more.

use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::{Change, Command, CommandResult, Target};
use feed::FeedId;
use store::FeedRow;

use crate::Context;
use crate::blocking::run_blocking;
use crate::form::Signed;
use crate::page::feeds::tags;
use crate::page::frame::{Frame, Ordered, Section, Visitor};
use crate::page::{act, failed, no_such, notice, shown};
use crate::words::plural;

#[derive(Template)]
#[template(path = "remove.html")]
struct Remove {
    frame: Frame,
    id: FeedId,
    title: String,
    entries: String,
}

/// Carries out one act on a feed, and leads back to its page.
pub async fn change(
    State(context): State<Context>,
    Path((id, word)): Path<(String, String)>,
    ordered: Ordered,
) -> Response {
    changed(&context, &id, &word, ordered).await
}

/// Removes a feed, after somebody was asked once more.
pub async fn remove(
    State(context): State<Context>,
    Path(id): Path<String>,
    ordered: Ordered,
) -> Response {
    changed(&context, &id, "remove", ordered).await
}

async fn changed(context: &Context, id: &str, word: &str, ordered: Ordered) -> Response {
    let Ordered(visitor, form) = ordered;
    let Ok(number) = id.parse::<u32>() else { return gone(context, visitor, id) };
    let store = context.store.clone();
    let row = match run_blocking(move || store.feed(FeedId(number))).await {
        Ok(row) => row,
        Err(store::StoreError::NoFeed(_)) => return gone(context, visitor, id),
        Err(error) => return failed(context, visitor, &error),
    };
    let command = match command(word, &row, &form) {
        Ok(Some(command)) => command,
        Ok(None) => {
            return no_such(context, visitor, format!("There is no action “{word}” for a feed."));
        }
        Err(text) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return notice(context, visitor, status, "Could not change the settings", text);
        }
    };
    let to = match word {
        "remove" => Section::Feeds.path().to_owned(),
        _ => format!("/feed/{number}"),
    };
    match act(context, &visitor, command).await {
        Ok(CommandResult::Moved { queries, .. }) if !queries.is_empty() => {
            let text = format!(
                "The feed has its new address. Queries that name the old one no longer read it: \
                 {}. Write the new address there.",
                queries.join(", ")
            );
            notice(context, visitor, StatusCode::OK, "The feed was moved", text)
        }
        Ok(_) => Redirect::to(&to).into_response(),
        Err(refused) => refused,
    }
}

/// Asks once more before a feed is removed.
pub async fn ask_remove(
    State(context): State<Context>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    let Ok(number) = id.parse::<u32>() else { return gone(&context, visitor, &id) };
    let store = context.store.clone();
    match run_blocking(move || store.feed(FeedId(number))).await {
        Ok(row) => shown(&Remove {
            id: row.id,
            title: super::title(&row),
            entries: plural(row.entries, "entry", "entries"),
            frame: Frame::new(&context, visitor, Some(Section::Feeds)),
        }),
        Err(store::StoreError::NoFeed(_)) => gone(&context, visitor, &id),
        Err(error) => failed(&context, visitor, &error),
    }
}

fn gone(context: &Context, visitor: Visitor, id: &str) -> Response {
    no_such(context, visitor, format!("There is no feed {id}. It may have been removed."))
}

/// The command behind a form's word; `None` for a word that is none.
fn command(word: &str, row: &FeedRow, form: &Signed) -> Result<Option<Command>, String> {
    let feed = row.id.to_string();
    let set = |change: Change| Command::Set { target: Target::Feed(feed.clone()), change };
    let paused = |paused| set(Change { paused: Some(paused), ..Change::default() });
    Ok(Some(match word {
        "poll" => Command::Poll { feeds: Some(vec![feed]) },
        "pause" => paused(true),
        "resume" => paused(false),
        "remove" => Command::Remove { feed },
        "address" => Command::Move { feed, url: form.text("url").trim().to_owned() },
        "title" => {
            let title = form.text("title").trim();
            Command::Title { feed, title: (!title.is_empty()).then(|| title.to_owned()) }
        }
        "tags" => {
            let wanted = tags(form.text("tags"));
            let theirs = |tag: &&String| !tag.starts_with(store::QUERY_TAG);
            let remove = row.tags.iter().filter(theirs).filter(|tag| !wanted.contains(tag));
            let add = wanted.iter().filter(|tag| !row.tags.contains(tag)).cloned().collect();
            Command::Tag { feeds: vec![feed], remove: remove.cloned().collect(), add }
        }
        "settings" => set(settings(form, row)?),
        _ => return Ok(None),
    }))
}

/// Empty fields take a setting back. A weight cannot be; where the feed has none of its own, none
/// is set, so that a tag's still holds.
fn settings(form: &Signed, row: &FeedRow) -> Result<Change, String> {
    let duration = |name: &str, called: &str| match form.text(name).trim() {
        "" => Ok(None),
        text => match polling::parse_duration(text) {
            Ok(duration) => Ok(Some(duration.as_secs())),
            Err(error) => Err(format!("{called}: {error}.")),
        },
    };
    let policy = form.text("policy").trim();
    let weight = match form.text("weight").trim() {
        "" => row.settings.weight.map(|_| 1.0),
        text => Some(text.parse().map_err(|_| format!("Weight: “{text}” is not a number."))?),
    };
    Ok(Change {
        policy: Some((!policy.is_empty()).then(|| policy.to_owned())),
        alpha: Some(duration("alpha", "Shortest interval")?),
        beta: Some(duration("beta", "Longest interval")?),
        max_delay: Some(duration("max_delay", "Longest delay")?),
        weight,
        paused: None,
    })
}

/// The settings of a feed as the form shows them.
pub struct Fields {
    pub title: String,
    /// Its address without secrets, where it can be shown.
    pub address: String,
    pub tags: String,
    pub policy: String,
    pub alpha: String,
    pub beta: String,
    pub max_delay: String,
    pub weight: String,
}

impl Fields {
    pub fn new(row: &FeedRow) -> Fields {
        let own = &row.settings;
        let duration = |d: Option<Duration>| d.map(polling::written).unwrap_or_default();
        let tags: Vec<&str> = row.tags.iter().map(String::as_str).collect();
        Fields {
            title: row.given_title.clone().unwrap_or_default(),
            address: row.location.url.masked(),
            tags: tags
                .into_iter()
                .filter(|t| !t.starts_with(store::QUERY_TAG))
                .collect::<Vec<_>>()
                .join(", "),
            policy: own.policy.clone().unwrap_or_default(),
            alpha: duration(own.alpha),
            beta: duration(own.beta),
            max_delay: duration(own.max_delay),
            weight: own.weight.map(|w| w.to_string()).unwrap_or_default(),
        }
    }
}
