//! The actions on one feed: poll, pause, rename, move, tag, set policy and bounds, remove. Each is
//! a form that becomes a command. Removing a feed needs a confirmation.

use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::{Command, CommandResult, FeedSettingsChange, Target};
use feed::FeedId;
use store::FeedRow;

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::form::SignedForm;
use crate::page::feeds::tags;
use crate::page::frame::{AdminForm, Frame, NavSection, Visitor};
use crate::page::notice::{not_found, notice, render, run_command, store_error};
use crate::words::plural;

#[derive(Template)]
#[template(path = "remove.html")]
struct RemovePage {
    frame: Frame,
    id: FeedId,
    title: String,
    entries: String,
}

/// Runs one action on a feed and redirects to its page.
pub async fn change(
    State(context): State<ServerContext>,
    Path((id, word)): Path<(String, String)>,
    sent: AdminForm,
) -> Response {
    run_action(&context, &id, &word, sent).await
}

/// Removes a feed after the confirmation.
pub async fn remove(
    State(context): State<ServerContext>,
    Path(id): Path<String>,
    sent: AdminForm,
) -> Response {
    run_action(&context, &id, "remove", sent).await
}

async fn run_action(context: &ServerContext, id: &str, word: &str, sent: AdminForm) -> Response {
    let AdminForm(visitor, form) = sent;
    let Ok(number) = id.parse::<u32>() else { return gone(context, visitor, id) };
    let store = context.store.clone();
    let row = match run_blocking(move || store.feed(FeedId(number))).await {
        Ok(row) => row,
        Err(store::StoreError::NoFeed(_)) => return gone(context, visitor, id),
        Err(error) => return store_error(context, visitor, &error),
    };
    let command = match command(word, &row, &form) {
        Ok(Some(command)) => command,
        Ok(None) => {
            return not_found(context, visitor, format!("There is no action “{word}” for a feed."));
        }
        Err(text) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return notice(context, visitor, status, "Could not change the settings", text);
        }
    };
    let to = match word {
        "remove" => NavSection::Feeds.path().to_owned(),
        _ => format!("/feed/{number}"),
    };
    match run_command(context, &visitor, command).await {
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

/// Shows the page that asks for confirmation.
pub async fn confirm_remove(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    let Ok(number) = id.parse::<u32>() else { return gone(&context, visitor, &id) };
    let store = context.store.clone();
    match run_blocking(move || store.feed(FeedId(number))).await {
        Ok(row) => render(&RemovePage {
            id: row.id,
            title: super::title(&row),
            entries: plural(row.entries, "entry", "entries"),
            frame: Frame::new(&context, visitor, Some(NavSection::Feeds)),
        }),
        Err(store::StoreError::NoFeed(_)) => gone(&context, visitor, &id),
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn gone(context: &ServerContext, visitor: Visitor, id: &str) -> Response {
    not_found(context, visitor, format!("There is no feed {id}. It may have been removed."))
}

/// Returns the command for the word in the form's address. `None` for an unknown word.
fn command(word: &str, row: &FeedRow, form: &SignedForm) -> Result<Option<Command>, String> {
    let feed = row.id.to_string();
    let set =
        |change: FeedSettingsChange| Command::Set { target: Target::Feed(feed.clone()), change };
    let paused =
        |paused| set(FeedSettingsChange { paused: Some(paused), ..FeedSettingsChange::default() });
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
            let by_people = |tag: &&String| !tag.starts_with(store::QUERY_TAG);
            let remove = row.tags.iter().filter(by_people).filter(|tag| !wanted.contains(tag));
            let add = wanted.iter().filter(|tag| !row.tags.contains(tag)).cloned().collect();
            Command::Tag { feeds: vec![feed], remove: remove.cloned().collect(), add }
        }
        "settings" => set(settings(form, row)?),
        _ => return Ok(None),
    }))
}

/// Reads the settings of the form. An empty field removes the setting. A weight cannot be removed,
/// so an empty one becomes 1; a feed without its own weight stays so and keeps its tag's.
fn settings(form: &SignedForm, row: &FeedRow) -> Result<FeedSettingsChange, String> {
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
    Ok(FeedSettingsChange {
        policy: Some((!policy.is_empty()).then(|| policy.to_owned())),
        alpha: Some(duration("alpha", "Shortest interval")?),
        beta: Some(duration("beta", "Longest interval")?),
        max_delay: Some(duration("max_delay", "Longest delay")?),
        weight,
        paused: None,
    })
}

/// The settings of a feed as the form shows them.
pub struct FeedSettingsFields {
    pub title: String,
    /// The address without secrets.
    pub address: String,
    pub tags: String,
    pub policy: String,
    pub alpha: String,
    pub beta: String,
    pub max_delay: String,
    pub weight: String,
}

impl FeedSettingsFields {
    pub fn new(row: &FeedRow) -> FeedSettingsFields {
        let own = &row.settings;
        let duration = |d: Option<Duration>| d.map(polling::written).unwrap_or_default();
        let tags: Vec<&str> = row.tags.iter().map(String::as_str).collect();
        FeedSettingsFields {
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
