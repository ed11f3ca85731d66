//! What the lab found: reports that were written into the data folder, and other rules on the own
//! feeds' history. A report is shown as it was written, in a sandbox: it can load and run nothing.

use std::fs;
use std::io::Read;
use std::path::{Path as FilePath, PathBuf};

use askama::Template;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use feed::Time;
use store::Store;

use super::budget::{Shown, told};
use super::frame::{Frame, Section, Visitor};
use super::{failed, no_such, shown};
use crate::Context;
use crate::blocking::run_blocking;
use crate::what_if;
use crate::words::{Moment, Now};

/// The folder beside the store.
const FOLDER: &str = "reports";
const PAGE: &str = "index.html";
/// More reports than anybody looks through; the oldest are left out.
const REPORTS_MAX: usize = 200;
/// A report is some hundred kilobytes of figures.
const REPORT_BYTES_MAX: u64 = 16 << 20;
/// Its figures are drawn inside it; nothing else is loaded, nothing runs.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

#[derive(Template)]
#[template(path = "lab.html")]
struct LabPage {
    frame: Frame,
    reports: Vec<Report>,
    folder: String,
    outlook: Option<Shown>,
    job: what_if::State,
}

struct Report {
    name: String,
    written: Option<Moment>,
}

pub async fn list(State(context): State<Context>, visitor: Visitor) -> Response {
    let (store, now) = (context.store.clone(), visitor.now(&context));
    let answer = run_blocking(move || Ok((reports(&store, now), what_if::last(&store)?)));
    match answer.await {
        Ok((reports, outlook)) => {
            let job = context.what_if.state();
            let runs = job.running.is_some();
            let page = shown(&LabPage {
                frame: Frame::new(&context, visitor, Some(Section::Lab)),
                reports,
                folder: folder(&context.store).display().to_string(),
                outlook: outlook.map(|outlook| told(outlook, now)),
                job,
            });
            if runs { ([(header::REFRESH, "3")], page).into_response() } else { page }
        }
        Err(error) => failed(&context, visitor, &error),
    }
}

fn folder(store: &Store) -> PathBuf {
    store.path().parent().unwrap_or(FilePath::new(".")).join(FOLDER)
}

/// The newest first. A folder that is not there has no reports.
fn reports(store: &Store, now: Now) -> Vec<Report> {
    let Ok(entries) = fs::read_dir(folder(store)) else { return Vec::new() };
    let mut found: Vec<(Option<Time>, String)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok().filter(|name| is_name(name))?;
            let written = fs::metadata(entry.path().join(PAGE)).ok()?.modified().ok();
            let since = written.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            Some((since.map(|since| Time::from_secs(0) + since), name))
        })
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(REPORTS_MAX);
    let moment = |at: Option<Time>| at.map(|at| Moment::new(at, now));
    found.into_iter().map(|(at, name)| Report { name, written: moment(at) }).collect()
}

/// A folder's plain name: no way out of where reports are.
fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.bytes().all(plain)
}

/// One report, as it was written.
pub async fn report(
    State(context): State<Context>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Response {
    let file = is_name(&name).then(|| folder(&context.store).join(&name).join(PAGE));
    let text = match file {
        Some(file) => tokio::task::spawn_blocking(move || read(&file)).await.unwrap_or(None),
        None => None,
    };
    match text {
        Some(text) => {
            // The report names its files beside itself; here they are one level below.
            let base = format!("<head><base href=\"/lab/{name}/\">");
            let text = text.replacen("<head>", &base, 1);
            ([(header::CONTENT_SECURITY_POLICY, POLICY)], Html(text)).into_response()
        }
        None => no_such(&context, visitor, "There is no such report.".to_owned()),
    }
}

/// A figure of a report, or the numbers behind one. Numbers are shown as text: a page in a sandbox
/// may not download.
pub async fn figure(
    State(context): State<Context>,
    visitor: Visitor,
    Path((name, file)): Path<(String, String)>,
) -> Response {
    let kind = match file.rsplit_once('.') {
        Some((_, "csv")) => Some("text/plain; charset=utf-8"),
        Some((_, "svg")) => Some("image/svg+xml"),
        _ => None,
    };
    let path =
        (is_name(&name) && is_name(&file)).then(|| folder(&context.store).join(&name).join(&file));
    let (Some(kind), Some(path)) = (kind, path) else {
        return no_such(&context, visitor, "There is no such figure.".to_owned());
    };
    match tokio::task::spawn_blocking(move || read(&path)).await.unwrap_or(None) {
        Some(text) => {
            let headers = [(header::CONTENT_SECURITY_POLICY, POLICY), (header::CONTENT_TYPE, kind)];
            (headers, text).into_response()
        }
        None => no_such(&context, visitor, "There is no such figure.".to_owned()),
    }
}

fn read(file: &FilePath) -> Option<String> {
    let mut text = String::new();
    fs::File::open(file).ok()?.take(REPORT_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use store::OpenMode;

    use super::*;

    #[test]
    fn of_many_reports_the_newest_are_shown() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), OpenMode::ReadWrite).unwrap();
        let n_reports = REPORTS_MAX as u64 + 20;
        for n in 0..n_reports {
            let report = folder(&store).join(format!("r{n}"));
            fs::create_dir_all(&report).unwrap();
            let page = fs::File::create(report.join(PAGE)).unwrap();
            page.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(n)).unwrap();
        }
        let shown = reports(&store, Time::from_secs(1000).into());
        assert_eq!(shown.len(), REPORTS_MAX);
        assert_eq!(shown[0].name, format!("r{}", n_reports - 1));
        assert_eq!(shown[REPORTS_MAX - 1].name, "r20");
    }

    #[test]
    fn a_reports_name_leads_nowhere_else() {
        assert!(is_name("bursty-2026.01_a"));
        for name in ["", ".", "..", "a/b", "..%2f", "a\\b", "a\0", ".hidden", "é"] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
