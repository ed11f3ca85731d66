//! Writes the recorded exchanges as WARC files: a response for each document that changed, a
//! revisit for each poll that brought nothing new.

use std::collections::HashMap;
use std::path::Path;

use dataset::package::PackagedFile;
use dataset::sample::hex;
use dataset::tables::{DocumentLine, file_stamp};
use dataset::warc::{FILE_BYTES_MAX, RecordRef, WarcExchange, WarcPayload, WarcWriter};
use feed::{FeedId, FeedUrl, Time};
use serde_json::json;
use store::{PollMessages, RecordedPollRow, Store};

use super::files;
use crate::error::CliError;

type Writer = WarcWriter<dataset::package::HashedFile<std::io::BufWriter<std::fs::File>>>;

/// The folder of the archive within the data set.
pub const FOLDER: &str = "warc";

/// An archive that is being written.
pub struct Archive<'a> {
    folder: &'a Path,
    info: Vec<(&'static str, String)>,
    started_at: Time,
    current: Option<(String, Writer)>,
    files: Vec<PackagedFile>,
}

impl<'a> Archive<'a> {
    pub fn new(
        folder: &'a Path,
        info: Vec<(&'static str, String)>,
        started_at: Time,
    ) -> Result<Archive<'a>, CliError> {
        std::fs::create_dir_all(folder.join(FOLDER))?;
        Ok(Archive { folder, info, started_at, current: None, files: Vec::new() })
    }

    /// Returns the file for the next records. Begins a new one if the last is full.
    fn writer(&mut self) -> Result<&mut (String, Writer), CliError> {
        let is_full = |current: &(String, Writer)| current.1.n_written() >= FILE_BYTES_MAX;
        if self.current.as_ref().is_some_and(is_full) {
            self.close()?;
        }
        let current = match self.current.take() {
            Some(current) => current,
            None => {
                let stamp = file_stamp(self.started_at);
                let name = format!("tidings-{stamp}-{:05}.warc.gz", self.files.len());
                let path = format!("{FOLDER}/{name}");
                let out = files::create(&self.folder.join(&path))?;
                let info: Vec<(&str, &str)> =
                    self.info.iter().map(|(name, value)| (*name, value.as_str())).collect();
                (path, WarcWriter::begin(out, &name, self.started_at, &info)?)
            }
        };
        Ok(self.current.insert(current))
    }

    fn close(&mut self) -> Result<(), CliError> {
        if let Some((path, writer)) = self.current.take() {
            self.files.push(writer.into_inner().finish(&path)?.0);
        }
        Ok(())
    }

    /// Ends the archive. Returns its files.
    pub fn finish(mut self) -> Result<Vec<PackagedFile>, CliError> {
        self.close()?;
        Ok(self.files)
    }

    /// Writes the polls of a feed. Returns where its documents are.
    pub fn feed(
        &mut self,
        store: &Store,
        feed: FeedId,
        polls: &[RecordedPollRow],
    ) -> Result<Vec<DocumentLine>, CliError> {
        let mut kept: HashMap<i64, RecordRef> = HashMap::new();
        let mut documents = Vec::new();
        for poll in polls {
            let Some(messages) = poll.messages.as_ref().filter(|m| !m.head.is_empty()) else {
                continue;
            };
            let before = messages.version.and_then(|version| kept.get(&version).cloned());
            let body = match (messages.version, &before) {
                (Some(version), None) => store.document_version(feed, Some(version))?,
                _ => None,
            };
            let (file, writer) = self.writer()?;
            let exchange = exchange(feed, poll, messages, body.as_deref(), before.as_ref());
            let kept_body = writer.exchange(&exchange)?;
            if let (Some(version), Some(found), Some(body)) = (messages.version, kept_body, &body) {
                documents.push(DocumentLine {
                    sha256: messages.document.as_deref().map(hex).unwrap_or_default(),
                    feed: u64::from(feed.0),
                    first_seen: poll.row.at,
                    bytes: body.len() as u64,
                    file: file.clone(),
                    offset: found.offset,
                    length: found.len,
                });
                kept.insert(version, found);
            }
        }
        Ok(documents)
    }
}

/// Describes one poll. `body` is a document that was not archived before, `before` the record of
/// one that was.
fn exchange<'a>(
    feed: FeedId,
    poll: &RecordedPollRow,
    messages: &'a PollMessages,
    body: Option<&'a [u8]>,
    before: Option<&'a RecordRef>,
) -> WarcExchange<'a> {
    let payload = match (body, before) {
        (Some(body), _) => WarcPayload::Body(body),
        (None, Some(before)) if poll.row.status == Some(304) => WarcPayload::NotModified(before),
        (None, Some(before)) => WarcPayload::Same(before),
        (None, None) => WarcPayload::Body(&[]),
    };
    let metadata = json!({
        "feed": feed.0, "outcome": poll.row.outcome.word(), "new": poll.row.n_new,
        "items": poll.row.window_len, "suspected_miss": poll.row.suspected_miss,
        "bytes": poll.row.bytes,
        "elapsed_ms": u64::try_from(poll.row.elapsed.as_millis()).unwrap_or(u64::MAX),
        "hops": messages.hops, "error": poll.row.error, "warnings": poll.row.warning_lines(),
    });
    WarcExchange {
        name: format!("{feed} {}", poll.row.generation),
        url: &messages.url,
        at: poll.row.at,
        address: messages.remote.as_deref(),
        protocol: Some(match messages.head.get(..6) {
            Some(b"HTTP/2") => "h2",
            _ => "http/1.1",
        }),
        request: &messages.request,
        head: &messages.head,
        payload,
        is_cut: is_cut(poll.row.status, body, before.is_some()),
        metadata: Some(metadata.to_string()),
    }
}

/// Returns whether a body is not complete: it was not kept, or it is a long page of an error.
fn is_cut(status: Option<u16>, body: Option<&[u8]>, is_archived: bool) -> bool {
    let is_error = status.is_some_and(|status| status >= 400);
    match body {
        Some(body) => is_error && body.len() >= feed::ERROR_BYTES_MAX,
        None => !is_archived,
    }
}

/// Returns whether a feed may be published: its address holds no secret.
pub fn is_public(url: &FeedUrl) -> bool {
    url.masked() == url.as_str()
}
