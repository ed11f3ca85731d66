//! The bodies that a recording keeps: pages of errors up to their limit, and documents until the
//! size in all is reached. A daemon records; each request is made by a command, in order.

use std::sync::{Arc, Mutex};

use dataset::tables::{DocumentLine, PollLine};
use dataset::warc::ArchivedExchange;
use sha2::{Digest, Sha256};

use super::played::archived;
use super::recorded::{export, hex, read};
use crate::documents::rss_of;
use crate::program::{Instance, eventually};
use crate::wire::{Next, Response, Server, addresses};

/// The most that is kept of the page of an error.
const PAGE_BYTES_MAX: usize = 65_536;

/// The server's answers: a status and a body for each request. The last one stays.
type Answers = Vec<(u16, Vec<u8>)>;

/// The rows, the archived exchanges and the listed documents of a recording.
struct Kept {
    polls: Vec<PollLine>,
    archived: Vec<ArchivedExchange>,
    documents: Vec<DocumentLine>,
    readme: String,
    imported: Vec<ArchivedExchange>,
}

/// Records these answers by a daemon with this configuration.
fn recorded(answers: Answers, config: &str) -> Kept {
    let n_sent = Arc::new(Mutex::new(0));
    let (n_answers, shared) = (answers.len(), Arc::clone(&n_sent));
    let addresses = addresses(1);
    let server = Server::start(&addresses, move |request, stream| {
        if request.target != "/feed" {
            return Response::new(404).send(stream).map(|_| Next::Keep);
        }
        let mut n_sent = shared.lock().unwrap();
        let (status, body) = &answers[(*n_sent).min(answers.len() - 1)];
        *n_sent += 1;
        let etag = format!("\"{}\"", &hex(&Sha256::digest(body))[..16]);
        let is_known = request.header("if-none-match") == Some(etag.as_bytes());
        let response = match status {
            200 if is_known => Response::new(304).with("ETag", etag),
            200 => Response::rss(body.clone()).with("ETag", etag),
            _ => Response::new(*status).with("Content-Type", "text/html").body(body.clone()),
        };
        response.send(stream).map(|_| Next::Keep)
    });
    let url = server.url(addresses[0], "/feed");
    let config = format!(
        "domain_gap = \"10ms\"\n[defaults]\npolicy = \"fix:5h\"\n[recording]\n\
         continuous = true\n{config}"
    );
    let instance = Instance::with_config(&config);
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    let mut daemon = instance.daemon(&["--allow-private"]).ready();
    // The daemon makes the first poll on its own.
    eventually("the first poll", || (*n_sent.lock().unwrap() > 0).then_some(()));
    for _ in 0..n_answers {
        let before = *n_sent.lock().unwrap();
        if before == n_answers {
            break;
        }
        // An import finds the exchange of a poll by its time, in whole seconds.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        let ended = instance.run(&["feed", "poll", &url, "--json"]);
        assert!(*n_sent.lock().unwrap() > before, "no request {before}: {ended:?}");
    }
    assert!(daemon.signal("TERM").success());
    let folder = export(&instance, "set", &["--raw"]);
    let of = |folder: &std::path::Path| archived(folder).remove("/feed").unwrap();
    let other = Instance::in_folder();
    other.run(&["dataset", "import", crate::program::path_text(&folder)]).ok();
    other.run(&["feed", "set", "1", "--resume"]).ok();
    Kept {
        polls: read(&folder, "polls"),
        archived: of(&folder),
        documents: read(&folder, "documents"),
        readme: std::fs::read_to_string(folder.join("README.md")).unwrap(),
        imported: of(&export(&other, "again", &["--raw"])),
    }
}

#[test]
fn pages_of_errors_are_kept_up_to_their_limit_and_confirm_no_document() {
    let document = rss_of("kept", 0..5).into_bytes();
    let next = rss_of("kept", 1..6).into_bytes();
    let short = b"<html>The server is broken.</html>".to_vec();
    let long: Vec<u8> = (0..100_000_u32).map(|n| b'a' + (n % 23) as u8).collect();
    let html = b"<html><body>Not a feed.</body></html>".to_vec();
    let answers: Answers = vec![
        (200, document.clone()),
        (500, short.clone()),
        (200, document.clone()),
        (404, long.clone()),
        (500, short.clone()),
        (200, html.clone()),
        (200, document.clone()),
        (200, next.clone()),
    ];
    let kept = recorded(answers, "");
    let cut = &long[..PAGE_BYTES_MAX];
    let bodies: Vec<(u16, &[u8])> = vec![
        (200, &document),
        (500, &short),
        (304, &document),
        (404, cut),
        (500, &short),
        (200, &html),
        (304, &document),
        (200, &next),
    ];
    let rows: Vec<(Option<u16>, Option<String>)> =
        kept.polls.iter().map(|row| (row.status, row.document_sha256.clone())).collect();
    let expected: Vec<(Option<u16>, Option<String>)> = bodies
        .iter()
        .map(|(status, body)| (Some(*status), Some(hex(&Sha256::digest(body)))))
        .collect();
    assert_eq!(rows, expected);
    // A body that came before is a revisit: the archive has each once.
    let new = [true, true, false, true, false, true, false, true];
    for (exchanges, of) in [(&kept.archived, "export"), (&kept.imported, "import")] {
        assert_eq!(exchanges.len(), bodies.len(), "{of}");
        for (i, exchange) in exchanges.iter().enumerate() {
            let body = new[i].then(|| bodies[i].1.to_vec());
            assert!(exchange.body == body, "{of}, poll {i}: {:?}", exchange.body);
        }
    }
    let sizes: Vec<u64> = kept.documents.iter().map(|document| document.bytes).collect();
    let expected = [document.len(), short.len(), cut.len(), html.len(), next.len()];
    assert_eq!(sizes, expected.map(|len| len as u64));
    assert!(kept.readme.contains("the first 64 kB are kept"), "{}", kept.readme);
}

#[test]
fn beyond_the_size_in_all_documents_are_not_kept_and_polls_are() {
    // Noise, so that two documents exceed the limit.
    let document = |n: u32| {
        let noise =
            (0..3000_u32).map(|k| format!("{:08x}", (k + 7919 * n).wrapping_mul(2_654_435_761)));
        let text = rss_of("full", n as usize..n as usize + 5);
        text.replace("Made for a test", &noise.collect::<String>()).into_bytes()
    };
    let documents: Vec<Vec<u8>> = (0..6).map(document).collect();
    let answers = documents.iter().flat_map(|body| [(200, body.clone()), (200, body.clone())]);
    let kept = recorded(answers.collect(), "max_size = \"15kB\"\n");
    assert_eq!(kept.polls.len(), 12, "every poll is a row");
    assert!((1..6).contains(&kept.documents.len()), "{:?}", kept.documents);
    for (i, row) in kept.polls.iter().enumerate() {
        let digest = hex(&Sha256::digest(&documents[i / 2]));
        let is_kept = i / 2 < kept.documents.len();
        assert_eq!(row.status, Some(if i % 2 == 0 { 200 } else { 304 }), "poll {i}");
        assert_eq!(row.new, Some(if i == 0 { 5 } else { u64::from(i % 2 == 0) }), "poll {i}");
        // The digest says what came. A 304 after it confirms a document that is not here.
        let expected = (is_kept || i % 2 == 0).then_some(digest);
        assert_eq!(row.document_sha256, expected, "poll {i}");
        let body = (is_kept && i % 2 == 0).then(|| documents[i / 2].clone());
        assert!(kept.archived[i].body == body, "poll {i}");
    }
}
