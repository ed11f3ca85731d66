//! The page with made-up feeds, for work on templates: `cargo run -p api --example preview -- PORT
//! [FEEDS]`. It has no network and no engine, and its clock stands still.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use api::{EngineState, ServerContext};
use feed::{
    DocumentDates, FeedId, FeedUrl, Item, Known, Outcome, Sighting, Time, Window, WindowComparison,
    identify, repair,
};
use store::{
    FeedFacts, Gone, NewEntry, NewFeed, OpenMode, PollProblem, PollRecord, SettingsChange, Store,
};

const HOUR: Duration = Duration::from_secs(3600);
const TITLES: [&str; 12] = [
    "Amber Gazette",
    "Birch Notebook",
    "The Cobalt Review of Rather Long and Winding Titles",
    "Delta Field Notes",
    "Ember Weekly",
    "Flint & Co.",
    "Granite Observer",
    "Harbour Times",
    "Indigo <Journal>",
    "Juniper Kitchen",
    "Lantern Dispatch",
    "Quiet Almanac",
];

const SUMMARY: &str = "<p>It began with a question that <b>nobody</b> could answer. \
    <a href='/about'>Who asked?</a></p><script>alert(1)</script>\
    <p>There are three ways to do it, and two of them work.</p><img src=x alt='A chart'>";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().unwrap_or("8090".to_owned()).parse()?;
    let feeds: u32 = arguments.next().unwrap_or("60".to_owned()).parse()?;
    let now: Time = "2011-08-01T14:20:00Z".parse()?;
    let folder = tempfile::tempdir()?;
    let store = Store::open(folder.path(), OpenMode::ReadWrite)?;
    fill(&store, feeds, now).await?;
    let live = EngineState {
        not_ready: None,
        polls_elsewhere: false,
        demo: true,
        started_at: now - HOUR * 50,
        in_flight: 3,
        waiting: 2,
        outage: None,
        lacking_regions: Vec::new(),
        polls_total: 12_345,
        polls_failed_total: 321,
        polls_last_hour: 412,
        entries_total: 2345,
        bytes_total: 98_765_432,
    };
    let live = Arc::new(move || live.clone());
    let context = ServerContext::new(store, Arc::new(move || now), live, "0.1.0")?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}", listener.local_addr()?);
    let end = async {
        // Without a signal there is nothing to wait for.
        let _ = tokio::signal::ctrl_c().await;
    };
    Ok(api::serve(listener, api::router(context), end).await?)
}

async fn fill(store: &Store, feeds: u32, now: Time) -> Result<(), Box<dyn Error>> {
    let new: Vec<NewFeed> = (0..feeds)
        .map(|n| {
            let secret = if n == 5 { "?token=hunter2" } else { "" };
            let url = format!("https://site{:02}.example/blog/feed-{n}.xml{secret}", n % 40);
            let tags = if n % 3 == 0 { vec!["news/local".to_owned()] } else { vec![] };
            Ok(NewFeed { url: FeedUrl::parse(&url)?, title: None, site: None, tags })
        })
        .collect::<Result<_, feed::AddressError>>()?;
    let mut lives = tokio::task::JoinSet::new();
    for (n, added) in (0..).zip(store.add_feeds(&new, now - HOUR * 24 * 40)?) {
        // Large populations are for measuring the list: their history is short.
        let polls = if feeds > 1000 { 1 } else { 30 + n * 7 % 100 };
        if n % 17 != 16 {
            lives.spawn(play(store.clone(), added.id, n, polls, now));
        }
        if n % 19 == 18 {
            let pause = SettingsChange { paused: Some(Some(true)), ..SettingsChange::default() };
            store.set_feed(added.id, &pause)?;
        }
    }
    while let Some(life) = lives.join_next().await {
        life??;
    }
    Ok(())
}

/// Adds a few days of one feed's history.
async fn play(
    store: Store,
    id: FeedId,
    n: u32,
    polls: u32,
    now: Time,
) -> Result<(), store::StoreError> {
    let every = Duration::from_secs(u64::from(600 + n * 577 % 9000));
    let mut window = Window::default();
    let mut failures = 0;
    for k in 0..polls {
        let at = (now - every * (polls - k)) + Duration::from_secs(u64::from(k * 37 % 300));
        let last = k + 1 == polls;
        let (outcome, status, error) = fate(n, k, last);
        failures = if outcome.is_success() { 0 } else { failures + 1 };
        let next_at = at + every * (1 + failures.min(6));
        let mut record = PollRecord::empty(id, k, at, outcome, next_at);
        if outcome == Outcome::Seen {
            let published = |e: u32| {
                let ago = u64::from((polls * 2 - e) * (900 + n * 311 % 5000));
                now - Duration::from_secs(ago)
            };
            let items: Vec<Item> = (0..polls * 2)
                .filter(|e| published(*e) <= at)
                .map(|e| item(n, e, published(e)))
                .collect();
            window = see(&mut record, &window, &items[items.len().saturating_sub(10)..], n);
        }
        record.exchange.status = status;
        record.problem = error.map(PollProblem::new);
        record.decision.failures = failures;
        record.exchange.elapsed = Duration::from_millis(u64::from(80 + k * 13 % 400));
        record.decision.next.wanted_at = Some(at + every);
        record.cause = Some("its time had come".to_owned());
        record.decision.next.why.reason = Some(format!(
            "mavsync: the mean gap of the last 10 entries is {} min",
            every.as_secs() / 60
        ));
        record.decision.next.why.held = (failures > 0).then(|| {
            format!("after {failures} failures in a row the interval is doubled each time")
        });
        record.location.gone = (outcome == Outcome::Gone)
            .then(|| Gone { at, reason: "the server answers 410 Gone".to_owned() });
        store.record(record).await?;
    }
    Ok(())
}

/// Records a poll, and returns the window after it.
fn see(record: &mut PollRecord, window: &Window, shown: &[Item], n: u32) -> Window {
    let (at, dates) = (record.at, DocumentDates::default());
    let keyed = identify(shown.to_vec(), window);
    let seen = WindowComparison::new(&keyed, window).observe(&Known::new(), dates, at, None, false);
    let new = seen.sightings.iter().filter(|s| s.1 == Sighting::New);
    record.document_mut().entries.new = new
        .map(|(index, _, entry)| NewEntry {
            key: entry.key,
            published: repair(&shown[*index], dates, at, None),
            item: shown[*index].clone(),
            content: entry.content,
            facts: store::EntryFacts::default(),
        })
        .collect();
    record.document_mut().entries.window = Some(seen.window.clone());
    record.document_mut().facts = FeedFacts {
        title: Some(TITLES[n as usize % TITLES.len()].to_owned()),
        site: Some(format!("https://site{:02}.example/", n % 40)),
        language: Some("en".to_owned()),
        ..FeedFacts::default()
    };
    record.exchange.bytes = 17_000 + u64::from(n) * 311;
    seen.window
}

fn fate(n: u32, k: u32, last: bool) -> (Outcome, Option<u16>, Option<String>) {
    let recent = last || k % 23 == 21;
    match (n % 13, recent) {
        (3, true) => {
            (Outcome::Failed, Some(404), Some("the server answers 404 Not Found".to_owned()))
        }
        (7, true) if n % 2 == 1 => (
            Outcome::Refused,
            Some(503),
            Some("the server answers 503 and asks to wait 2 h".to_owned()),
        ),
        (9, true) => {
            (Outcome::Failed, None, Some("timed out after 30 s while connecting".to_owned()))
        }
        (11, true) if n % 3 == 2 && last => (Outcome::Gone, Some(410), None),
        _ if k % 3 == 1 => (Outcome::Unchanged, Some(304), None),
        _ => (Outcome::Seen, Some(200), None),
    }
}

fn item(n: u32, e: u32, published: Time) -> Item {
    Item {
        id: Some(format!("urn:{n}:{e}")),
        title: Some(format!("Notes on slow trains, part {e} &amp; more")),
        link: Some(format!("https://site{:02}.example/{e}", n % 40)),
        author: Some("Ada Brook".to_owned()),
        published: (n % 4 != 2).then_some(published),
        summary: Some(SUMMARY.to_owned()),
        ..Item::default()
    }
}
