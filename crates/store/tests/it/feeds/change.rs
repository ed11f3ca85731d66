//! Feeds: find by number and URL, list, change settings, remove.

use std::time::Duration;

use feed::{FeedId, Outcome};
use store::{
    FeedFilter, FeedState, Gone, NewFeed, PollProblem, PollRecord, SettingsChange, StoreError,
};

use crate::sample::{T0, add, at, fresh, new_feed, poll, unchanged, url};

#[test]
fn a_known_url_answers_its_id() {
    let f = fresh();
    let first = f.store.add_feed(&new_feed("https://example.org/a"), T0).unwrap();
    let again = f.store.add_feed(&new_feed("HTTPS://Example.org:443/a#x"), T0).unwrap();
    assert_eq!((first.existed, again.existed, again.id), (false, true, first.id));
    assert_eq!(f.store.feed_count().unwrap(), 1);
}

#[test]
fn a_feed_is_found_by_number_and_by_url() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    assert_eq!(f.store.find_feed(&id.to_string()).unwrap(), Some(id));
    assert_eq!(f.store.find_feed("https://EXAMPLE.org/a").unwrap(), Some(id));
    for other in ["99", "https://example.org/b", "not a url", ""] {
        assert_eq!(f.store.find_feed(other).unwrap(), None, "{other}");
    }
}

#[test]
fn twins_are_named_and_never_merged() {
    let f = fresh();
    let http = add(&f.store, "http://example.org/a");
    let https = f.store.add_feed(&new_feed("https://example.org/a"), T0).unwrap();
    assert_eq!(https.twin, Some((http, "http://example.org/a".to_owned())));
    assert_ne!(https.id, http);

    let moved = add(&f.store, "https://old.example.net/");
    let mut record = unchanged(&f.store, moved, at(1));
    record.location.effective_url = Some(url("https://new.example.com/"));
    f.store.record_blocking(record).unwrap();
    let target = f.store.add_feed(&new_feed("https://new.example.com/"), T0).unwrap();
    assert_eq!(target.twin.map(|twin| twin.0), Some(moved));
    let found = f.store.check().unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|finding| finding.what.contains("same feed")), "{found:?}");
}

#[test]
fn an_import_adds_tags_to_feeds_that_exist() {
    let f = fresh();
    let tagged = |text: &str, tag: &str| NewFeed {
        tags: vec![tag.to_owned(), "all".to_owned()],
        title: Some(format!("called {tag}")),
        ..new_feed(text)
    };
    let first = [tagged("https://example.org/a", "x")];
    f.store.add_feeds(&first, T0).unwrap();
    let second = [tagged("https://example.org/a", "y"), tagged("https://example.org/b", "z")];
    let added = f.store.add_feeds(&second, T0).unwrap();
    assert_eq!(added.iter().map(|a| a.existed).collect::<Vec<_>>(), [true, false]);
    let row = f.store.feed(added[0].id).unwrap();
    assert_eq!(row.tags, ["all", "x", "y"]);
    assert_eq!(row.shown_title(), Some("called x"));
    let tag = |tag: &str| FeedFilter { tag: Some(tag.to_owned()), ..FeedFilter::default() };
    assert_eq!(f.store.feeds(&tag("z")).unwrap().len(), 1);
    assert_eq!(f.store.feeds(&tag("all")).unwrap().len(), 2);
    assert_eq!(f.store.tags().unwrap().len(), 4);
    f.store.tag_feed(row.id, &["new".into()], &["x".into(), "y".into()]).unwrap();
    assert_eq!(f.store.feed(row.id).unwrap().tags, ["all", "new"]);
}

#[test]
fn feeds_are_listed_page_by_page_with_their_tags() {
    let f = fresh();
    let new: Vec<NewFeed> = (0..25)
        .map(|i| NewFeed {
            tags: vec![format!("t{i}")],
            ..new_feed(&format!("https://example.org/{i}"))
        })
        .collect();
    f.store.add_feeds(&new, T0).unwrap();
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page =
            f.store.feeds(&FeedFilter { after, limit: Some(10), ..FeedFilter::default() }).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        seen.extend(page);
    }
    assert_eq!(seen.len(), 25);
    assert!(seen.iter().enumerate().all(|(i, row)| row.tags == [format!("t{i}")]));
}

#[test]
fn a_removed_feed_takes_everything_with_it_and_its_number_is_not_given_again() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    assert_eq!(poll(&f.store, id, &["1", "2"], at(1)).len(), 2);
    f.store.remove_feed(id).unwrap();
    assert!(matches!(f.store.feed(id), Err(StoreError::NoFeed(gone)) if gone == id));
    assert!(matches!(f.store.remove_feed(id), Err(StoreError::NoFeed(_))));
    assert_eq!(f.store.counts(at(2)).unwrap().entries, 0);
    let next = add(&f.store, "https://example.org/a");
    assert!(next > id);
    let again = poll(&f.store, next, &["1"], at(3));
    assert_eq!(again, [3], "positions of the stream are not given again either");
    assert_eq!(f.store.check().unwrap(), []);
}

#[test]
fn settings_are_set_left_and_taken_back() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let hour = Duration::from_secs(3600);
    let change = SettingsChange {
        policy: Some(Some("fix:1h".to_owned())),
        beta: Some(Some(hour)),
        weight: Some(Some(2.5)),
        ..SettingsChange::default()
    };
    f.store.set_feed(id, &change).unwrap();
    f.store
        .set_feed(id, &SettingsChange { beta: Some(None), ..SettingsChange::default() })
        .unwrap();
    let set = f.store.feed(id).unwrap().settings;
    assert_eq!(set.policy.as_deref(), Some("fix:1h"));
    assert_eq!((set.alpha, set.beta, set.weight), (None, None, Some(2.5)));
    let missing = FeedId(77);
    assert!(matches!(f.store.set_feed(missing, &change), Err(StoreError::NoFeed(_))));
}

#[test]
fn a_tag_pauses_its_feeds_unless_they_say_otherwise() {
    let f = fresh();
    let tagged = NewFeed { tags: vec!["quiet".into()], ..new_feed("https://example.org/a") };
    let id = f.store.add_feed(&tagged, T0).unwrap().id;
    let pause = |on| SettingsChange { paused: Some(on), ..SettingsChange::default() };
    let polled = || {
        let one = f.store.due(id).unwrap().is_some();
        assert_eq!(f.store.due_index().unwrap().due.len(), usize::from(one));
        assert_eq!(f.store.poll_input(id).unwrap().settings.paused, !one);
        assert_eq!(f.store.feed(id).unwrap().paused, !one);
        one
    };
    assert!(polled());
    f.store.set_tag("quiet", &pause(Some(true))).unwrap();
    assert!(!polled());
    assert_eq!(f.store.feed(id).unwrap().state(), FeedState::Paused);
    f.store.set_feed(id, &pause(Some(false))).unwrap();
    assert!(polled());
    f.store.set_feed(id, &pause(Some(true))).unwrap();
    f.store.set_tag("quiet", &pause(None)).unwrap();
    assert!(!polled());
    f.store.set_feed(id, &pause(None)).unwrap();
    assert!(polled());
}

#[test]
fn a_feed_s_condition_has_one_word() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let word = || f.store.feed(id).unwrap().state().word();
    assert_eq!(word(), "active");
    let mut failed = PollRecord::empty(id, 0, at(1), Outcome::Failed, at(100));
    failed.decision.failures = 3;
    failed.problem = Some(PollProblem::new("no such host"));
    f.store.record_blocking(failed).unwrap();
    assert_eq!(word(), "backing-off");
    let mut gone = PollRecord::empty(id, 1, at(2), Outcome::Gone, at(100));
    gone.location.gone = Some(Gone { at: at(2), reason: "410".to_owned() });
    f.store.record_blocking(gone).unwrap();
    assert_eq!(word(), "gone");
    assert_eq!(f.store.due_index().unwrap().due, []);
    let counts = f.store.counts(at(3)).unwrap();
    assert_eq!((counts.gone, counts.failing, counts.due, counts.polls), (1, 0, 0, 2));
    let back = PollRecord::empty(id, 2, at(4), Outcome::Unchanged, at(100));
    f.store.record_blocking(back).unwrap();
    assert_eq!(word(), "active");
    assert_eq!(f.store.feed(id).unwrap().problem, None);
}

#[test]
fn a_feed_that_its_tag_pauses_is_neither_due_nor_late() {
    let f = fresh();
    let paused = |on| SettingsChange { paused: Some(Some(on)), ..SettingsChange::default() };
    for name in ["a", "b", "c"] {
        let mut new = new_feed(&format!("https://{name}.example/"));
        new.tags = vec!["quiet".to_owned()];
        f.store.add_feed(&new, T0).unwrap();
    }
    f.store.set_tag("quiet", &paused(true)).unwrap();
    // The third is still polled: its own setting overrides that of its tag.
    f.store.set_feed(FeedId(3), &paused(false)).unwrap();
    let counts = f.store.counts(at(1)).unwrap();
    assert_eq!((counts.due, counts.never_polled, counts.first_polls), (1, 3, 1));
    for (feed, next) in [(1, 10), (3, 20)] {
        let record = PollRecord::empty(FeedId(feed), 0, at(2), Outcome::Unchanged, at(next));
        f.store.record_blocking(record).unwrap();
    }
    assert_eq!(f.store.status(at(100)).unwrap().due_since, Some(at(20)));
}

#[test]
fn settings_of_the_instance_are_kept() {
    let f = fresh();
    assert_eq!(f.store.setting("budget").unwrap(), None);
    f.store.set_setting("budget", Some("100/1h")).unwrap();
    f.store.set_setting("budget", Some("200/1h")).unwrap();
    assert_eq!(f.store.setting("budget").unwrap().as_deref(), Some("200/1h"));
    f.store.set_setting("budget", None).unwrap();
    assert_eq!(f.store.setting("budget").unwrap(), None);
}

#[test]
fn a_tag_gets_another_name_with_its_settings_and_joins_what_is_there() {
    let fresh = fresh();
    let store = &fresh.store;
    for (name, tags) in [("a", vec!["news"]), ("b", vec!["news", "daily"]), ("c", vec!["daily"])] {
        let mut new = new_feed(&format!("https://{name}.example/"));
        new.tags = tags.into_iter().map(str::to_owned).collect();
        store.add_feed(&new, T0).unwrap();
    }
    let heavy = SettingsChange { weight: Some(Some(3.0)), ..SettingsChange::default() };
    store.set_tag("news", &heavy).unwrap();
    store.rename_tag("news", Some("press")).unwrap();
    let tags = store.tags().unwrap();
    let shown: Vec<_> =
        tags.iter().map(|t| (t.tag.as_str(), t.n_feeds, t.settings.weight)).collect();
    assert_eq!(shown, [("daily", 2, None), ("press", 2, Some(3.0))]);
    store.rename_tag("press", Some("press")).unwrap();
    store.rename_tag("daily", Some("press")).unwrap();
    let tags = store.tags().unwrap();
    assert_eq!((tags.len(), tags[0].n_feeds, tags[0].settings.weight), (1, 3, Some(3.0)));
    store.rename_tag("press", None).unwrap();
    assert!(store.tags().unwrap().is_empty());
}

#[test]
fn a_title_of_our_own_goes_before_the_publishers() {
    let fresh = fresh();
    let feed = add(&fresh.store, "https://a.example/");
    fresh.store.title_feed(feed, Some("Mine")).unwrap();
    assert_eq!(fresh.store.feed(feed).unwrap().shown_title(), Some("Mine"));
    fresh.store.title_feed(feed, None).unwrap();
    assert_eq!(fresh.store.feed(feed).unwrap().shown_title(), None);
    assert!(fresh.store.title_feed(FeedId(99), None).is_err());
}
