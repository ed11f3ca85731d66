//! Tests of records: what the store keeps of a reading, and when the next poll is.

mod clusters;
mod damaged;
mod weights;

use std::sync::LazyLock;

use feed::{FeedId, FeedUrl, Item, Known, WindowComparison, identify};
use store::{
    FeedLocation, KnownDocument, LayeredSettings, PendingRedirect, PollHistory, StoredPace,
    StoredSchedule, StoredValidators,
};

use super::*;

const NOW: Time = Time::from_secs(1_700_000_000);

fn input() -> PollInput {
    let url = FeedUrl::parse("https://example.org/feed").expect("a URL");
    let of = Some(source(url.url()));
    PollInput {
        id: FeedId(1),
        generation: 4,
        added_at: NOW,
        location: FeedLocation { url, effective_url: None, pending: None, gone: None },
        document: KnownDocument {
            validators: StoredValidators {
                etag: Some(b"\"old\"".to_vec()),
                last_modified: None,
                of,
            },
            ..KnownDocument::default()
        },
        learned: Vec::new(),
        settings: LayeredSettings::default(),
        history: PollHistory::default(),
        schedule: StoredSchedule::default(),
        share: None,
        readers: None,
        push: None,
    }
}

fn run<'a>(
    input: &'a PollInput,
    reading: JudgedReading,
    adjust: impl FnOnce(&mut PollFacts<'a>),
) -> Concluded {
    static FACTS: LazyLock<fetch::ExchangeFacts> = LazyLock::new(fetch::ExchangeFacts::default);
    let mut poll = poll(input.location.url.url(), &FACTS);
    adjust(&mut poll);
    conclude(input, reading, &poll, &Settings::new(), None)
}

fn poll<'a>(url: &'a Url, facts: &'a fetch::ExchangeFacts) -> PollFacts<'a> {
    PollFacts {
        cause: None,
        at: NOW,
        ended: NOW,
        url,
        permanent: false,
        passed: &[],
        bytes: 10,
        elapsed: Duration::ZERO,
        facts,
        pace: None,
    }
}

fn failed(our_network: bool) -> JudgedReading {
    let (kind, detail) = (Trouble::Connect, "connection refused".to_owned());
    JudgedReading::Failed { kind, detail, our_network, candidates: vec![] }
}

fn document(ids: &[&str]) -> JudgedReading {
    let items: Vec<Item> = ids
        .iter()
        .map(|id| Item {
            id: Some((*id).to_owned()),
            published: Some(NOW - Duration::from_secs(600)),
            ..Item::default()
        })
        .collect();
    let document = ReadDocument { items: identify(items, &Window::default()), ..read_document() };
    observed(&Window::default(), document)
}

/// A document that brings new validators.
fn read_document() -> ReadDocument {
    ReadDocument {
        validators: fetch::Validators { etag: Some(b"\"new\"".to_vec()), last_modified: None },
        body_hash: [7; 16],
        ..ReadDocument::default()
    }
}

/// The document compared with a window.
fn observed(window: &Window, document: ReadDocument) -> JudgedReading {
    let dates = DocumentDates::default();
    let observed = WindowComparison::new(&document.items, window);
    let observed = observed.observe(&Known::new(), dates, NOW, None, false);
    JudgedReading::Document { document: Box::new(document), observed, dates }
}

#[test]
fn validators_and_entries_travel_in_one_record() {
    let done = run(&input(), document(&["a", "b"]), |_| ());
    let kept = done.record.document().expect("a document");
    assert_eq!(kept.entries.new.len(), 2);
    let validators = kept.validators.clone();
    assert_eq!(validators.etag.as_deref(), Some(&b"\"new\""[..]));
    assert_eq!(done.record.generation, 4);
    assert_eq!(done.finished.generation, 5);
}

#[test]
fn a_304_without_validators_keeps_the_old_ones() {
    let reading = JudgedReading::Unchanged { validators: fetch::Validators::default() };
    let done = run(&input(), reading, |_| ());
    assert_eq!(done.record.validators(), None);
    assert_eq!(done.record.outcome, Outcome::Unchanged);
}

#[test]
fn validators_belong_to_the_url_that_gave_them() {
    let (mut input, other) = (input(), Url::parse("https://example.net/feed").expect("a URL"));
    let sent = |input: &PollInput, url: &Url| validators(input, url).etag.is_some();
    assert!(sent(&input, input.location.url.url()) && !sent(&input, &other));
    // The same document from another address: the old validators mean nothing there.
    let last_modified = Some(b"Tue, 14 Nov 2023 22:13:20 GMT".to_vec());
    let fresh = fetch::Validators { etag: None, last_modified };
    let reading = JudgedReading::Unchanged { validators: fresh };
    let done = run(&input, reading, |poll| poll.url = &other);
    input.document.validators = done.record.validators().expect("those of the other URL").clone();
    assert_eq!(input.document.validators.etag, None);
    assert!(validators(&input, input.location.url.url()).is_empty());
    assert!(validators(&input, &other).last_modified.is_some());
    // Validators from before their URL was stored.
    input.document.validators.of = None;
    assert!(!validators(&input, input.location.url.url()).is_empty());
}

#[test]
fn failures_back_off_and_success_forgives_them() {
    let mut input = input();
    let mut waits = Vec::new();
    for failures in 0..20 {
        input.history.failures = failures;
        let done = run(&input, failed(false), |_| ());
        assert_eq!(done.record.decision.failures, failures + 1);
        waits.push(done.record.decision.next.at.since(NOW));
    }
    assert!(waits.windows(2).all(|w| w[0] <= w[1] + Duration::from_secs(600)));
    assert_eq!(waits[19], Duration::from_secs(86_400), "at most a day, never for good");
    assert_eq!(run(&input, document(&["a"]), |_| ()).record.decision.failures, 0);
}

#[test]
fn a_change_of_settings_leaves_the_publishers_hints_in_force() {
    let (hour, now) = (Duration::from_secs(3600), NOW + Duration::from_secs(60));
    let settings = Settings { policy: "fix:10m".parse().expect("a policy"), ..Settings::new() };
    let rule: BudgetRule = "60/1h".parse().expect("a rule");
    let mut input = input();
    input.history.last_poll_at = Some(NOW);
    let next = |input: &PollInput| {
        let replan = replanned(input, &settings, now);
        let from = budgeted(&rule, input, &settings).expect("under the budget").from;
        (replan.next_at.since(NOW).as_secs(), replan.held.is_some(), from.since(NOW).as_secs())
    };
    assert_eq!(next(&input), (600, false, 300));
    input.document.hints.ttl = Some(hour);
    assert_eq!(next(&input), (3600, true, 3600));
}

#[test]
fn a_promised_delay_binds_the_budget_and_no_server() {
    let rule: BudgetRule = "60/1h".parse().expect("a rule");
    let mut input = input();
    input.settings.own.max_delay = Some(Duration::from_secs(600));
    let facts = fetch::ExchangeFacts::default();
    let url = input.location.url.url().clone();
    let poll = poll(&url, &facts);
    let mut latest = |failures, reading| {
        input.history.failures = failures;
        let done = conclude(&input, reading, &poll, &Settings::new(), Some(&rule));
        let budgeted = done.finished.budgeted.expect("under the budget");
        (
            budgeted.latest.expect("promised").since(NOW).as_secs(),
            done.record.decision.next.at.since(NOW),
        )
    };
    assert_eq!(latest(0, document(&["a"])).0, 600);
    let (promised, backoff) = latest(19, failed(false));
    assert_eq!(promised, backoff.as_secs(), "a server that fails is left alone");
    assert!(promised > 80_000, "{promised}");
    (input.history.last_poll_at, input.history.failures) = (Some(NOW), 3);
    input.schedule.next_at = Some(NOW + Duration::from_secs(7200));
    let kept = budgeted(&rule, &input, &Settings::new()).expect("under the budget");
    assert_eq!(kept.latest, input.schedule.next_at, "also over a restart");
}

#[test]
fn a_feed_that_backs_off_keeps_its_time_and_the_reason_for_it() {
    let mut input = input();
    (input.history.last_poll_at, input.history.failures) = (Some(NOW), 3);
    let at = NOW + Duration::from_secs(7200);
    (input.schedule.next_at, input.schedule.why.held) =
        (Some(at), Some("it failed 3 times in a row".to_owned()));
    input.schedule.why.cause = Some("retry after 3 failures".to_owned());
    let replan = replanned(&input, &Settings::new(), NOW);
    assert_eq!(
        (replan.next_at, replan.held, Some(replan.cause)),
        (at, input.schedule.why.held, input.schedule.why.cause)
    );
}

#[test]
fn a_poll_is_recorded_with_its_reason() {
    let mut input = input();
    let cause = |input: &PollInput| run(input, document(&["a"]), |_| ()).record.cause;
    assert_eq!(cause(&input).as_deref(), Some("first"));
    (input.schedule.next_at, input.schedule.why.cause) =
        (Some(NOW), Some("fix u=3600s".to_owned()));
    assert_eq!(cause(&input).as_deref(), Some("fix u=3600s"));
    input.schedule.next_at = Some(NOW + Duration::from_secs(1));
    assert_eq!(cause(&input).as_deref(), Some("asked"), "it came before its time");
}

#[test]
fn nobody_is_blamed_for_our_network() {
    let done = run(&input(), failed(true), |_| ());
    assert_eq!(done.record.decision.failures, 0);
    assert!(done.record.decision.next.at.since(NOW) <= Duration::from_secs(60));
}

#[test]
fn retry_after_moves_the_next_poll() {
    let until = NOW + Duration::from_secs(30 * 3600);
    let pace = DomainPace { not_before: Some(until), ..DomainPace::default() };
    let reading = JudgedReading::Refused { kind: Trouble::Status, detail: "429".to_owned() };
    let done = run(&input(), reading, |poll| poll.pace = Some(pace));
    assert_eq!(done.record.decision.next.at, until);
    assert_eq!(done.record.exchange.paces[0].not_before, Some(until));
}

#[test]
fn expires_counts_from_the_servers_own_clock_and_only_without_a_max_age() {
    let hours = |n: u64| Duration::from_secs(n * 3600);
    let mut input = input();
    input.settings.own.policy = Some("fix:1h".to_owned());
    let wait = |date: Time, expires: Time, max_age| {
        let (date, expires) = (Some(date), Some(expires));
        let facts =
            fetch::ExchangeFacts { date, expires, max_age, ..fetch::ExchangeFacts::default() };
        let done = run(&input, document(&["a"]), |poll| poll.facts = &facts);
        done.record.decision.next.at.since(NOW)
    };
    assert_eq!(wait(NOW, NOW + hours(3), None), hours(3));
    let ahead = NOW + hours(9);
    assert_eq!(wait(ahead, ahead, None), hours(1), "its clock is nine hours ahead of ours");
    assert_eq!(wait(ahead, ahead + hours(3), None), hours(3));
    assert_eq!(wait(NOW - hours(9), NOW - hours(6), None), hours(3));
    assert_eq!(wait(NOW, NOW + hours(3), Some(hours(2))), hours(2), "RFC 9111, 5.3");
}

#[test]
fn gone_ends_polling_with_a_reason() {
    let done = run(&input(), JudgedReading::Gone, |_| ());
    assert_eq!(done.finished.next_at, None);
    assert!(done.record.location.gone.is_some_and(|g| g.reason.contains("410")));
}

#[test]
fn a_permanent_redirect_is_remembered_only_when_it_repeats() {
    let to = Url::parse("https://other.example/feed").expect("a URL");
    let mut input = input();
    let before = input.clone();
    let first = run(&before, document(&["a"]), |poll| (poll.url, poll.permanent) = (&to, true));
    assert_eq!(first.record.location.effective_url, None);
    input.location.pending = first.record.location.pending;
    assert_eq!(input.location.pending.as_ref().map(|m: &PendingRedirect| m.count), Some(1));
    let second = run(&input, document(&["a"]), |poll| (poll.url, poll.permanent) = (&to, true));
    assert_eq!(
        second.record.location.effective_url.map(|u| u.as_str().to_owned()),
        Some(to.to_string())
    );
    assert_eq!(second.finished.domain, Some(Domain::from_stored("other.example")));
    let temporary = run(&input, document(&["a"]), |poll| poll.url = &to);
    assert_eq!(
        (temporary.record.location.effective_url, temporary.record.location.pending),
        (None, None)
    );
}

#[test]
fn a_remembered_redirect_that_leads_nowhere_is_forgotten() {
    let mut input = input();
    input.location.effective_url = FeedUrl::parse("https://other.example/feed").ok();
    input.history.failures = 2;
    let done = run(&input, failed(false), |_| ());
    assert_eq!(done.record.location.effective_url, Some(input.location.url));
}

#[test]
fn a_document_that_breaks_off_is_asked_for_whole_the_next_time() {
    let JudgedReading::Document { mut document, observed, dates } = document(&["a", "b"]) else {
        panic!("it is one");
    };
    document.is_cut_off = true;
    let body_hash = document.body_hash;
    let reading = JudgedReading::Document { document, observed, dates };
    let done = run(&input(), reading, |_| ());
    let kept = done.record.document().expect("a document");
    assert_eq!(kept.entries.new.len(), 2, "the entries that came are kept");
    assert_eq!(kept.validators, StoredValidators::default(), "304 would hide the rest");
    assert_ne!(kept.body_hash, body_hash);
}

#[test]
fn gone_from_where_it_moved_to_is_not_yet_gone() {
    let mut input = input();
    input.location.effective_url = FeedUrl::parse("https://other.example/feed").ok();
    let facts = fetch::ExchangeFacts { status: Some(410), ..fetch::ExchangeFacts::default() };
    let done = run(&input, JudgedReading::Gone, |poll| poll.facts = &facts);
    assert_eq!(done.record.location.gone, None, "the publisher may have moved again");
    assert_eq!(done.record.outcome, Outcome::Failed);
    assert_eq!(done.record.location.effective_url.as_ref(), Some(&input.location.url));
    assert_eq!(done.finished.domain, Some(Domain::from_stored("example.org")));
    assert!(done.finished.next_at.is_some());
    input.location.effective_url = done.record.location.effective_url;
    assert!(run(&input, JudgedReading::Gone, |_| ()).record.location.gone.is_some(), "now it is");
}

#[test]
fn no_hub_is_told_the_secret_of_a_feed() {
    let hub = |url: &str| {
        let JudgedReading::Document { mut document, observed, dates } = document(&["a"]) else {
            panic!("it is one");
        };
        document.description.hub = Some("https://hub.example/".to_owned());
        document.description.self_link = Some(url.to_owned());
        let reading = JudgedReading::Document { document, observed, dates };
        let url = Url::parse(url).expect("a URL");
        let done = run(&input(), reading, |poll| poll.url = &url);
        done.record.document().expect("a document").facts.topic.clone()
    };
    assert!(hub("https://example.org/feed?page=1").is_some());
    assert_eq!(hub("https://me:pw@example.org/feed"), None);
    assert_eq!(hub("https://example.org/feed?token=s3cret"), None);
}

#[test]
fn the_feeds_own_settings_win_over_its_tags_and_those_over_the_default() {
    let mut input = input();
    let tag = store::Settings { policy: Some("fix:2h".to_owned()), ..Default::default() };
    input.settings.of_tags = vec![("news".to_owned(), tag)];
    let wait = |input: &PollInput| {
        run(input, document(&["a"]), |_| ()).record.decision.next.at.since(NOW).as_secs()
    };
    assert_eq!(wait(&input), 7200);
    input.settings.own.policy = Some("fix:3h".to_owned());
    assert_eq!(wait(&input), 10_800);
    input.settings.own.max_delay = Some(Duration::from_secs(600));
    assert_eq!(wait(&input), 600, "a promise of the longest delay is the longest interval");
}

#[test]
fn a_paused_feed_that_was_asked_for_is_not_polled_again_by_itself() {
    let mut input = input();
    input.settings.paused = true;
    assert_eq!(run(&input, document(&["a"]), |_| ()).finished.next_at, None);
}

#[test]
fn a_request_under_way_at_a_restart_keeps_its_gap() {
    let stored = |ago: u64| StoredPace {
        domain: Domain::from_stored("example.org"),
        last_request_at: Some(NOW - Duration::from_secs(ago)),
        not_before: Some(NOW - Duration::from_secs(1)),
        reason: None,
    };
    assert_eq!(stored_pace(&stored(30), NOW).last_request_end, Some(NOW));
    assert_eq!(stored_pace(&stored(90), NOW), DomainPace::default());
}

#[test]
fn a_budget_counts_only_what_queries_want_of_a_feed() {
    let rule: BudgetRule = "60/1h two-steps".parse().unwrap();
    let unread = rule.tracked(&input());
    assert_eq!(unread.selectivity, 1.0, "no query reads it");
    let share = Some(store::RelevantShare { seen: 99.0, kept: 19.0 });
    let read = rule.tracked(&PollInput { share, ..input() });
    assert_eq!(read.selectivity, 0.2);
}
