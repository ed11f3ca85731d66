//! The page of the lab: the reports in the data folder, and replays of the feeds' own history. A
//! report is shown unchanged in a sandbox, where it can load and run nothing.

use std::fs;
use std::io::Read;
use std::path::{Path as FilePath, PathBuf};

use askama::Template;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use feed::Time;

use super::frame::{Frame, NavSection, Visitor};
use super::notice::{not_found, render, store_error};
use super::parts::replay::ReplayView;
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::what_if;
use crate::words::{DisplayTime, LocalNow};

/// The folder with the reports, in the data folder.
const FOLDER: &str = "reports";
const PAGE: &str = "index.html";
/// More reports than anybody reads. The page leaves out the oldest.
const REPORTS_MAX: usize = 200;
/// Reports have 100 to 1,000 KB.
const REPORT_BYTES_MAX: u64 = 16 << 20;
/// A report holds its figures inline. It may load nothing else and run nothing.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

#[derive(Template)]
#[template(path = "lab.html")]
struct LabPage {
    frame: Frame,
    reports: Vec<ReportLink>,
    folder: String,
    replay: Option<ReplayView>,
    job: what_if::ReplayState,
}

/// A report in the list.
struct ReportLink {
    name: String,
    written: Option<DisplayTime>,
}

pub async fn list(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let (store, now) = (context.store.clone(), visitor.now(&context));
    let folder = folder(&context);
    let read = folder.clone();
    let answer = run_blocking(move || Ok((reports(&read, now), what_if::last(&store)?)));
    match answer.await {
        Ok((reports, replay)) => {
            let job = context.what_if.state();
            let runs = job.running.is_some();
            let page = render(&LabPage {
                frame: Frame::new(&context, visitor, Some(NavSection::Lab)),
                reports,
                folder: folder.display().to_string(),
                replay: replay.map(|result| ReplayView::new(result, now)),
                job,
            });
            if runs { ([(header::REFRESH, "3")], page).into_response() } else { page }
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn folder(context: &ServerContext) -> PathBuf {
    context.data.join(FOLDER)
}

/// Lists the reports, newest first. A missing folder has none.
fn reports(folder: &FilePath, now: LocalNow) -> Vec<ReportLink> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
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
    let moment = |at: Option<Time>| at.map(|at| DisplayTime::new(at, now));
    found.into_iter().map(|(at, name)| ReportLink { name, written: moment(at) }).collect()
}

/// Returns whether a name is a plain file name that cannot leave the folder of reports.
fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.bytes().all(plain)
}

/// Shows one report unchanged.
pub async fn report(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Response {
    let file = is_name(&name).then(|| folder(&context).join(&name).join(PAGE));
    let text = match file {
        Some(file) => tokio::task::spawn_blocking(move || read(&file)).await.unwrap_or(None),
        None => None,
    };
    match text {
        Some(text) => {
            // The report links to files in its own folder; here they are one level below.
            let base = format!("<head><base href=\"/lab/{name}/\">");
            let text = text.replacen("<head>", &base, 1);
            ([(header::CONTENT_SECURITY_POLICY, POLICY)], Html(text)).into_response()
        }
        None => {
            let text = format!("The report {name} does not exist. The page Lab lists all reports.");
            not_found(&context, visitor, text)
        }
    }
}

/// Shows a figure of a report, or its numbers. Numbers are plain text, because a page in a sandbox
/// may not download files.
pub async fn figure(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path((name, file)): Path<(String, String)>,
) -> Response {
    let kind = match file.rsplit_once('.') {
        Some((_, "csv")) => Some("text/plain; charset=utf-8"),
        Some((_, "svg")) => Some("image/svg+xml"),
        _ => None,
    };
    let path = (is_name(&name) && is_name(&file)).then(|| folder(&context).join(&name).join(&file));
    let text = format!("The figure {file} does not exist. Open the report {name} again.");
    let (Some(kind), Some(path)) = (kind, path) else {
        return not_found(&context, visitor, text);
    };
    match tokio::task::spawn_blocking(move || read(&path)).await.unwrap_or(None) {
        Some(content) => {
            let headers = [(header::CONTENT_SECURITY_POLICY, POLICY), (header::CONTENT_TYPE, kind)];
            (headers, content).into_response()
        }
        None => not_found(&context, visitor, text),
    }
}

fn read(file: &FilePath) -> Option<String> {
    let mut text = String::new();
    fs::File::open(file).ok()?.take(REPORT_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_many_reports_are_shown() {
        let home = tempfile::tempdir().unwrap();
        let n_reports = REPORTS_MAX as u64 + 20;
        for n in 0..n_reports {
            let report = home.path().join(format!("r{n}"));
            fs::create_dir_all(&report).unwrap();
            let page = fs::File::create(report.join(PAGE)).unwrap();
            page.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(n)).unwrap();
        }
        let shown = reports(home.path(), Time::from_secs(1000).into());
        assert_eq!(shown.len(), REPORTS_MAX);
        assert_eq!(shown[0].name, format!("r{}", n_reports - 1));
        assert_eq!(shown[REPORTS_MAX - 1].name, "r20");
    }

    #[test]
    fn a_report_name_cannot_leave_the_folder() {
        assert!(is_name("bursty-2026.01_a"));
        for name in ["", ".", "..", "a/b", "..%2f", "a\\b", "a\0", ".hidden", "é"] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
