//! Subscription lists: OPML export of one's feeds, and import.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use dispatch::command::{Command, CommandResult, ImportedFeed};
use parse::opml;

use super::extract::TextBody;
use super::route::Route;
use super::schema::answer;
use super::{act, blocking, unexpected_answer};
use crate::ServerContext;
use crate::auth::Person;
use crate::own_order::written_opml;
use crate::v1::error::ApiError;

/// The media type of OPML.
const KIND: &str = "text/x-opml";

answer! {
    /// The result of an import.
    Imported {
        /// The number of added feeds.
        added: usize,
        /// The number of feeds that existed before.
        known: usize,
        /// The skipped lines, each with the reason.
        skipped: Vec<String>,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/opml", "Your feeds as OPML, secrets masked", export).answers_text(KIND),
        Route::post("/opml", "Subscribe to the feeds of a list; makes no request", import)
            .needs(store::TokenScope::Write)
            .takes_text(KIND)
            .answers::<Imported>(),
    ]
}

async fn export(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Response, ApiError> {
    let text = blocking(move || Ok(written_opml(&context.store, person.account, false)?));
    let file = (header::CONTENT_DISPOSITION, "attachment; filename=\"tidings.opml\"");
    Ok(([(header::CONTENT_TYPE, KIND), file], text.await?).into_response())
}

async fn import(
    State(context): State<ServerContext>,
    person: Person,
    TextBody(body): TextBody,
) -> Result<Json<Imported>, ApiError> {
    let list =
        blocking(move || opml::read(&body).map_err(|why| ApiError::Invalid(why.to_string())));
    let list = list.await?;
    let passed_over = list.skipped.iter();
    let mut skipped: Vec<String> =
        passed_over.map(|s| format!("{}:{}: {}: {}", s.line, s.column, s.what, s.why)).collect();
    let feeds = list.outlines.into_iter().map(|outline| ImportedFeed {
        url: outline.url,
        title: outline.title,
        site: outline.site,
        tags: outline.tags,
    });
    let (feeds, account) = (feeds.collect(), person.subscriber());
    let done = act(&context, Command::Import { feeds, account }).await?;
    let CommandResult::Imported { added, known, refused } = done else {
        return Err(unexpected_answer());
    };
    skipped.extend(refused);
    Ok(Json(Imported { added, known, skipped }))
}
