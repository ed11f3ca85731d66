//! Opened entries, popular feeds, neighbours of feeds, linked sites and dismissed suggestions.

use std::time::Duration;

use feed::{EntryId, FeedId, StoryKeys, Time};
use store::{
    AccountId, FeedNeighbour, FeedNeighbours, FeedPopularity, LinkedSite, NewFeed, PopularityOrder,
    Scope, SiteFeed, SiteLinks, Store, StoryRecord,
};

use crate::sample::{Fresh, T0, add, at, fresh, new_feed, poll};

const DAY: Duration = Duration::from_secs(86_400);

/// Four accounts, none with a subscription.
struct Many {
    fresh: Fresh,
    people: Vec<AccountId>,
}

impl Many {
    fn new() -> Many {
        let fresh = fresh();
        let people = ["anna", "bert", "cleo", "dora"]
            .map(|name| fresh.store.add_account(name, "hash", T0).unwrap().unwrap());
        Many { people: people.to_vec(), fresh }
    }

    fn store(&self) -> &Store {
        &self.fresh.store
    }

    /// Subscribes the first `n` people.
    fn subscribe(&self, n: usize, url: &str) -> FeedId {
        let mut feed = FeedId(0);
        for account in &self.people[..n] {
            let new = NewFeed { ..new_feed(url) };
            feed = self.store().subscribe(*account, &[new], T0).unwrap()[0].id;
        }
        feed
    }
}

#[test]
fn an_entry_counts_once_by_feed_day_and_hour_and_tidying_up_does_not_count() {
    let many = Many::new();
    let (store, anna) = (many.store(), many.people[0]);
    let (own, other) = (many.subscribe(1, "https://a.org/"), add(store, "https://b.org/"));
    let names: Vec<String> = (1..=40).map(|n| n.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let entries: Vec<EntryId> = poll(store, own, &names, at(10)).into_iter().map(EntryId).collect();
    let foreign: Vec<EntryId> =
        poll(store, other, &["x"], at(20)).into_iter().map(EntryId).collect();
    store.open_entries(anna, &entries[..2], at(100)).unwrap();
    assert!(store.read_marks(anna).unwrap().is_read(entries[1]), "opening marks as read");
    assert!(store.has_opened(anna, entries[1]).unwrap());
    // Opened again, kept unread and opened again: the entry counts once.
    store.open_entries(anna, &entries[..1], at(200)).unwrap();
    store.mark_read(anna, &entries[..1], false).unwrap();
    store.open_entries(anna, &entries[..1], at(200)).unwrap();
    // Neither marks without opening, nor many entries at once, nor feeds of others.
    store.mark_read(anna, &entries[2..4], true).unwrap();
    store.open_entries(anna, &entries[4..34], at(200)).unwrap();
    assert!(store.read_marks(anna).unwrap().is_read(entries[33]));
    assert!(!store.has_opened(anna, entries[33]).unwrap());
    store.open_entries(anna, &foreign, at(200)).unwrap();
    store.mark_scope_read(anna, &Scope::All, None, None).unwrap();
    // An entry that "mark all read" has marked may still be opened.
    store.open_entries(anna, &entries[39..], T0 + DAY).unwrap();
    let counts = store.opened_counts(anna, T0).unwrap();
    assert_eq!(counts.by_feed, [(own, 3)]);
    let hour = Time::from_secs(T0.secs() / 3600 * 3600);
    assert_eq!(counts.by_hour, [(hour, 2), (hour + DAY, 1)]);
    let first = Time::from_secs(T0.secs() / 86_400 * 86_400);
    assert_eq!(counts.counted_since, Some(first));
    assert_eq!(store.opened_counts(anna, T0 + DAY).unwrap().by_feed, [(own, 1)]);
    assert_eq!(store.entries_since(anna, &[other, own], T0).unwrap(), [1, 40]);
    assert_eq!(store.opened_counts(many.people[1], T0).unwrap().by_feed, []);

    store.forget_openings(T0 + DAY).unwrap();
    let left = store.opened_counts(anna, T0).unwrap();
    assert_eq!((left.by_feed, left.by_hour.len()), (vec![(own, 1)], 1));
    assert!(store.remove_account(anna).unwrap());
    for table in ["opened_days", "opened_hours", "opened_marks"] {
        assert_eq!(store::testing::count(store, table), 0, "{table}");
    }
}

#[test]
fn the_first_account_takes_over_what_the_person_at_the_machine_opened() {
    let fresh = fresh();
    let store = &fresh.store;
    let feed = add(store, "https://a.org/");
    poll(store, feed, &["1"], at(10));
    store.open_entries(AccountId::LOCAL, &[EntryId(1)], at(20)).unwrap();
    store.dismiss_feed(AccountId::LOCAL, "https://no.org/", T0).unwrap();
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    assert_eq!(store.opened_counts(anna, T0).unwrap().by_feed, [(feed, 1)]);
    assert!(store.dismissed_feeds(anna).unwrap().contains("https://no.org/"));
    store.forget_dismissed_feeds(anna).unwrap();
    assert!(store.dismissed_feeds(anna).unwrap().is_empty());
}

#[test]
fn popularity_counts_people_who_want_that_and_feeds_without_secrets() {
    let many = Many::new();
    let store = many.store();
    let common = many.subscribe(4, "https://common.org/");
    let rare = many.subscribe(2, "https://rare.org/");
    let secret = many.subscribe(1, "https://user:pass@secret.org/");
    for (feed, n) in [(common, 1), (rare, 2), (secret, 3)] {
        poll(store, feed, &["1", "2", "3"], at(n));
    }
    for account in &many.people {
        store.open_entries(*account, &[EntryId(1), EntryId(2), EntryId(7)], at(50)).unwrap();
    }
    assert_eq!(store.count_popularity(T0).unwrap(), 2);
    let popular = |people| store.popular_feeds(PopularityOrder::Subscribers, people, 10).unwrap();
    let figures = |subscribers, openers, opened| FeedPopularity { subscribers, openers, opened };
    assert_eq!(popular(1), [(common, figures(4, 4, 8)), (rare, figures(2, 0, 0))]);
    assert_eq!(popular(3), [(common, figures(4, 4, 8))]);
    let read = store.popular_feeds(PopularityOrder::Opened, 3, 10).unwrap();
    assert_eq!(read, [(common, figures(4, 4, 8))]);
    let all = store.instance_figures(T0).unwrap();
    assert_eq!((all.accounts, all.counted, all.subscriptions, all.openers), (4, 4, 6, 4));
    assert_eq!(all.opened_by_day.iter().map(|(_, n)| n).sum::<u64>(), 8);

    assert!(!store.take_stale_figures().unwrap());
    store.count_account(many.people[0], false).unwrap();
    assert!(store.take_stale_figures().unwrap() && !store.take_stale_figures().unwrap());
    store.count_popularity(T0).unwrap();
    assert_eq!(popular(1), [(common, figures(3, 3, 6)), (rare, figures(1, 0, 0))]);
    let lists = store.counted_subscriptions().unwrap();
    assert_eq!(lists, [vec![common, rare], vec![common], vec![common]]);
    let all = store.instance_figures(T0).unwrap();
    assert_eq!((all.accounts, all.counted, all.subscriptions), (4, 3, 4));
    store.count_account(many.people[0], true).unwrap();
    assert_eq!(store.counted_subscriptions().unwrap().len(), 4);
    assert_eq!(store.count_popularity(T0).unwrap(), 2);
    assert_eq!(store.count_popularity(T0).unwrap(), 0, "nothing has changed");
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn neighbours_are_replaced_and_go_with_their_feeds() {
    let many = Many::new();
    let store = many.store();
    let feeds = ["a", "b", "c"].map(|name| many.subscribe(4, &format!("https://{name}.org/")));
    let neighbour = |other, people| FeedNeighbour { other, people, similarity: 0.25 };
    let all = FeedNeighbours::from([
        (feeds[0], vec![neighbour(feeds[2], 4), neighbour(feeds[1], 3)]),
        (feeds[1], vec![neighbour(feeds[0], 3)]),
    ]);
    assert_eq!(store.put_neighbours(all.clone()).unwrap(), 2);
    assert_eq!(store.put_neighbours(all.clone()).unwrap(), 0, "nothing has changed");
    let of = |account| store.neighbours_of(account).unwrap();
    let found = of(many.people[0]);
    assert_eq!(found[&feeds[0]], [neighbour(feeds[1], 3), neighbour(feeds[2], 4)]);
    assert!(of(AccountId::LOCAL).is_empty());
    store.remove_feed(feeds[2]).unwrap();
    assert_eq!(of(many.people[0])[&feeds[0]], [neighbour(feeds[1], 3)]);
    // The calculation may have begun before the feed was removed.
    assert_eq!(store.put_neighbours(all).unwrap(), 1);
    assert_eq!(of(many.people[0])[&feeds[0]], [neighbour(feeds[1], 3)]);
    store.put_neighbours(FeedNeighbours::new()).unwrap();
    assert!(of(many.people[0]).is_empty());
}

fn linked(entry: i64, at: Time, sites: &[&str]) -> StoryRecord {
    let site = |site: &&str| LinkedSite {
        site: (*site).to_owned(),
        origin: format!("https://www.{site}"),
    };
    StoryRecord {
        entry: EntryId(entry),
        published_at: at,
        keys: StoryKeys::default(),
        same_as: None,
        sites: sites.iter().map(site).collect(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_that_several_feeds_of_a_person_link_to_are_looked_at_once() {
    let many = Many::new();
    let (store, anna, bert) = (many.store(), many.people[0], many.people[1]);
    let feeds = ["a", "b", "c"].map(|name| many.subscribe(1, &format!("https://{name}.org/")));
    // Bert reads one of them, and one with a secret that must not count.
    store.subscribe(bert, &[new_feed("https://a.org/")], T0).unwrap();
    let secret = store.subscribe(bert, &[new_feed("https://u:p@d.org/")], T0).unwrap()[0].id;
    store.note_feed_sites().unwrap();
    for (n, feed) in feeds.into_iter().chain([secret]).enumerate() {
        poll(store, feed, &["1"], at(n as i64));
    }
    let records = vec![
        linked(1, at(1), &["liked.org", "a.org", "b.org", "seldom.org"]),
        linked(2, at(2), &["liked.org", "a.org", "seldom.org"]),
        linked(3, at(3), &["liked.org", "a.org"]),
        linked(4, at(4), &["seldom.org", "liked.org"]),
    ];
    store.record_stories(records, at(1000)).await.unwrap();
    let candidates = || store.site_candidates(3, T0, T0, 10).unwrap();
    let sites: Vec<String> = candidates().into_iter().map(|one| one.site).collect();
    assert_eq!(sites, ["liked.org"], "own sites, few links and secret feeds do not count");
    assert_eq!(candidates()[0].origin, "https://www.liked.org");
    assert_eq!(store.site_candidates(3, at(10), T0, 10).unwrap(), [], "too long ago");
    let none = store.linked_sites_of(anna, 3, T0, 10).unwrap();
    assert_eq!(none, [], "its feeds are not known yet");

    let feed = SiteFeed {
        site: "liked.org".to_owned(),
        url: "https://liked.org/feed".to_owned(),
        title: Some("Liked".to_owned()),
    };
    store.record_site_look("liked.org", vec![feed.clone()], at(2000)).unwrap();
    assert_eq!(candidates(), []);
    assert_eq!(store.site_candidates(3, T0, at(2001), 10).unwrap().len(), 1, "a month later");
    assert_eq!((store.n_site_looks(T0).unwrap(), store.n_site_looks(at(2001)).unwrap()), (1, 0));
    let found = store.linked_sites_of(anna, 3, T0, 10).unwrap();
    let [a, b, c] = feeds;
    let links = SiteLinks { site: "liked.org".to_owned(), n_feeds: 3, feeds: vec![c, b, a] };
    assert_eq!(found, [links]);
    assert_eq!(store.linked_sites_of(bert, 3, T0, 10).unwrap(), []);
    assert_eq!(store.site_feeds(&["liked.org".to_owned()]).unwrap(), [feed]);
    // Somebody who reads the site gets no suggestion of it.
    store.subscribe(anna, &[new_feed("https://www.liked.org/other")], T0).unwrap();
    store.note_feed_sites().unwrap();
    assert_eq!(store.linked_sites_of(anna, 3, T0, 10).unwrap(), []);
    store.forget_links(at(3000)).unwrap();
    for table in ["linked_sites", "site_looks", "site_feeds"] {
        assert_eq!(store::testing::count(store, table), 0, "{table}");
    }
}

#[test]
fn other_feeds_of_own_sites_are_those_of_the_instance_or_of_three_people() {
    let many = Many::new();
    let (store, dora) = (many.store(), many.people[3]);
    store.subscribe(dora, &[new_feed("https://www.site.org/main")], T0).unwrap();
    let common = many.subscribe(3, "https://site.org/common");
    many.subscribe(2, "https://site.org/rare");
    let of_instance = add(store, "https://site.org/instance");
    many.subscribe(1, "https://site.org/secret?token=abcdefghijklmnopqrst");
    many.subscribe(3, "https://elsewhere.org/");
    store.note_feed_sites().unwrap();
    store.count_popularity(T0).unwrap();
    let found = store.feeds_of_own_sites(dora, 3, 10).unwrap();
    let site = || "site.org".to_owned();
    assert_eq!(found, [(common, site()), (of_instance, site())]);
    assert_eq!(store.sites_of(dora).unwrap().keys().collect::<Vec<_>>(), ["site.org"]);
    // A site with many feeds is a platform.
    for n in 0..8 {
        add(store, &format!("https://site.org/{n}"));
    }
    store.note_feed_sites().unwrap();
    assert_eq!(store.feeds_of_own_sites(dora, 3, 10).unwrap(), []);
    assert!(store.sites_of(dora).unwrap().is_empty());
}

#[test]
fn a_feed_that_gets_a_secret_leaves_all_figures() {
    let many = Many::new();
    let store = many.store();
    let feed = add(store, "https://site.org/");
    store.note_feed_sites().unwrap();
    assert_eq!(store::testing::count(store, "feed_sites"), 1);
    assert!(store.close_to_people(feed).unwrap());
    assert_eq!(store::testing::count(store, "feed_sites"), 0);
    assert_eq!(store.note_feed_sites().unwrap(), 0);
}
