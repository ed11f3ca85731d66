//! Lists of feeds: states, orders, filters, pages.

use feed::{FeedUrl, Outcome};

use std::time::Duration;

use super::*;
use crate::{Gone, NewFeed, OpenMode, PollProblem, PollRecord, SettingsChange};

const NOW: Time = Time::from_secs(1_310_792_400);

struct Filled {
    store: Store,
    _folder: tempfile::TempDir,
}

/// Feeds 1 to 5: active, backing off, gone, paused by its tag, never polled.
fn filled() -> Filled {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(crate::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let names = ["b_ta", "Alpha", "gamma", "delta", "omega"];
    for name in names {
        let url = FeedUrl::parse(&format!("https://{name}.example/f?token=x")).unwrap();
        let tags = if name == "delta" { vec!["Rest".to_owned()] } else { vec![] };
        let new = NewFeed { url, title: Some(format!("{name} 100%")), site: None, tags };
        store.add_feed(&new, NOW).unwrap();
    }
    let at = |s: u64| NOW + Duration::from_secs(s);
    let mut record = PollRecord::empty(FeedId(1), 0, at(1), Outcome::Unchanged, at(100));
    record.exchange.status = Some(304);
    store.record_blocking(record).unwrap();
    let mut record = PollRecord::empty(FeedId(2), 0, at(2), Outcome::Failed, at(50));
    record.decision.failures = 3;
    record.problem = Some(PollProblem::new("it broke"));
    record.exchange.status = Some(500);
    store.record_blocking(record).unwrap();
    let mut record = PollRecord::empty(FeedId(3), 0, at(3), Outcome::Gone, at(10));
    record.location.gone = Some(Gone { at: at(3), reason: "410".to_owned() });
    store.record_blocking(record).unwrap();
    let pause = SettingsChange { paused: Some(Some(true)), ..SettingsChange::default() };
    store.set_tag("Rest", &pause).unwrap();
    Filled { store, _folder: folder }
}

fn all() -> FeedListFilter {
    FeedListFilter {
        account: AccountId::LOCAL,
        text: String::new(),
        tag: None,
        state: None,
        order: FeedOrder::Title,
        from: None,
        backwards: false,
        limit: 10,
    }
}

fn ids(store: &Store, query: &FeedListFilter) -> Vec<u32> {
    store.feed_page(query, NOW).unwrap().lines.iter().map(|l| l.id.0).collect()
}

#[test]
fn states_are_those_of_the_feeds_own_rows() {
    let filled = filled();
    let page = filled.store.feed_page(&all(), NOW).unwrap();
    for line in &page.lines {
        assert_eq!(line.state, filled.store.feed(line.id).unwrap().state(), "{}", line.id);
    }
    let states = page.states.unwrap();
    let counts = FeedState::ALL.map(|state| states.of(Some(state)));
    assert_eq!((counts, states.of(None)), ([2, 1, 1, 0, 1, 1], 5));
    for state in FeedState::ALL {
        let query = FeedListFilter { state: Some(state), ..all() };
        let lines = filled.store.feed_page(&query, NOW).unwrap().lines;
        assert_eq!(lines.len() as u64, states.of(Some(state)), "{state:?}");
        assert!(lines.iter().all(|l| l.state.is_listed_by(Some(state))));
    }
}

#[test]
fn every_order_is_what_its_name_says() {
    let filled = filled();
    let in_order = |order| ids(&filled.store, &FeedListFilter { order, ..all() });
    assert_eq!(in_order(FeedOrder::Title), [2, 1, 4, 3, 5]);
    assert_eq!(in_order(FeedOrder::Trouble), [2, 3, 4, 5, 1]);
    assert_eq!(in_order(FeedOrder::NextPoll), [5, 2, 1, 4, 3]);
    assert_eq!(in_order(FeedOrder::LastPoll), [3, 2, 1, 5, 4]);
}

#[test]
fn text_is_found_in_titles_urls_and_tags_and_taken_literally() {
    let filled = filled();
    let with = |text: &str| ids(&filled.store, &FeedListFilter { text: text.to_owned(), ..all() });
    assert_eq!(with("ALPHA"), [2]);
    assert_eq!(with("gamma.example"), [3]);
    assert_eq!(with("rest"), [4]);
    assert_eq!(with("100%").len(), 5);
    assert_eq!(with("b_t"), [1]);
    assert_eq!(with("_"), [1], "an underscore is not a wildcard");
    assert!(with("nowhere").is_empty());
}

#[test]
fn a_line_says_what_the_last_poll_said() {
    let filled = filled();
    let query = FeedListFilter { state: Some(FeedState::BackingOff), ..all() };
    let line = filled.store.feed_page(&query, NOW).unwrap().lines.remove(0);
    assert_eq!((line.last_status, line.failures), (Some(500), 3));
    assert_eq!(line.error.as_deref(), Some("it broke"));
    assert_eq!(line.last_outcome, Some(Outcome::Failed));
    assert_eq!(line.title.as_deref(), Some("Alpha 100%"));
}

#[test]
fn pages_follow_each_other_without_gap_in_both_directions() {
    let filled = filled();
    for (order, text) in FeedOrder::ALL.into_iter().flat_map(|o| [(o, ""), (o, "100%")]) {
        let query = FeedListFilter { order, text: text.to_owned(), ..all() };
        let whole = ids(&filled.store, &query);
        assert_eq!(whole.len(), 5, "{order:?}");
        let (mut there, mut back) = (Vec::new(), Vec::new());
        let mut part = FeedListFilter { limit: 2, ..query };
        let page = |part: &FeedListFilter| filled.store.feed_page(part, NOW).unwrap();
        loop {
            let page = page(&part);
            there.extend(page.lines.iter().map(|l| l.id.0));
            let Some(after) = page.after else { break };
            let written = after.to_string();
            assert_eq!(FeedCursor::parse(&written), Some(after.clone()), "{written}");
            part.from = Some(after);
        }
        assert_eq!(there, whole, "{order:?}");
        part.backwards = true;
        // The last page holds one feed; before it are two pages of two.
        part.from = page(&FeedListFilter { backwards: false, ..part.clone() }).before;
        loop {
            let page = page(&part);
            back.splice(0..0, page.lines.iter().map(|l| l.id.0));
            let Some(before) = page.before else { break };
            part.from = Some(before);
        }
        assert_eq!(back, whole[..4], "{order:?}");
    }
}

#[test]
fn a_tag_is_found_exactly_and_counted() {
    let filled = filled();
    let query = FeedListFilter { tag: Some("Rest".to_owned()), ..all() };
    let page = filled.store.feed_page(&query, NOW).unwrap();
    assert_eq!((page.lines.len(), page.states.unwrap().of(Some(FeedState::Paused))), (1, 1));
    assert!(
        ids(&filled.store, &FeedListFilter { tag: Some("rest".to_owned()), ..all() }).is_empty()
    );
}

#[test]
fn what_is_much_is_looked_for_along_the_index() {
    let filled = filled();
    let query = all();
    let part = FeedListPart {
        order: FeedOrder::Title,
        state: None,
        from: None,
        backwards: false,
        limit: 3,
    };
    filled
        .store
        .read(|conn| {
            let mut asked = 0;
            let found = walk(conn, &part, |feed| {
                asked += 1;
                Ok(feed.0 != 1)
            })?;
            let feeds: Vec<u32> = found.iter().map(|listed| listed.feed.0).collect();
            assert_eq!((feeds, asked), (vec![2, 4, 3], 4), "{query:?}");
            Ok(())
        })
        .unwrap();
}
