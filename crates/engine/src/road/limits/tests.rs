//! Results at the limits and beyond them.

use dispatch::GrantId;
use feed::{Domain, EntryKey, FeedId, KeyedItem};

use super::*;

fn terms() -> LookTerms {
    let fetch = fetch::Settings::new("https://example.org/");
    let parse = parse::Limits { field_bytes_max: 100_000, ..parse::Limits::default() };
    terminal::look_terms(&fetch, &parse, false)
}

fn result(reading: PollReading) -> PollResult {
    PollResult::bare(GrantId(1), FeedId(1), 0, SoFar::default(), reading)
}

fn document(document: ReadDocument) -> PollReading {
    PollReading::Document(Box::new(document))
}

fn with_item(item: Item) -> PollReading {
    let key = EntryKey::from_bytes([1; 16]);
    let items = vec![KeyedItem { key, content: 1, link: 1, item: Some(item) }];
    document(ReadDocument { items, ..ReadDocument::default() })
}

fn is_held(reading: PollReading) -> bool {
    let mut held = result(reading);
    let why = hold(&mut held, &terms());
    let is_failure = matches!(held.reading, PollReading::Failed { trouble: Trouble::TooLarge, .. });
    assert_eq!(why.is_some(), is_failure);
    is_failure
}

#[test]
fn every_part_of_a_document_is_held_to_its_limit() {
    let long = || Some("x".repeat(400_001));
    for item in [
        Item { id: long(), ..Item::default() },
        Item { link: long(), ..Item::default() },
        Item { author: long(), ..Item::default() },
        Item { content: long(), ..Item::default() },
        Item { categories: vec![String::new(); 501], ..Item::default() },
        Item { published: Some(Time::from_millis(i64::MIN)), ..Item::default() },
    ] {
        assert!(is_held(with_item(item)));
    }
    let warnings = vec![String::new(); 201];
    assert!(is_held(document(ReadDocument { warnings, ..ReadDocument::default() })));
    let mut described = ReadDocument::default();
    described.description.icon = long();
    assert!(is_held(document(described)));
    let page = Url::parse("https://example.org/").expect("a URL");
    let candidates = vec![page; 201];
    let detail = String::new();
    assert!(is_held(PollReading::NotAFeed { detail, candidates, is_damaged: false }));
    assert!(is_held(PollReading::Blocked { reason: "x".repeat(20_000) }));
    let usual = Some("x".repeat(400_000));
    let usual = Item { content: usual, published: Some(Time::MAX), ..Item::default() };
    assert!(!is_held(with_item(usual)));
    assert!(!is_held(PollReading::Gone));
}

#[test]
fn figures_stay_in_the_range_of_sums() {
    let mut claimed = result(PollReading::Gone);
    (claimed.elapsed, claimed.held) = (Duration::MAX, Duration::MAX);
    (claimed.so_far.bytes, claimed.so_far.elapsed) = (u64::MAX, Duration::MAX);
    assert_eq!(hold(&mut claimed, &terms()), None);
    assert!(claimed.elapsed.checked_add(claimed.held).is_some());
    assert!(
        i64::try_from(claimed.so_far.bytes).is_ok_and(|bytes| bytes.checked_mul(100).is_some())
    );
    assert_eq!(claimed.so_far.elapsed, TIME_MAX);
}

#[test]
fn a_result_with_too_many_redirects_is_a_failure() {
    let at = Time::from_secs(1);
    let passed = dispatch::PassedDomain { domain: Domain::from_stored("a.example"), at };
    for so_far in [
        SoFar { n_hops: u32::MAX, ..SoFar::default() },
        SoFar { passed: vec![passed; 6], ..SoFar::default() },
    ] {
        let mut claimed = PollResult { so_far, ..result(PollReading::Gone) };
        assert!(hold(&mut claimed, &terms()).is_some());
        assert_eq!(claimed.so_far, SoFar::default());
    }
}

#[test]
fn headers_and_recordings_are_held_to_the_limits_of_an_exchange() {
    let long = |n_bytes: usize| Url::parse(&format!("http://a.example/{}", "x".repeat(n_bytes)));
    let validators = |n_bytes| Validators { etag: Some(vec![b'x'; n_bytes]), last_modified: None };
    assert!(!is_held(PollReading::Same { validators: validators(2048) }));
    assert!(is_held(PollReading::NotModified { validators: validators(2049) }));
    let document = ReadDocument { validators: validators(2049), ..ReadDocument::default() };
    assert!(is_held(self::document(document)));
    let moved = |n_bytes| {
        let to = long(n_bytes).expect("a URL");
        PollReading::Moved { to, permanent: true }
    };
    assert!(!is_held(moved(8000)) && is_held(moved(URL_BYTES_MAX)));
    let mut held = result(PollReading::Gone);
    held.facts.wire_bytes = u64::MAX;
    held.facts.links.hub = long(URL_BYTES_MAX).ok();
    let body = Some(vec![0; terms().fetch.body_bytes_max + 1]);
    held.raw = Some(Box::new(RawAnswer { body, ..RawAnswer::default() }));
    assert_eq!(hold(&mut held, &terms()), None);
    assert_eq!((held.facts.wire_bytes, held.facts.links.hub, held.raw), (BYTES_MAX, None, None));
}

#[test]
fn the_answer_to_an_errand_is_held_to_the_same_limits() {
    let held = |reading| hold_errand(&mut ErrandResult::bare(GrantId(1), reading)).is_some();
    let text = |n_bytes: usize| "x".repeat(n_bytes);
    assert!(held(ErrandReading::Blocked { reason: text(DETAIL_BYTES_MAX + 1) }));
    assert!(!held(ErrandReading::Blocked { reason: text(100) }));
    let to = Url::parse(&format!("http://a.example/{}", text(URL_BYTES_MAX))).ok();
    assert!(held(ErrandReading::Posted { status: 307, retry_after: None, to }));
}
