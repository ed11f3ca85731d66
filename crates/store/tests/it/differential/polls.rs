//! Calls that record polls, delete old entries, and fill the index of words.

use std::time::Duration;

use feed::{Domain, FeedId, Item, Outcome, RawAnswer, Trouble};
use futures_util::future::join_all;
use store::{
    Decision, EntryLanguage, FeedRetention, Gone, GrantRow, KEYS_AGE_MIN, LanguageOrigin,
    NewRecording, NextPoll, PendingRedirect, PollProblem, PollRecord, RecordedAnswer, Retention,
    SearchWords,
};

use super::step::{Act, Step};
use super::{Side, said};
use crate::sample::{item, seen, unchanged};

pub fn take(side: &Side, step: &Step) -> Option<String> {
    let (store, feed, now) = (&side.store, step.feed(), step.now());
    let record = |make: &dyn Fn() -> PollRecord| match store.poll_input(feed) {
        Ok(_) => said(store.record_blocking(make())),
        Err(error) => said::<()>(Err(error)),
    };
    Some(match step.act {
        Act::Poll => record(&|| polled(side, step, feed)),
        Act::PollTogether => together(side, step),
        Act::Unchanged => record(&|| unchanged(store, feed, now)),
        Act::Fail => record(&|| failed(side, step)),
        Act::StalePoll => record(&|| {
            let mut record = polled(side, step, feed);
            record.generation += 1;
            record
        }),
        Act::Gone => record(&|| {
            let mut record = unchanged(store, feed, now);
            record.outcome = Outcome::Gone;
            record.location.gone = Some(Gone { at: now, reason: step.word() });
            record
        }),
        Act::Redirect => record(&|| {
            let mut record = polled(side, step, feed);
            let to = step.url(step.n);
            if step.flag {
                record.location.effective_url = Some(to);
            } else {
                record.location.pending = Some(PendingRedirect { to, count: step.n % 3 });
            }
            record
        }),
        Act::PollDeciding => match store.poll_input(feed) {
            Ok(_) => side.wait(store.record_deciding(polled(side, step, feed), move |window| {
                let n_relevant = window.iter().flatten().filter(|entry| entry.relevant).count();
                let next = NextPoll::at(now + Duration::from_secs(n_relevant as u64));
                (Decision { next, learned: None, failures: 0 }, window)
            })),
            Err(error) => said::<()>(Err(error)),
        },
        Act::Retain => said(store.retain(&retention(step), now + Duration::from_secs(86_400))),
        Act::Index => index(side, step),
        Act::PollRecorded => record(&|| recorded(side, step)),
        Act::BeginRecording => {
            let new = NewRecording {
                started_at: now,
                ends_at: now + Duration::from_secs(9 * 86_400),
                policy: step.word(),
                user_agent: "Tidings/test".to_owned(),
                feed_bytes_max: step.flag.then_some(200),
                bytes_max: step.bit(1).then_some(2000),
            };
            said(store.begin_recording(new))
        }
        Act::EndRecording => said(store.end_recording(now)),
        Act::StoreGrants => grants(side, step),
        Act::EndGrants => {
            let numbers = vec![1, u64::from(step.n % 5)];
            side.wait(store.end_grants(side.epoch, "here", numbers, Duration::ZERO))
        }
        _ => return None,
    })
}

/// Stores requests under way. Some have ended already. The epochs of the databases differ.
fn grants(side: &Side, step: &Step) -> String {
    let number = u64::from(step.n % 5);
    let row = GrantRow {
        number,
        domain: Domain::from_stored("d1.example"),
        terminal: if step.flag { "here" } else { "there" }.to_owned(),
    };
    let life = Duration::from_secs(if step.bit(3) { 900 } else { 0 });
    let ended = vec![number, number + 1];
    let stored = side.wait(side.store.store_grants(side.epoch, Vec::new(), ended, life));
    let stored = stored + &side.wait(side.store.store_grants(side.epoch, vec![row], vec![], life));
    stored + &side.wait(side.store.remove_ended_grants())
}

/// A poll whose messages are kept.
fn recorded(side: &Side, step: &Step) -> PollRecord {
    let mut record = polled(side, step, step.feed());
    let answer = RawAnswer {
        request: b"GET / HTTP/1.1\r\n".to_vec(),
        head: step.word.as_bytes().to_vec(),
        remote: step.flag.then(|| [192, 0, 2, 1].into()),
        body: (!step.n.is_multiple_of(3)).then(|| vec![0, step.n as u8 % 4, 255]),
    };
    let (url, hops) = (step.url(step.n).as_str().to_owned(), step.n % 2);
    record.raw = Some(Box::new(RecordedAnswer { url, hops, answer }));
    record
}

/// A document with some of nine items. Their texts depend on the step, so that entries change.
fn polled(side: &Side, step: &Step, feed: FeedId) -> PollRecord {
    let mut record = seen(&side.store, feed, &items(step, feed), step.now());
    let document = record.document_mut();
    document.facts.title = step.some_word().map(str::to_owned);
    document.facts.language = step.flag.then(|| "de".to_owned());
    document.facts.icon = step.bit(2).then(|| "https://d1.example/icon.png".to_owned());
    for new in &mut document.entries.new {
        new.facts.wants_article = step.bit(9);
        new.facts.topic = step.bit(10).then_some(11);
        new.facts.language = step.bit(11).then(|| EntryLanguage {
            tag: "de-AT".to_owned(),
            source: LanguageOrigin::Detected,
            confidence_permille: Some(990),
        });
    }
    if step.n.is_multiple_of(3) {
        document.facts.hub = Some("https://hub.example/".to_owned());
        document.facts.topic = Some(step.url(feed.0).as_str().to_owned());
    }
    record.exchange.status = Some(200);
    record.exchange.bytes = u64::from(step.n % 5000);
    record.warnings = if step.flag { vec![step.word()] } else { Vec::new() };
    record.decision.learned = step.flag.then(|| step.n.to_le_bytes().to_vec());
    record.decision.next.why.reason = Some(step.word());
    record.cause = step.some_word().map(str::to_owned);
    record
}

fn items(step: &Step, feed: FeedId) -> Vec<Item> {
    let version = if step.n.is_multiple_of(4) { step.word } else { "" };
    (0..9)
        .filter(|n| step.n >> n & 1 == 1)
        .map(|n| {
            let mut item = item(&format!("{feed}-{n}"), &format!("Alpha {n} {version}"));
            item.link = (n % 2 == 0).then(|| format!("https://d{}.example/e{n}", feed.0 % 3));
            item.content = step.flag.then(|| format!("<p>{} {n}</p>", step.word));
            item.categories = if n % 3 == 0 { vec![step.word()] } else { Vec::new() };
            item.published = (n % 4 != 0).then(|| step.now() - Duration::from_secs(n * 3600));
            item
        })
        .collect()
}

/// Records polls of several feeds at once, one of them twice: the second one is stale.
fn together(side: &Side, step: &Step) -> String {
    let feeds = [1, 2, 3, 4, 2].map(FeedId);
    let known = feeds.into_iter().filter(|feed| side.store.poll_input(*feed).is_ok());
    let records: Vec<PollRecord> = known.map(|feed| polled(side, step, feed)).collect();
    let calls = records.into_iter().map(|record| side.store.record(record));
    let answers = side.runtime.block_on(join_all(calls));
    answers.into_iter().map(said).collect::<Vec<_>>().join("; ")
}

fn failed(side: &Side, step: &Step) -> PollRecord {
    let mut record = unchanged(&side.store, step.feed(), step.now());
    record.outcome = if step.flag { Outcome::Failed } else { Outcome::Damaged };
    let trouble = step.flag.then_some(Trouble::Connect);
    record.problem = Some(PollProblem { error: step.word(), trouble });
    record.exchange.status = Some(500);
    record.decision.failures = step.n % 4;
    record.decision.next.at = step.now() + Duration::from_secs(u64::from(step.n % 90_000));
    record
}

fn retention(step: &Step) -> Retention {
    let days = |n: u32| Duration::from_secs(u64::from(n) * 86_400);
    let some = |bit: u32| step.n >> bit & 1 == 1;
    let own = FeedRetention { entries_age_max: None, entries_max: Some(u64::from(step.n % 3)) };
    Retention {
        entries_age_max: some(0).then(|| days(step.n % 30)),
        entries_per_feed_max: some(1).then_some(u64::from(step.n % 5)),
        entries_max: some(2).then_some(u64::from(step.n % 12)),
        keys_age_max: some(3).then_some(KEYS_AGE_MIN),
        per_feed: if some(4) { [(step.feed(), own)].into() } else { [].into() },
    }
}

/// Indexes some of the entries that wait for it, as the engine does.
fn index(side: &Side, step: &Step) -> String {
    let limit = 1 + step.n % 20;
    let waiting = match side.store.unindexed(limit) {
        Ok(waiting) => waiting,
        Err(error) => return said::<()>(Err(error)),
    };
    let folded = |text: &Option<String>| {
        let text = text.clone().unwrap_or_default().to_lowercase();
        text.split(|c: char| !c.is_alphanumeric()).collect::<Vec<_>>().join(" ")
    };
    let words = waiting.iter().map(|row| SearchWords {
        entry: row.id,
        edited_at: row.edited_at,
        title: folded(&row.title),
        body: folded(&row.content),
        article_at: None,
    });
    let done = side.wait(side.store.index(words.collect()));
    format!("{waiting:?} {done}")
}
