//! Import and export of subscription lists (OPML). The list comes as a file or as pasted text.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use dispatch::command::{Command, CommandResult, ImportedFeed};
use store::TokenScope;

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::own_order::written_opml;
use crate::page::frame::{Frame, NavSection, Visitor, WriteForm};
use crate::page::notice::{notice, render, run_command, store_error};
use crate::page::params;
use crate::words::plural;

/// Skipped outlines that the page names. It counts the rest.
const NAMED_MAX: usize = 50;

#[derive(Template)]
#[template(path = "imported.html")]
struct ImportedPage {
    frame: Frame,
    added: String,
    /// The number of feeds that existed before, in words; empty for none.
    known: String,
    skipped: Vec<String>,
    more: usize,
}

/// Imports a list. The engine polls the new feeds later, at its own pace.
pub async fn import(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let WriteForm { visitor, form } = sent;
    let list = match parse::opml::read(form.bytes("file")) {
        Ok(list) => list,
        Err(error) => {
            let text = format!("This is not a subscription list (OPML): {error}.");
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return notice(&context, visitor, status, "Could not import the list", text);
        }
    };
    let lines = list.skipped.iter();
    let mut skipped: Vec<String> = lines
        .map(|s| format!("line {}, column {}: {}: {}", s.line, s.column, s.what, s.why))
        .collect();
    let feeds = list.outlines.into_iter();
    let feeds = feeds
        .map(|o| ImportedFeed { url: o.url, title: o.title, site: o.site, tags: o.tags })
        .collect();
    let account = visitor.subscriber();
    match run_command(&context, &visitor, Command::Import { feeds, account }).await {
        Ok(CommandResult::Imported { added, known, refused }) => {
            skipped.extend(refused);
            let more = skipped.len().saturating_sub(NAMED_MAX);
            skipped.truncate(NAMED_MAX);
            let added = plural(added as u64, "feed", "feeds");
            let known = match known as u64 {
                0 => String::new(),
                n => plural(n, "feed was", "feeds were"),
            };
            let frame = Frame::new(&context, visitor, Some(NavSection::Feeds));
            render(&ImportedPage { frame, added, known, skipped, more })
        }
        Ok(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Err(refused) => refused,
    }
}

/// Exports the visitor's feeds. With `?secrets=1` the addresses keep their passwords.
pub async fn export(
    State(context): State<ServerContext>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let wants_secrets = params::number(query.as_deref(), "secrets").is_some();
    // A feed with a secret belongs to one account, so these are the visitor's own secrets.
    let with_secrets = wants_secrets && visitor.may(TokenScope::Write);
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || written_opml(&store, account, with_secrets)).await {
        Ok(text) => {
            let kind = (header::CONTENT_TYPE, "text/x-opml; charset=utf-8");
            let name = (header::CONTENT_DISPOSITION, "attachment; filename=\"tidings.opml\"");
            ([kind, name], text).into_response()
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}
