//! The actions on one feed: poll, pause, rename, move, tag, set policy and bounds, remove. Each is
//! a form that becomes a command. Removing a feed needs a confirmation.

use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::{Command, CommandResult, FeedSettingsChange, Target};
use feed::{ArticleMode, FeedId};
use store::{FeedRow, StoreError, TokenScope};

use super::trial;
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::feed_rows::seen_by;
use crate::form::SignedForm;
use crate::page::feeds::tags;
use crate::page::frame::{Frame, NavSection, Visitor, WriteForm, forbidden};
use crate::page::notice::{no_feed, not_found, notice, render, run_command, store_error};
use crate::words::plural;

#[derive(Template)]
#[template(path = "remove.html")]
struct RemovePage {
    frame: Frame,
    /// Only the subscription of the visitor ends; the feed stays for others.
    is_subscription: bool,
    id: FeedId,
    title: String,
    entries: String,
}

/// Runs one action on a feed and redirects to its page.
pub async fn change(
    State(context): State<ServerContext>,
    Path((id, word)): Path<(String, String)>,
    sent: WriteForm,
) -> Response {
    run_action(&context, &id, &word, sent).await
}

/// Removes a feed after the confirmation.
pub async fn remove(
    State(context): State<ServerContext>,
    Path(id): Path<String>,
    sent: WriteForm,
) -> Response {
    run_action(&context, &id, "remove", sent).await
}

/// The actions on the visitor's own subscription. All others change the feed for everybody.
const OWN_ACTIONS: [&str; 5] = ["poll", "title", "tags", "remove", "subscribe"];

async fn run_action(context: &ServerContext, id: &str, word: &str, sent: WriteForm) -> Response {
    let WriteForm { visitor, form } = sent;
    if !OWN_ACTIONS.contains(&word) && !visitor.may(TokenScope::Admin) {
        return forbidden(context, visitor, TokenScope::Admin);
    }
    let Ok(number) = id.parse::<u32>() else { return gone(context, visitor, id) };
    let (row, subscribed) = match read_row(context, &visitor, FeedId(number)).await {
        Ok(found) => found,
        Err(StoreError::NoFeed(_)) => return gone(context, visitor, id),
        Err(error) => return store_error(context, visitor, &error),
    };
    if word == "try" {
        // The entries of a private feed are for its owner.
        return match subscribed || row.private_to.is_none() {
            true => trial::show(context, visitor, row, &form).await,
            false => gone(context, visitor, id),
        };
    }
    // An administrator acts on a feed that they do not read for the whole instance.
    let account = visitor.subscriber().filter(|_| subscribed);
    let command = match command(word, &row, (account, visitor.subscriber()), &form) {
        Ok(Some(command)) => command,
        Ok(None) => {
            let text = format!("A feed does not have the action “{word}”. Open its page again.");
            return not_found(context, visitor, text);
        }
        Err(text) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return notice(context, visitor, status, "Could not change the settings", text);
        }
    };
    let to = match word {
        "remove" | "remove-for-all" => NavSection::Feeds.path().to_owned(),
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

/// Returns a feed as the visitor sees it, and whether they read it.
async fn read_row(
    context: &ServerContext,
    visitor: &Visitor,
    feed: FeedId,
) -> Result<(FeedRow, bool), StoreError> {
    let (store, person) = (context.store.clone(), visitor.person.clone());
    run_blocking(move || {
        let person = person.ok_or(StoreError::NoFeed(feed))?;
        Ok((seen_by(&store, &person, feed)?, store.is_subscribed(person.account, feed)?))
    })
    .await
}

/// Shows the page that asks for confirmation.
pub async fn confirm_remove(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    let Ok(number) = id.parse::<u32>() else { return gone(&context, visitor, &id) };
    match read_row(&context, &visitor, FeedId(number)).await {
        Ok((row, subscribed)) => render(&RemovePage {
            is_subscription: subscribed && visitor.subscriber().is_some(),
            id: row.id,
            title: super::title(&row),
            entries: plural(row.entries, "entry", "entries"),
            frame: Frame::new(&context, visitor, Some(NavSection::Feeds)),
        }),
        Err(StoreError::NoFeed(_)) => gone(&context, visitor, &id),
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn gone(context: &ServerContext, visitor: Visitor, id: &str) -> Response {
    no_feed(context, visitor, id)
}

/// Returns the command for the word in the form's address. `None` for an unknown word.
/// `account` is that of the subscription, `person` that of the visitor.
fn command(
    word: &str,
    row: &FeedRow,
    (account, person): (Option<i64>, Option<i64>),
    form: &SignedForm,
) -> Result<Option<Command>, String> {
    let feed = row.id.to_string();
    let set =
        |change: FeedSettingsChange| Command::Set { target: Target::Feed(feed.clone()), change };
    let paused =
        |paused| set(FeedSettingsChange { paused: Some(paused), ..FeedSettingsChange::default() });
    Ok(Some(match word {
        "poll" => Command::Poll { feeds: Some(vec![feed]) },
        "pause" => paused(true),
        "resume" => paused(false),
        "remove" => Command::Remove { feed, account },
        "remove-for-all" => Command::Remove { feed, account: None },
        "subscribe" => match person {
            Some(account) => Command::Subscribe { feeds: vec![row.id.0], account },
            None => return Ok(None),
        },
        "address" => Command::Move { feed, url: form.text("url").trim().to_owned() },
        "title" => {
            let title = form.text("title").trim();
            let title = (!title.is_empty()).then(|| title.to_owned());
            Command::Title { feed, title, account }
        }
        "tags" => {
            let wanted = tags(form.text("tags"));
            let by_people = |tag: &&String| !tag.starts_with(store::QUERY_TAG);
            let remove = row.tags.iter().filter(by_people).filter(|tag| !wanted.contains(tag));
            let add = wanted.iter().filter(|tag| !row.tags.contains(tag)).cloned().collect();
            let remove = remove.cloned().collect();
            Command::Tag { feeds: vec![feed], remove, add, account }
        }
        "settings" => set(settings(form, row)?),
        "articles" => set(articles(form)?),
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
    let (policy, region) = (form.text("policy").trim(), form.text("region").trim());
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
        region: form.has("region").then(|| (!region.is_empty()).then(|| region.to_owned())),
        ..FeedSettingsChange::default()
    })
}

/// Reads the settings for the pages behind entries.
fn articles(form: &SignedForm) -> Result<FeedSettingsChange, String> {
    let mode = match form.text("articles") {
        "" => None,
        word => Some(ArticleMode::from_word(word).ok_or_else(|| {
            format!("Whole articles: “{word}” is not one of never, opened and every.")
        })?),
    };
    let selector = form.text("selector").trim();
    Ok(FeedSettingsChange {
        articles: Some(mode),
        article_selector: form
            .has("selector")
            .then(|| (!selector.is_empty()).then(|| selector.to_owned())),
        ..FeedSettingsChange::default()
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
    pub region: String,
    /// The word of the mode; empty: not set.
    pub articles: &'static str,
    pub selector: String,
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
            region: row.region.clone().unwrap_or_default(),
            articles: own.article.mode.map_or("", ArticleMode::word),
            selector: own.article.selector.clone().unwrap_or_default(),
        }
    }
}
