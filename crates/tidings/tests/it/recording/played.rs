//! Sequences of snapshots, real and made here, that a server plays while they are recorded. The
//! server's own log judges: every poll is a row, every document is kept byte for byte.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use dataset::tables::{DocumentLine, FeedLine, MissLine, StreamLine};
use dataset::warc::{ArchiveReader, ArchivedExchange};
use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::recorded::{CONFIG, export, hex, polls_by_path, read, replay_equals_live};
use crate::documents::rss_of;
use crate::polling::replay::{folders, snapshots, truth};
use crate::program::{Instance, eventually, path_text};
use crate::turns::turn;
use crate::wire::{Next, Request, Response, Server, addresses};

/// Longer sequences are played in parts, at the same time.
const PART_LEN: usize = 20;

/// The documents of one address, in the order of their publication.
struct Sequence {
    path: String,
    documents: Vec<Vec<u8>>,
}

/// The status of an answer, and the number of the document that the server had.
type Played = (u16, usize);

#[derive(Clone, Default)]
struct PlayLog(Arc<Mutex<HashMap<String, Vec<Played>>>>);

impl PlayLog {
    fn of(&self, path: &str) -> Vec<Played> {
        self.0.lock().unwrap().get(path).cloned().unwrap_or_default()
    }
}

/// Three requests bring the next document each; the fourth finds the one before.
fn answer(request: &Request, n: usize, sequence: &Sequence) -> (Response, Played) {
    let number = (n - n / 4).min(sequence.documents.len() - 1);
    let document = &sequence.documents[number];
    let etag = format!("\"{}\"", &hex(&Sha256::digest(document))[..16]);
    if request.header("if-none-match") == Some(etag.as_bytes()) {
        return (Response::new(304).with("ETag", etag), (304, number));
    }
    (Response::rss(document.clone()).with("ETag", etag), (200, number))
}

/// Records until every sequence was played to its end, and exports.
fn record(instance: &Instance, sequences: &Arc<Vec<Sequence>>) -> (std::path::PathBuf, PlayLog) {
    let log = PlayLog::default();
    let addresses = addresses(u32::try_from(sequences.len()).unwrap());
    let (shared, played) = (log.clone(), Arc::clone(sequences));
    let server = Server::start(&addresses, move |request, stream| {
        let Some(sequence) = played.iter().find(|one| one.path == request.target) else {
            return Response::new(404).send(stream).map(|_| Next::Keep);
        };
        let mut log = shared.0.lock().unwrap();
        let known = log.entry(request.target.clone()).or_default();
        let (response, entry) = answer(request, known.len(), sequence);
        known.push(entry);
        drop(log);
        response.send(stream).map(|_| Next::Keep)
    });
    let urls = sequences.iter().zip(&addresses).map(|(one, at)| server.url(*at, &one.path));
    let list = instance.write("list.txt", urls.collect::<Vec<_>>().join("\n"));
    let mut command =
        instance.command(&["record", path_text(&list), "--for", "1h", "--allow-private"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for one in sequences.iter() {
        let last = one.documents.len() - 1;
        let is_played = || log.of(&one.path).contains(&(200, last));
        eventually(&one.path, || is_played().then_some(()));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    (export(instance, "set", &["--raw"]), log)
}

/// The polls of each path as the archive holds them, in order.
pub fn archived(folder: &Path) -> HashMap<String, Vec<ArchivedExchange>> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("warc")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut found: HashMap<String, Vec<ArchivedExchange>> = HashMap::new();
    for file in files {
        let input = BufReader::new(MultiGzDecoder::new(File::open(file).unwrap()));
        let mut reader = ArchiveReader::new(input);
        while let Some(exchange) = reader.next_exchange().unwrap() {
            let path = format!("/{}", exchange.url.rsplit('/').next().unwrap());
            found.entry(path).or_default().push(exchange);
        }
    }
    found
}

#[track_caller]
fn nothing_is_missing(sequences: Vec<Sequence>) {
    let sequences = Arc::new(sequences);
    // Some of the real feeds ask for a poll an hour.
    let instance = Instance::with_config(&format!("{CONFIG}hints = \"ignore\"\n"));
    let (folder, log) = record(&instance, &sequences);
    replay_equals_live(&folder);
    let (polls, archive) = (polls_by_path(&folder), archived(&folder));
    let feeds: Vec<FeedLine> = read(&folder, "feeds");
    let entries: Vec<StreamLine> = read(&folder, "entries");
    let misses: Vec<MissLine> = read(&folder, "misses");
    let documents: Vec<DocumentLine> = read(&folder, "documents");
    assert_eq!(feeds.len(), sequences.len(), "every line of the list is kept");
    for one in sequences.iter() {
        let (path, sent) = (&one.path, log.of(&one.path));
        let (rows, kept) = (&polls[path], &archive[path]);
        assert_eq!((rows.len(), kept.len()), (sent.len(), sent.len()), "{path}: every poll");
        let texts: Vec<String> =
            one.documents.iter().map(|d| String::from_utf8_lossy(d).into_owned()).collect();
        let (expected, n_entries) = truth(&texts);
        for ((row, exchange), (status, number)) in rows.iter().zip(kept).zip(&sent) {
            let document = &one.documents[*number];
            let place = format!("{path}, document {number}, status {status}");
            assert_eq!(row.status, Some(*status), "{place}");
            assert_eq!(row.document_sha256, Some(hex(&Sha256::digest(document))), "{place}");
            let is_new = *status == 200;
            assert!(exchange.body.as_ref() == is_new.then_some(document), "{place}: other bytes");
            let new = if is_new { expected[*number].new as u64 } else { 0 };
            assert_eq!(row.new, Some(new), "{place}");
        }
        assert!(sent.iter().any(|played| played.0 == 304), "{path}: some are not modified");
        let feed = feeds.iter().find(|feed| feed.url.ends_with(path)).unwrap().feed;
        let keys: Vec<&str> =
            entries.iter().filter(|e| e.feed == feed).map(|e| e.key.as_str()).collect();
        assert_eq!(keys.len(), n_entries, "{path}: every entry");
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), n_entries, "{path}: once");
        let n_misses = expected.iter().filter(|poll| poll.suspected_miss).count();
        assert_eq!(misses.iter().filter(|m| m.feed == feed).count(), n_misses, "{path}");
        let listed: Vec<(&str, u64)> = documents
            .iter()
            .filter(|document| document.feed == feed)
            .map(|document| (document.sha256.as_str(), document.bytes))
            .collect();
        let digests: Vec<String> =
            one.documents.iter().map(|document| hex(&Sha256::digest(document))).collect();
        let lens = one.documents.iter().map(|document| document.len() as u64);
        let all: Vec<(&str, u64)> = digests.iter().map(String::as_str).zip(lens).collect();
        assert_eq!(listed, all, "{path}: every document is listed once, in order");
    }
}

#[test]
fn the_recorded_feeds_next_to_the_repository_are_recorded_without_a_gap() {
    let _turn = turn();
    let mut sequences = Vec::new();
    for folder in folders() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        for (i, part) in snapshots(&folder).chunks(PART_LEN).enumerate() {
            let documents = part.iter().map(|text| text.clone().into_bytes()).collect();
            sequences.push(Sequence { path: format!("/{name}-{i}"), documents });
        }
    }
    if !sequences.is_empty() {
        nothing_is_missing(sequences);
    }
}

#[test]
fn a_sequence_that_slides_jumps_and_changes_its_bytes_is_recorded_without_a_gap() {
    let _turn = turn();
    // More versions than one chain of differences holds.
    let sliding = (0..24).map(|n| rss_of("sliding", n..n + 12).into_bytes()).collect();
    let jumping = (0..8).map(|n| rss_of("jumping", 9 * n..9 * n + 5 + n).into_bytes()).collect();
    // The words change, the entries do not; and the bytes are not UTF-8.
    let edited = (0..8).map(|n: u8| {
        let text = rss_of("edited", 0..6).replace("encoding=\"utf-8\"", "encoding=\"iso-8859-1\"");
        let mut bytes = text.replace("Made for a test", "Caf_").into_bytes();
        let place = bytes.windows(4).position(|four| four == b"Caf_").unwrap();
        bytes[place + 3] = 0xe0 + n;
        bytes
    });
    let named = [("/sliding", sliding), ("/jumping", jumping), ("/edited", edited.collect())];
    let sequence = |(path, documents): (&str, _)| Sequence { path: path.to_owned(), documents };
    nothing_is_missing(named.map(sequence).into());
}
