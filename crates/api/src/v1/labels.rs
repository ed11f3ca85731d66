//! Labels of entries: each person has their own.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use feed::EntryId;
use store::{AccountId, Store, TokenScope};

use super::blocking;
use super::extract::{IdInPath, JsonBody, NameInPath};
use super::route::Route;
use super::schema::{answer, request};
use crate::ServerContext;
use crate::auth::Person;
use crate::v1::error::ApiError;

/// Labels that one request gives to an entry.
const LABELS_MAX: usize = 100;

answer! {
    /// A label of yours.
    LabelCount {
        /// Its name.
        name: String,
        /// The number of entries that have it.
        entries: u64,
    }

    /// Your labels.
    LabelList {
        /// By name.
        labels: Vec<LabelCount>,
    }

    /// The labels that you gave to an entry.
    EntryLabels {
        /// By name.
        labels: Vec<String>,
    }
}

request! {
    /// The labels of an entry.
    NewEntryLabels {
        /// All its labels, at most 100; they replace the present ones.
        labels: Vec<String>,
    }

    /// A new name of a label.
    LabelChange {
        /// The name. If another label has it, the two become one.
        name: String,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/labels", "Your labels", list).answers::<LabelList>(),
        Route::patch("/labels/{name}", "Rename a label", rename)
            .needs(TokenScope::Write)
            .takes::<LabelChange>()
            .answers::<LabelList>(),
        Route::delete("/labels/{name}", "Delete a label; the entries stay", delete)
            .needs(TokenScope::Write),
        Route::get("/entries/{id}/labels", "The labels of an entry", show).answers::<EntryLabels>(),
        Route::put("/entries/{id}/labels", "Set the labels of an entry", set)
            .needs(TokenScope::Write)
            .takes::<NewEntryLabels>()
            .answers::<EntryLabels>(),
    ]
}

const MISSING: ApiError = ApiError::NotFound("you have no such label");
const UNNAMED: ApiError = ApiError::BadRequest("a label has 1 to 100 letters");

fn labels(store: &Store, account: AccountId) -> Result<Json<LabelList>, ApiError> {
    let rows = store.labels(account)?.into_iter();
    let labels = rows.map(|row| LabelCount { name: row.name, entries: row.n_entries });
    Ok(Json(LabelList { labels: labels.collect() }))
}

async fn list(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<LabelList>, ApiError> {
    blocking(move || labels(&context.store, person.account)).await
}

async fn rename(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
    JsonBody(change): JsonBody<LabelChange>,
) -> Result<Json<LabelList>, ApiError> {
    let to = query::label_name(&change.name).ok_or(UNNAMED)?;
    blocking(move || match context.store.rename_label(person.account, &name, &to)? {
        true => labels(&context.store, person.account),
        false => Err(MISSING),
    })
    .await
}

async fn delete(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
) -> Result<StatusCode, ApiError> {
    blocking(move || match context.store.delete_label(person.account, &name)? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(MISSING),
    })
    .await
}

/// Returns the labels of an entry that the person may see.
fn labels_of(store: &Store, account: AccountId, id: i64) -> Result<Json<EntryLabels>, ApiError> {
    let entry = EntryId(id);
    if store.read_entries(account, &[entry])?.is_empty() {
        return Err(ApiError::NotFound("the entry does not exist"));
    }
    let labels = store.labels_of(account, &[entry])?.remove(&entry).unwrap_or_default();
    Ok(Json(EntryLabels { labels }))
}

async fn show(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<Json<EntryLabels>, ApiError> {
    blocking(move || labels_of(&context.store, person.account, id)).await
}

async fn set(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
    JsonBody(sent): JsonBody<NewEntryLabels>,
) -> Result<Json<EntryLabels>, ApiError> {
    if sent.labels.len() > LABELS_MAX {
        return Err(ApiError::BadRequest("too many labels: an entry gets at most 100 at once"));
    }
    let names: Option<Vec<String>> =
        sent.labels.iter().map(|name| query::label_name(name)).collect();
    let names = names.ok_or(UNNAMED)?;
    blocking(move || {
        let (store, account) = (&context.store, person.account);
        drop(labels_of(store, account, id)?);
        if !store.set_labels(account, EntryId(id), &names, (context.now)())? {
            let text = "you have too many labels; delete one first";
            return Err(ApiError::Conflict(text.to_owned()));
        }
        labels_of(store, account, id)
    })
    .await
}
