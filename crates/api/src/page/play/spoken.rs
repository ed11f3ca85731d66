//! Chapters and transcripts that a feed names as files. We fetch them when somebody asks for them,
//! so that the publisher does not learn who listens.

use std::fmt::Write as _;

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use feed::{Chapter, EntryId, ItemMedia};
use parse::media::{MEDIA_TEXT_BYTES_MAX, SpokenLine};
use url::Url;

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, NavSection, Visitor};
use crate::page::notice::{not_found, notice, render, store_error};
use crate::page::params;
use crate::words::moment_of;

#[derive(Template)]
#[template(path = "spoken.html")]
struct SpokenPage {
    frame: Frame,
    heading: &'static str,
    back: String,
    lines: Vec<ShownLine>,
}

struct ShownLine {
    seconds: Option<u64>,
    moment: String,
    text: String,
}

/// Why there is nothing to show.
enum SpokenRefusal {
    NoEntry,
    NoFile,
    Unreadable,
    Store(store::StoreError),
}

impl SpokenRefusal {
    fn answer(self, context: &ServerContext, visitor: Visitor) -> Response {
        let text = match self {
            SpokenRefusal::NoEntry => "The entry does not exist. It may have been deleted.",
            SpokenRefusal::NoFile => "The feed does not name this file.",
            SpokenRefusal::Unreadable => {
                let text = "The publisher's server did not send a file that we can read. \
                            Try again later."
                    .to_owned();
                let status = StatusCode::BAD_GATEWAY;
                return notice(context, visitor, status, "Could not load the file", text);
            }
            SpokenRefusal::Store(error) => return store_error(context, visitor, &error),
        };
        not_found(context, visitor, text.to_owned())
    }
}

/// Fetches a file that an entry names.
async fn fetched(
    context: &ServerContext,
    visitor: &Visitor,
    id: &str,
    address: impl FnOnce(ItemMedia) -> Option<String>,
) -> Result<Vec<u8>, SpokenRefusal> {
    let number = id.parse().map_err(|_| SpokenRefusal::NoEntry)?;
    let (store, account) = (context.store.clone(), visitor.account());
    let entry = run_blocking(move || {
        Ok(store.read_entries(account, &[EntryId(number)])?.pop().map(|found| found.entry))
    });
    let entry = entry.await;
    let entry = entry.map_err(SpokenRefusal::Store)?.ok_or(SpokenRefusal::NoEntry)?;
    let address = address(entry.media).ok_or(SpokenRefusal::NoFile)?;
    let url = Url::parse(&address).map_err(|_| SpokenRefusal::NoFile)?;
    let images = context.images.as_ref().ok_or(SpokenRefusal::NoFile)?;
    let bytes = images.text_file(url).await.ok_or(SpokenRefusal::Unreadable)?;
    if bytes.len() > MEDIA_TEXT_BYTES_MAX { Err(SpokenRefusal::Unreadable) } else { Ok(bytes) }
}

/// Answers `GET /play/ENTRY/chapters`.
pub async fn chapters(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    let found = fetched(&context, &visitor, &id, |media| media.chapters_url).await;
    let read =
        found.and_then(|bytes| parse::media::chapters(&bytes).ok_or(SpokenRefusal::Unreadable));
    match read {
        Ok(chapters) => {
            let line = |chapter: Chapter| ShownLine::new(Some(chapter.start_ms), &chapter.title);
            let lines = chapters.into_iter().map(line).collect();
            page(&context, visitor, &id, "Chapters", lines)
        }
        Err(refusal) => refusal.answer(&context, visitor),
    }
}

async fn lines(
    context: &ServerContext,
    visitor: &Visitor,
    id: &str,
    query: Option<&str>,
) -> Result<Vec<SpokenLine>, SpokenRefusal> {
    let number = params::number(query, "n").unwrap_or(0);
    let pick = move |media: ItemMedia| {
        let place = usize::try_from(number).ok()?;
        media.transcripts.into_iter().nth(place).map(|one| one.url)
    };
    let bytes = fetched(context, visitor, id, pick).await?;
    let text = String::from_utf8_lossy(&bytes);
    // A transcript as a page loses its markup.
    let is_page = text.trim_start().starts_with('<');
    let plain = if is_page { crate::sanitise::long_text(&text).into_bytes() } else { bytes };
    parse::media::transcript(&plain).ok_or(SpokenRefusal::Unreadable)
}

/// Answers `GET /play/ENTRY/transcript?n=N`.
pub async fn transcript(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    match lines(&context, &visitor, &id, query.as_deref()).await {
        Ok(lines) => {
            let shown = lines.iter().map(|line| ShownLine::new(line.start_ms, &line.text));
            page(&context, visitor, &id, "Transcript", shown.collect())
        }
        Err(refusal) => refusal.answer(&context, visitor),
    }
}

/// Answers `GET /play/ENTRY/captions?n=N` with WebVTT, which browsers take from the same site only.
pub async fn captions(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    match lines(&context, &visitor, &id, query.as_deref()).await {
        Ok(lines) => {
            let kind = [(header::CONTENT_TYPE, "text/vtt; charset=utf-8")];
            (kind, vtt(&lines)).into_response()
        }
        Err(refusal) => refusal.answer(&context, visitor),
    }
}

/// Writes lines as WebVTT. A line lasts until the next one, at most ten seconds.
fn vtt(lines: &[SpokenLine]) -> String {
    let mut text = String::from("WEBVTT\n");
    let timed: Vec<(u64, &str)> =
        lines.iter().filter_map(|line| Some((line.start_ms?, line.text.as_str()))).collect();
    for (at, (start, said)) in timed.iter().enumerate() {
        let next = timed.get(at + 1).map_or(u64::MAX, |(next, _)| *next);
        let end = next.min(start + 10_000).max(start + 1);
        let said = said.replace('&', "&amp;").replace('<', "&lt;").replace("-->", "→");
        // Writing to a string does not fail.
        let _ = write!(text, "\n{} --> {}\n{said}\n", stamp(*start), stamp(end));
    }
    text
}

fn stamp(ms: u64) -> String {
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{:03}", ms % 1000)
}

impl ShownLine {
    fn new(start_ms: Option<u64>, text: &str) -> ShownLine {
        let seconds = start_ms.map(|ms| ms / 1000);
        let moment = seconds.map(moment_of).unwrap_or_default();
        ShownLine { seconds, moment, text: crate::sanitise::text(text) }
    }
}

fn page(
    context: &ServerContext,
    visitor: Visitor,
    id: &str,
    heading: &'static str,
    lines: Vec<ShownLine>,
) -> Response {
    let frame = Frame::new(context, visitor, Some(NavSection::Read));
    render(&SpokenPage { frame, heading, back: format!("/entry/{id}"), lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_are_valid_and_cannot_break_out() {
        let line = |start_ms, text: &str| SpokenLine { start_ms, text: text.to_owned() };
        let lines =
            [line(Some(1500), "a <b> --> c"), line(None, "no time"), line(Some(3_661_000), "d")];
        assert_eq!(
            vtt(&lines),
            "WEBVTT\n\n00:00:01.500 --> 00:00:11.500\na &lt;b> → c\n\n\
             01:01:01.000 --> 01:01:11.000\nd\n"
        );
    }
}
