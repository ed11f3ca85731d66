//! Jobs and results survive the wire; everything else is refused.

use std::sync::Arc;
use std::time::Duration;

use feed::{
    Domain, ExchangeFacts, FeedId, Hints, HttpVersion, Item, Links, RequestSettings, RetryAfter,
    Time, Trouble, Validators, Window, WindowComparison, identify,
};
use url::Url;

use super::*;
use crate::{
    ErrandRequest, FeedDescription, GrantId, PassedDomain, PollJob, PollReading, PollResult,
    ReadDocument, SoFar,
};

fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

fn items() -> Vec<Item> {
    let source = feed::Source { url: Some("https://e.org/".to_owned()), ..Default::default() };
    let full = Item {
        id: Some("1".to_owned()),
        title: Some("a \"quoted\" <b>title</b> \u{1f600}".to_owned()),
        published: Some(Time::from_millis(1_700_000_000_123)),
        categories: vec!["x".to_owned()],
        enclosures: vec![feed::Enclosure { length: Some(u64::MAX), ..Default::default() }],
        language: Some("de".to_owned()),
        source: Some(source),
        ..Item::default()
    };
    vec![full, Item { id: Some("2".to_owned()), ..Item::default() }]
}

fn window() -> Window {
    let keyed = identify(items(), &Window::default());
    let comparison = WindowComparison::new(&keyed, &Window::default()).observe(
        &feed::Known::new(),
        feed::DocumentDates::default(),
        Time::from_secs(1_700_000_000),
        None,
        false,
    );
    comparison.window
}

fn job() -> PollJob {
    let passed = PassedDomain { domain: Domain::of(&url("https://a.org/")), at: Time::MIN };
    PollJob {
        grant: GrantId(u64::MAX),
        feed: FeedId(7),
        generation: 3,
        url: url("https://user:pass@e.org/feed?x=1"),
        validators: Validators { etag: Some(vec![0, 255, b'"']), last_modified: Some(vec![]) },
        body_hash: Some([9; 16]),
        window: Arc::new(window()),
        window_digest: None,
        send_by: Duration::new(5, 1),
        so_far: SoFar { passed: vec![passed], n_hops: 1, ..SoFar::default() },
        whole: false,
        request: Some(Box::new(RequestSettings {
            headers: vec![("x-key".to_owned(), "k".to_owned())],
            login: Some("anna:grün".to_owned()),
            insecure_tls: true,
            ..RequestSettings::default()
        })),
    }
}

fn readings() -> Vec<PollReading> {
    let validators = Validators { etag: None, last_modified: Some(b"then".to_vec()) };
    let hints = Hints { ttl: Some(Duration::from_secs(60)), ..Hints::default() };
    let title = Some("t".to_owned());
    let document = ReadDocument {
        validators: validators.clone(),
        body_hash: [255; 16],
        partial: true,
        description: FeedDescription { title, ..FeedDescription::default() },
        hints,
        items: identify(items(), &Window::default()),
        warnings: vec!["w".to_owned()],
        ..ReadDocument::default()
    };
    vec![
        PollReading::NotSent,
        PollReading::WorkerFailed,
        PollReading::NotModified { validators: validators.clone() },
        PollReading::Same { validators },
        PollReading::Moved { to: url("https://b.org/"), permanent: true },
        PollReading::Gone,
        PollReading::Refused { status: 429 },
        PollReading::Blocked { reason: "private".to_owned() },
        PollReading::Failed { trouble: Trouble::NoSuchHost, detail: "no host".to_owned() },
        PollReading::NotAFeed {
            detail: "a page".to_owned(),
            candidates: vec![url("https://b.org/feed")],
            is_damaged: false,
        },
        PollReading::Document(Box::new(document)),
        PollReading::Document(Box::default()),
    ]
}

#[test]
fn every_kind_of_job_and_result_survives_the_wire() {
    let first = PollJob { body_hash: None, window: Arc::default(), ..job() };
    for job in [job(), first] {
        let bytes = encode(&job).expect("short enough");
        assert_eq!(decode::<PollJob>(&bytes).expect("readable"), job);
    }
    for reading in readings() {
        let facts = ExchangeFacts {
            status: Some(200),
            http_version: Some(HttpVersion::Http2),
            date: Some(Time::from_secs(1)),
            max_age: Some(Duration::from_millis(1)),
            expires: Some(Time::MAX),
            retry_after: Some(RetryAfter::At(Time::from_secs(9))),
            noarchive: true,
            links: Links { hub: Some(url("https://hub.org/")), own: None },
            wire_bytes: 17,
            elapsed: Duration::from_nanos(3),
        };
        let raw = feed::RawAnswer {
            request: b"GET / HTTP/1.1\r\n".to_vec(),
            head: vec![0, 255],
            remote: Some(std::net::IpAddr::from([192, 0, 2, 1])),
            body: Some(vec![7; 3]),
        };
        let raw = Some(Box::new(raw));
        let result = PollResult { facts, raw, ..PollResult::without_exchange(job(), reading) };
        let bytes = encode(&result).expect("short enough");
        assert_eq!(decode::<PollResult>(&bytes).expect("readable"), result);
    }
}

/// A program that is older than this wish neither sends nor expects it.
#[test]
fn the_wish_for_the_beginning_of_a_file_survives_the_wire() {
    let request = ErrandRequest::beginning(500, 2000);
    let bytes = encode(&request).expect("short enough");
    assert_eq!(decode::<ErrandRequest>(&bytes).expect("readable"), request);
    let whole = String::from_utf8(encode(&ErrandRequest::file(9)).expect("short enough"));
    assert!(!whole.expect("text").contains("first_bytes"));
}

#[test]
fn another_version_or_a_long_or_broken_message_is_refused() {
    let later = WIRE_VERSION + 1;
    let future = format!(r#"{{"wire":{later},"body":{{"new":"words"}}}}"#);
    let error = decode::<PollJob>(future.as_bytes()).expect_err("a later version");
    assert!(error.to_string().contains(&format!("version {later}")), "{error}");
    let current = encode(&job()).expect("short enough");
    let older = decode_up_to::<PollJob>(WIRE_OLDEST, &current);
    assert!(matches!(older, Err(WireError::UnknownVersion(WIRE_VERSION))));
    let before = encode_as(WIRE_OLDEST, &job()).expect("short enough");
    assert_eq!(decode::<PollJob>(&before).expect("one version older"), job());
    let ancient = encode_as(oldest(WIRE_OLDEST), &job()).expect("as the program before wrote it");
    assert!(matches!(decode::<PollJob>(&ancient), Err(WireError::UnknownVersion(_))));
    assert_eq!(decode_any::<PollJob>(&ancient).expect("the form is the same"), job());
    assert_eq!([common(3, 3), common(3, 2), common(3, 4)], [Some(3), Some(2), Some(3)]);
    assert_eq!([common(3, 1), common(3, 5)], [None, None]);
    let long = vec![b' '; MESSAGE_BYTES_MAX + 1];
    assert!(matches!(decode::<PollJob>(&long), Err(WireError::TooLong(_))));
    let bodies = ["", r#","body":{"grant":-1}"#];
    let versioned = bodies.map(|body| format!(r#"{{"wire":{WIRE_VERSION}{body}}}"#));
    for broken in ["", "{}", &versioned[0], &versioned[1]] {
        let read = decode::<PollJob>(broken.as_bytes());
        assert!(matches!(read, Err(WireError::Malformed(_))), "{broken}");
    }
    let bytes = encode(&job()).expect("short enough");
    for end in [1, bytes.len() / 2, bytes.len() - 1] {
        assert!(decode::<PollJob>(&bytes[..end]).is_err(), "cut at {end}");
    }
}
