//! The page *Population*: what all feeds together are like, compared with published figures. If the
//! operator publishes it, strangers see the figures of public feeds and the monthly exports.

use std::fs;
use std::io::Read;
use std::path::{Path as FilePath, PathBuf};

use askama::Template;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::stream;

use super::frame::{AdminForm, Frame, NavSection, Visitor};
use super::notice::{not_found, render, store_error};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::population::{self, PopulationResult, PopulationScope, PopulationState};
use crate::words::{DisplayTime, bytes};

/// The folder with the monthly exports, in the data folder.
pub const FOLDER: &str = "published";
/// More months than anybody publishes. The page leaves out the oldest.
const MONTHS_MAX: usize = 600;
/// A figure may load nothing and run nothing.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'";
const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Template)]
#[template(path = "population.html")]
struct PopulationPage {
    frame: Frame,
    figures: Option<PopulationResult>,
    made_at: String,
    job: PopulationState,
    is_published: bool,
    months: Vec<PublishedMonth>,
}

/// The export of a month.
struct PublishedMonth {
    name: String,
    files: Vec<(String, String)>,
}

/// Returns the figures that a visitor may see.
const fn scope(visitor: &Visitor) -> PopulationScope {
    match visitor.person {
        Some(_) => PopulationScope::All,
        None => PopulationScope::Public,
    }
}

pub async fn show(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let (store, now, scope) = (context.store.clone(), visitor.now(&context), scope(&visitor));
    let is_published = context.population.is_published;
    let folder = context.data.join(FOLDER);
    let answer = run_blocking(move || {
        let months = if is_published { months(&folder) } else { Vec::new() };
        Ok((population::last(&store, scope)?, months))
    });
    match answer.await {
        Ok((figures, months)) => {
            let made = figures.as_ref().and_then(|figures| parse::date::parse(&figures.made_at));
            let job = context.population.state();
            let runs = job.is_running;
            let page = render(&PopulationPage {
                frame: Frame::new(&context, visitor, Some(NavSection::Feeds)),
                figures,
                made_at: made.map_or(String::new(), |at| DisplayTime::new(at, now).short),
                job,
                is_published,
                months,
            });
            if runs { ([(header::REFRESH, "3")], page).into_response() } else { page }
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Starts the calculation.
pub async fn calculate(State(context): State<ServerContext>, sent: AdminForm) -> Response {
    let AdminForm(visitor, _) = sent;
    context.population.start(&context.store, visitor.now(&context).at);
    Redirect::to("/population").into_response()
}

/// Shows the drawing of a section.
pub async fn figure(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(file): Path<String>,
) -> Response {
    let (store, scope) = (context.store.clone(), scope(&visitor));
    let answer = run_blocking(move || population::last(&store, scope)).await;
    let figures = match answer {
        Ok(figures) => figures,
        Err(error) => return store_error(&context, visitor, &error),
    };
    let name = file.strip_suffix(".svg").unwrap_or(&file);
    let sections = figures.map(|figures| figures.sections).unwrap_or_default();
    let found = sections.into_iter().find(|section| section.name == name);
    match found.and_then(|section| section.svg) {
        Some(svg) => {
            let headers = [
                (header::CONTENT_SECURITY_POLICY, POLICY),
                (header::CONTENT_TYPE, "image/svg+xml"),
            ];
            (headers, svg).into_response()
        }
        None => {
            let text = format!("The figure {name} does not exist. Open the page of figures again.");
            not_found(&context, visitor, text)
        }
    }
}

/// Hands out a file of a monthly export.
pub async fn file(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path((month, name)): Path<(String, String)>,
) -> Response {
    let is_open = context.population.is_published && is_month(&month) && is_name(&name);
    let path = context.data.join(FOLDER).join(&month).join(&name);
    let opened = tokio::task::spawn_blocking(move || {
        let file = is_open.then(|| fs::File::open(path).ok())??;
        let len = file.metadata().ok().filter(fs::Metadata::is_file)?.len();
        Some((file, len))
    });
    let Some((file, len)) = opened.await.unwrap_or(None) else {
        let text =
            format!("The file {name} of {month} does not exist. Open the list of files again.");
        return not_found(&context, visitor, text);
    };
    let kind = match name.rsplit_once('.') {
        Some((_, "json")) => "application/json",
        Some((_, "md" | "cff")) => "text/plain; charset=utf-8",
        Some((_, "html")) => "text/html; charset=utf-8",
        _ => "application/octet-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_LENGTH, len.to_string()),
        (header::CONTENT_SECURITY_POLICY, format!("{POLICY}; img-src data:")),
    ];
    (headers, Body::from_stream(stream::unfold(file, next_chunk))).into_response()
}

/// Reads the next part of a file, off the threads that serve requests.
async fn next_chunk(mut file: fs::File) -> Option<(std::io::Result<Bytes>, fs::File)> {
    let read = tokio::task::spawn_blocking(move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        let n = file.read(&mut chunk);
        (n.map(|n| Bytes::from(chunk[..n].to_vec())), file)
    });
    let (chunk, file) = read.await.ok()?;
    match chunk {
        Ok(chunk) if chunk.is_empty() => None,
        chunk => Some((chunk, file)),
    }
}

/// Lists the exports, the newest month first.
fn months(folder: &FilePath) -> Vec<PublishedMonth> {
    let mut names = names_in(folder, is_month);
    names.sort_unstable_by(|a, b| b.cmp(a));
    names.truncate(MONTHS_MAX);
    let month = |name: String| {
        let place: PathBuf = folder.join(&name);
        let mut files = names_in(&place, is_name);
        files.sort_unstable();
        let size = |file: &str| fs::metadata(place.join(file)).map_or(0, |found| found.len());
        let files = files.into_iter().map(|file| (bytes(size(&file)), file));
        let files = files.map(|(size, file)| (file, size)).collect();
        PublishedMonth { name, files }
    };
    names.into_iter().map(month).collect()
}

fn names_in(folder: &FilePath, is_good: fn(&str) -> bool) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| is_good(name)).collect()
}

/// Returns whether a name is a month such as `2026-10`.
fn is_month(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() == 7
        && bytes
            .iter()
            .enumerate()
            .all(|(i, b)| if i == 4 { *b == b'-' } else { b.is_ascii_digit() })
}

/// Returns whether a name is a plain file name that cannot leave its folder.
fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_months_and_plain_names_are_served() {
        assert!(is_month("2026-10"));
        for name in ["2026-1", "2026_10", "..", "2026-10/", ".026-10", "２026-10"] {
            assert!(!is_month(name), "{name}");
        }
        assert!(is_name("entries.csv.gz") && is_name("CITATION.cff") && is_name("SHA256SUMS"));
        assert!(!is_name("../x") && !is_name(".part") && !is_name("a/b"));
    }

    #[test]
    fn the_newest_month_is_first() {
        let home = tempfile::tempdir().unwrap();
        for name in ["2026-09", "2026-10", ".2026-11.part", "notes"] {
            fs::create_dir_all(home.path().join(name)).unwrap();
        }
        fs::write(home.path().join("2026-10/README.md"), "words").unwrap();
        let found = months(home.path());
        let names: Vec<&str> = found.iter().map(|month| month.name.as_str()).collect();
        assert_eq!(names, ["2026-10", "2026-09"]);
        assert_eq!(found[0].files.len(), 1);
    }
}
