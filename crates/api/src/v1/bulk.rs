//! Changes of many feeds in one request, and their undo.

use axum::Json;
use axum::extract::State;
use dispatch::command::{BulkChange, BulkCommand, Command, CommandResult, FeedChoice};
use store::TokenScope;

use super::extract::{IdInPath, JsonBody};
use super::route::Route;
use super::schema::{answer, request};
use super::{act, blocking, unexpected_answer};
use crate::ServerContext;
use crate::auth::Person;
use crate::v1::error::ApiError;

answer! {
    /// A change of many feeds that was made or undone.
    BulkResult {
        /// The number of feeds.
        feeds: usize,
        /// The change in words.
        what: String,
        /// The number that undoes it; null if there is nothing to undo.
        id: Option<i64>,
    }

    /// A change that you can undo.
    UndoableChange {
        /// Its number.
        id: i64,
        /// When it was made.
        at: String,
        /// The change in words.
        what: String,
        /// The number of feeds.
        feeds: u64,
    }

    /// The changes that you can undo.
    UndoableChanges {
        /// The last one first. They are undone in this order, within a day.
        changes: Vec<UndoableChange>,
    }
}

request! {
    /// A change of many feeds: all or none. Choose them by `feeds`, by `search`, `tag` and `state`,
    /// or all with `every`.
    ManyFeedsChange {
        /// The numbers of feeds, at most 20000.
        feeds: Option<Vec<u32>>,
        /// Feeds with this text in their title, address or tags.
        search: Option<String>,
        /// Feeds with this tag.
        tag: Option<String>,
        /// Feeds in this state: active, backing-off, damaged, gone, paused or never.
        state: Option<String>,
        /// All your feeds.
        every: Option<bool>,
        /// The feeds and tags of the instance, for administrators. Otherwise your own.
        all: Option<bool>,
        /// `tag`, `unsubscribe`, `pause`, `resume` or `policy`. The last three change the feeds for
        /// everybody and are for administrators.
        action: String,
        /// For `tag`: tags to add.
        add_tags: Option<Vec<String>>,
        /// For `tag`: tags to remove.
        remove_tags: Option<Vec<String>>,
        /// For `policy`: the policy; missing or null removes it.
        policy: Option<String>,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::post("/bulk", "Change many feeds", change)
            .needs(TokenScope::Write)
            .takes::<ManyFeedsChange>()
            .answers::<BulkResult>(),
        Route::get("/bulk", "The changes that you can undo", list).answers::<UndoableChanges>(),
        Route::post("/bulk/{id}/undo", "Undo your last change of many feeds or tags", undo)
            .needs(TokenScope::Write)
            .answers::<BulkResult>(),
    ]
}

async fn change(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(sent): JsonBody<ManyFeedsChange>,
) -> Result<Json<BulkResult>, ApiError> {
    let everyone = sent.all.unwrap_or(false);
    let is_chosen = sent.search.is_some() || sent.tag.is_some() || sent.state.is_some();
    let every = sent.every.unwrap_or(false);
    let choice = match sent.feeds {
        Some(feeds) if !is_chosen && !every => FeedChoice::Feeds(feeds),
        None if is_chosen != every => {
            let (text, tag, state) = (sent.search.unwrap_or_default(), sent.tag, sent.state);
            FeedChoice::Matching { text, tag, state }
        }
        _ => {
            return Err(ApiError::BadRequest(
                "choose feeds by `feeds`, by `search`, `tag` and `state`, or by `every`",
            ));
        }
    };
    let change = match sent.action.as_str() {
        "tag" => BulkChange::Tag {
            add: sent.add_tags.unwrap_or_default(),
            remove: sent.remove_tags.unwrap_or_default(),
        },
        "unsubscribe" => BulkChange::Unsubscribe,
        "pause" => BulkChange::Pause,
        "resume" => BulkChange::Resume,
        "policy" => BulkChange::Policy { policy: sent.policy },
        _ => {
            return Err(ApiError::BadRequest(
                "action must be tag, unsubscribe, pause, resume or policy",
            ));
        }
    };
    if (everyone || change.is_for_all()) && !person.may(TokenScope::Admin) {
        return Err(ApiError::of_scope(&person, TokenScope::Admin));
    }
    let account = person.subscriber();
    if everyone && account.is_some() && matches!(change, BulkChange::Unsubscribe) {
        return Err(ApiError::BadRequest("you can unsubscribe from your own feeds only"));
    }
    let wish = BulkCommand::Change { choice, change };
    done(act(&context, Command::Bulk { wish, account, everyone }).await?)
}

async fn list(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<UndoableChanges>, ApiError> {
    blocking(move || {
        let rows = context.store.bulk_changes(person.account, (context.now)())?.into_iter();
        let changes = rows.map(|row| UndoableChange {
            id: row.number,
            at: row.at.to_string(),
            what: row.what,
            feeds: row.n_feeds,
        });
        Ok(Json(UndoableChanges { changes: changes.collect() }))
    })
    .await
}

async fn undo(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<Json<BulkResult>, ApiError> {
    let (store, account, now) = (context.store.clone(), person.account, (context.now)());
    let changes = blocking(move || Ok(store.bulk_changes(account, now)?)).await?;
    let is_theirs = changes.iter().any(|change| change.number == id);
    if person.subscriber().is_some() && !is_theirs {
        return Err(ApiError::NotFound("the change does not exist, or it is too old to be undone"));
    }
    let wish = BulkCommand::Undo { number: Some(id) };
    // Changes of the instance are undone by administrators only.
    let (account, everyone) = (person.subscriber(), person.may(TokenScope::Admin));
    done(act(&context, Command::Bulk { wish, account, everyone }).await?)
}

fn done(result: CommandResult) -> Result<Json<BulkResult>, ApiError> {
    let CommandResult::Changed { feeds, what, undo } = result else {
        return Err(unexpected_answer());
    };
    Ok(Json(BulkResult { feeds, what, id: undo }))
}
