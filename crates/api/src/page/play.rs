//! The page that plays a recording, or the player of another site. Its policy alone allows media of
//! other sites, and one frame. Nothing is asked of others before somebody opens this page; a
//! recording is asked for only when it is played.

mod position;
mod spoken;

use article::embed::Embed;
use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use feed::EntryId;
use store::{EntryRow, FeedName, ReadEntry, Store, StoreError};
use url::Url;

use super::frame::assets::PLAYER;
use super::frame::{Frame, NavSection, Visitor};
use super::notice::{no_entry, not_found, render, store_error};
use super::params;
use super::read::{StoredPage, TextChoice, feed_title, shown_text, teaser, title, web_link};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::media_file::{FileKind, about, own_player};
use crate::words::moment_of;

pub use position::keep as keep_position;
pub use spoken::{captions, chapters as chapter_list, transcript};

#[derive(Template)]
#[template(path = "play.html")]
struct PlayPage {
    frame: Frame,
    script: String,
    id: EntryId,
    title: String,
    feed_title: String,
    /// The site that sees who plays.
    host: String,
    what: PlayedThing,
    /// The page of the recording elsewhere, or the file itself.
    href: String,
    about: String,
    chapters: Vec<ShownChapter>,
    has_chapter_file: bool,
    transcripts: Vec<ShownTranscript>,
}

/// The thing that the page plays.
enum PlayedThing {
    Sound(Recording),
    Video(Recording),
    Frame { address: String, name: String },
}

struct Recording {
    src: String,
    /// Whether the recording comes through us.
    is_proxied: bool,
    /// The address of the enclosure, under which the position is kept.
    enclosure: String,
    /// Seconds from the start.
    position: u64,
    still: Option<String>,
}

struct ShownChapter {
    seconds: u64,
    moment: String,
    title: String,
    href: String,
}

struct ShownTranscript {
    number: usize,
    language: String,
}

/// The rows of the store that the page shows.
struct PlayedRows {
    entry: EntryRow,
    name: Option<FeedName>,
    page: StoredPage,
    positions: Vec<store::PlaybackPosition>,
}

fn read(store: &Store, person: &Visitor, id: EntryId) -> Result<Option<PlayedRows>, StoreError> {
    let Some(ReadEntry { entry, .. }) = store.read_entries(person.account(), &[id])?.pop() else {
        return Ok(None);
    };
    Ok(Some(PlayedRows {
        name: store.feed_names_of(person.account(), [entry.feed])?.remove(&entry.feed),
        page: StoredPage::read(store, id)?,
        positions: store.playback_positions(person.account(), id)?,
        entry,
    }))
}

pub async fn play(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let Ok(number) = id.parse() else {
        return no_entry(&context, visitor, id);
    };
    let (store, person) = (context.store.clone(), visitor.clone());
    match run_blocking(move || read(&store, &person, EntryId(number))).await {
        Ok(Some(rows)) => {
            let shown = compose(&context, visitor.clone(), &rows, query.as_deref());
            shown.unwrap_or_else(|| {
                let text =
                    "The entry does not have this recording now. Open the entry again.".to_owned();
                not_found(&context, visitor, text)
            })
        }
        Ok(None) => no_entry(&context, visitor, number),
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// `None`: the entry does not have what the address asks for.
fn compose(
    context: &ServerContext,
    visitor: Visitor,
    rows: &PlayedRows,
    query: Option<&str>,
) -> Option<Response> {
    let entry = &rows.entry;
    let (what, href, about, policy) = match params::number(query, "file") {
        Some(place) => recording(context, rows, usize::try_from(place).ok()?)?,
        None => framed(entry, &embed(rows, query)?)?,
    };
    let host = match &what {
        PlayedThing::Sound(file) | PlayedThing::Video(file) => host(&file.enclosure)?,
        PlayedThing::Frame { address, .. } => host(address)?,
    };
    let has_recording = !matches!(what, PlayedThing::Frame { .. });
    let media = &entry.media;
    let page = PlayPage {
        frame: Frame::new(context, visitor, Some(NavSection::Read)),
        script: PLAYER.address(),
        id: entry.id,
        title: title(entry, &teaser(entry.summary.as_deref().unwrap_or(""))),
        feed_title: feed_title(rows.name.as_ref()),
        host,
        chapters: media.chapters.iter().map(|c| chapter(c, &href)).collect(),
        has_chapter_file: has_recording
            && media.chapters.is_empty()
            && media.chapters_url.is_some()
            && context.images.is_some(),
        transcripts: if has_recording && context.images.is_some() {
            transcripts(entry)
        } else {
            Vec::new()
        },
        what,
        href,
        about,
    };
    let mut response = render(&page);
    let policy = HeaderValue::from_str(&policy).ok()?;
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    Some(response)
}

/// The rules of the page besides those for media and frames.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
                      connect-src 'self'; manifest-src 'self'; worker-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

type Played = (PlayedThing, String, String, String);

/// A file of the entry. Podcast hosts redirect through counters on other hosts, so the policy names
/// the scheme and not one host.
fn recording(context: &ServerContext, rows: &PlayedRows, place: usize) -> Option<Played> {
    let file = rows.entry.enclosures.get(place)?;
    let kind = FileKind::of(file);
    let href = web_link(&file.url)?;
    let position = rows.positions.iter().find(|position| position.url == file.url);
    let position = position.filter(|position| !position.is_finished());
    let stills = rows.entry.media.image.iter();
    let mut stills = stills.chain(rows.entry.media.thumbnails.iter().map(|still| &still.url));
    let proxied = context.media.as_ref().and_then(|proxy| proxy.address(&file.url));
    let recording = Recording {
        is_proxied: proxied.is_some(),
        src: proxied.clone().unwrap_or_else(|| href.clone()),
        enclosure: file.url.clone(),
        // The store refuses negative numbers.
        position: position.map_or(0, |position| position.seconds as u64),
        still: stills.find_map(|address| context.images.as_ref()?.address(address)),
    };
    let about = about(file, kind);
    let what = match kind {
        FileKind::Sound => PlayedThing::Sound(recording),
        FileKind::Video => PlayedThing::Video(recording),
        FileKind::Picture | FileKind::Other => return None,
    };
    let schemes = if href.starts_with("https:") { "https:" } else { "https: http:" };
    let policy = match proxied {
        Some(_) => format!("{POLICY}; media-src 'self'"),
        None => format!("{POLICY}; media-src 'self' {schemes}"),
    };
    Some((what, href, about, policy))
}

/// Returns the player that the address names. It must be one that the entry shows.
fn embed(rows: &PlayedRows, query: Option<&str>) -> Option<Embed> {
    if params::number(query, "own").is_some() {
        return own_player(&rows.entry);
    }
    let number = usize::try_from(params::number(query, "embed")?).ok()?;
    let text = TextChoice::from_word(&params::text(query, "text")?)?;
    let shown = shown_text(&rows.entry, rows.name.as_ref(), &rows.page, text, None);
    shown.embeds.into_iter().nth(number)
}

fn framed(entry: &EntryRow, embed: &Embed) -> Option<Played> {
    let address = embed.player.clone()?;
    let origin = Url::parse(&address).ok()?.origin().ascii_serialization();
    // Stored embeds are older than the check that refuses such hosts.
    if origin.contains([';', ',']) {
        return None;
    }
    let name = format!("{} on {}: {}", embed.kind.word(), embed.site, title(entry, ""));
    let what = PlayedThing::Frame { address, name };
    Some((what, embed.link.clone(), String::new(), format!("{POLICY}; frame-src {origin}")))
}

fn chapter(chapter: &feed::Chapter, href: &str) -> ShownChapter {
    let seconds = chapter.start_ms / 1000;
    ShownChapter {
        seconds,
        moment: moment_of(seconds),
        title: crate::sanitise::text(&chapter.title),
        href: format!("{href}#t={seconds}"),
    }
}

fn transcripts(entry: &EntryRow) -> Vec<ShownTranscript> {
    let listed = entry.media.transcripts.iter().enumerate().take(10);
    let shown = listed.map(|(number, one)| ShownTranscript {
        number,
        language: one.language.clone().unwrap_or_default(),
    });
    shown.collect()
}

fn host(address: &str) -> Option<String> {
    Url::parse(address).ok()?.host_str().map(str::to_owned)
}
