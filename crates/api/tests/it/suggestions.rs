//! Statistics, popular and suggested feeds on the pages and in the JSON API.

use std::sync::Arc;
use std::time::Duration;

use api::{ServerContext, router};
use axum::Router;
use axum::http::{Method, Request};
use dispatch::command::{CommandRefusal, CommandResult};
use feed::{EntryId, FeedId, FeedUrl, Item, Outcome, Published, StoryKeys, Time};
use serde_json::{Value, json};
use store::{
    AccountId, LinkedSite, NewEntry, NewFeed, OpenMode, PollRecord, SiteFeed, Store, StoryRecord,
};

use crate::acts::Desk;
use crate::fixture::{Fixture, T0, live};
use crate::subscriptions::person;
use crate::{Answer, asked, get};

const DAY: Duration = Duration::from_secs(86_400);
/// 50 days after the first subscriptions.
const NOW: Time = Time::from_secs(1_700_000_000 + 50 * 86_400);
const NAMES: [&str; 5] = ["anna", "bert", "cleo", "dora", "emil"];

/// Five people. Anna is an admin.
struct Town {
    store: Store,
    router: Router,
    accounts: [AccountId; 5],
    context: ServerContext,
    _folder: tempfile::TempDir,
}

fn town() -> Town {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let accounts = NAMES.map(|name| person(&store, name));
    let now = Arc::new(|| NOW);
    let context = ServerContext::new(store.clone(), now, Arc::new(live), "1").unwrap();
    Town { router: router(context.clone()), store, accounts, context, _folder: folder }
}

impl Town {
    /// Subscribes people to a feed with a title and a tag.
    fn subscribe(&self, people: &[usize], url: &str, title: &str) -> FeedId {
        let mut feed = FeedId(0);
        for who in people {
            let url = FeedUrl::parse(url).unwrap();
            let (title, tags) = (Some(title.to_owned()), vec!["news".to_owned()]);
            let new = NewFeed { url, title, site: None, tags };
            feed = self.store.subscribe(self.accounts[*who], &[new], T0).unwrap()[0].id;
        }
        feed
    }

    /// Records entries of a feed, and returns the first.
    fn publish(&self, feed: FeedId, n: u8, at: Time) -> EntryId {
        let generation = self.store.poll_input(feed).unwrap().generation;
        let mut record = PollRecord::empty(feed, generation, at, Outcome::Seen, at);
        for number in 0..n {
            let mut key = [number; 16];
            key[0] = u8::try_from(feed.0).unwrap();
            record.document_mut().entries.new.push(NewEntry {
                key: feed::EntryKey::from_bytes(key),
                item: Item { title: Some(format!("Entry {number}")), ..Item::default() },
                published: Published { claim: None, at },
                content: 0,
                facts: store::EntryFacts::default(),
            });
        }
        self.store.record_blocking(record).unwrap().new_ids[0]
    }

    fn calculate(&self) {
        engine::calculate_figures(&self.store, true, NOW).unwrap();
    }

    async fn act(&self, who: usize, method: Method, path: &str, body: Option<Value>) -> Answer {
        let token = format!("{}-token", NAMES[who]);
        let (name, value) = match path.starts_with("/v1/") {
            true => ("x-auth-token", token),
            false => ("authorization", format!("Bearer {token}")),
        };
        let body = body.map_or_else(String::new, |body| body.to_string());
        let headers = [(name, value.as_str()), ("content-type", "application/json")];
        let request = Request::builder().method(method).uri(path);
        asked(&self.router, request, &headers, body.into()).await
    }

    async fn text(&self, who: usize, path: &str) -> String {
        let answer = self.act(who, Method::GET, path, None).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.text
    }

    async fn json(&self, who: usize, path: &str) -> Value {
        serde_json::from_str(&self.text(who, path).await).unwrap()
    }

    /// The addresses that are suggested to a person.
    async fn suggested(&self, who: usize) -> Vec<String> {
        let found = self.json(who, "/api/v1/me/suggestions").await;
        let list = found["suggestions"].as_array().unwrap().iter();
        list.map(|one| one["url"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn statistics_count_what_a_person_opens_and_only_they_see_it() {
    let town = town();
    let good = town.subscribe(&[1], "https://good.example/", "The good one");
    let dull = town.subscribe(&[1], "https://dull.example/", "The dull one");
    let at = T0 + DAY;
    let (first, dull_first) = (town.publish(good, 10, at), town.publish(dull, 80, at));
    let bert = town.accounts[1];
    town.store.open_entries(bert, &[dull_first], at).unwrap();
    // The page opens one entry twice, an app marks one, and another act tidies up.
    for _ in 0..2 {
        town.text(1, &format!("/entry/{first}")).await;
    }
    let marks = json!({"entry_ids": [first.0 + 1], "status": "read"});
    let done = town.act(1, Method::PUT, "/v1/entries", Some(marks)).await;
    assert_eq!(done.status, 204, "{}", done.text);
    let done = town.act(1, Method::PUT, &format!("/v1/feeds/{good}/mark-all-as-read"), None).await;
    assert_eq!(done.status, 204, "{}", done.text);

    let found = town.json(1, "/api/v1/me/statistics").await;
    assert_eq!(found["opened"], 3);
    let days = 49;
    let good_share = json!({
        "feed": good.0, "title": "The good one", "opened": 2, "entries": 10, "days": days,
    });
    let dull_share = json!({
        "feed": dull.0, "title": "The dull one", "opened": 1, "entries": 80, "days": days,
    });
    assert_eq!(found["feeds"], json!([good_share]));
    assert_eq!(found["rarely_opened"], json!([dull_share]));
    assert_eq!(found["tags"], json!([{"tag": "news", "opened": 3}]));
    let hours: Vec<u64> = serde_json::from_value(found["hours"].clone()).unwrap();
    assert_eq!((hours.len(), hours[22]), (24, 3), "{hours:?}");
    let weeks: Vec<u64> = serde_json::from_value(found["weeks"].clone()).unwrap();
    assert_eq!((weeks.len(), weeks[12], weeks[5]), (13, 2, 1), "{weeks:?}");
    let page = town.text(1, "/statistics").await;
    assert!(page.contains("1 of 80 entries opened in 49 days: unsubscribe?"), "{page}");
    assert!(page.contains(&format!("href=\"/feed/{dull}/remove\"")), "{page}");

    for other in [0, 2] {
        let page = town.text(other, "/statistics").await;
        assert!(page.contains("Nothing was counted yet") && !page.contains("The good"), "{page}");
    }
    town.calculate();
    let all = town.text(0, "/people/statistics").await;
    assert!(!all.contains("good") && !all.contains("bert"), "one person stands behind it: {all}");
    let refused = town.act(1, Method::GET, "/people/statistics", None).await;
    assert_eq!(refused.status, 403);
    let refused = town.act(1, Method::GET, "/api/v1/statistics", None).await;
    assert_eq!(refused.status, 403);
}

#[tokio::test]
async fn suggestions_rest_on_three_people_who_want_to_be_counted() {
    let town = town();
    let liked = town.subscribe(&[0, 1, 2, 3], "https://liked.example/", "Liked");
    let next = town.subscribe(&[1, 2, 3], "https://next.example/", "Next");
    town.subscribe(&[1, 2], "https://two.example/", "Two");
    town.subscribe(&[1, 2, 3], "https://u:p@secret.example/", "Secret");
    let entry = town.publish(next, 3, NOW - DAY);
    for who in 1..4 {
        town.store.open_entries(town.accounts[who], &[entry], NOW - DAY).unwrap();
    }
    assert_eq!(town.suggested(0).await, [""; 0], "nothing is calculated yet");
    town.calculate();
    assert_eq!(town.suggested(0).await, ["https://next.example/"]);
    assert_eq!(town.suggested(1).await, [""; 0], "nobody gets what they have");
    let page = town.text(0, "/discover").await;
    assert!(page.contains("3 people who read “Liked” also read this."), "{page}");
    assert!(page.contains("3 by 3 people"), "{page}");
    assert!(!page.contains("two.example") && !page.contains("secret"), "{page}");
    let popular = town.json(0, "/api/v1/popular-feeds").await;
    let first = &popular["by_subscribers"][0];
    assert_eq!((&first["feed"], &first["subscribers"]), (&json!(liked.0), &json!(4)));
    assert_eq!(popular["by_subscribers"].as_array().unwrap().len(), 2);
    assert_eq!(popular["by_opened"][0]["opened"], 3);
    assert_eq!(popular["by_opened"][0]["subscribed"], false);
    let all = town.text(0, "/people/statistics").await;
    assert!(all.contains("next.example") && !all.contains("two.example"), "{all}");
    let figures = town.json(0, "/api/v1/statistics").await;
    assert_eq!((&figures["counted"], &figures["opened"]), (&json!(5), &json!(3)));

    let path = "/api/v1/me/suggestions/dismissed";
    let no = json!({"url": "https://next.example/"});
    assert_eq!(town.act(0, Method::POST, path, Some(no)).await.status, 204);
    assert_eq!(town.suggested(0).await, [""; 0]);
    assert_eq!(town.act(0, Method::DELETE, path, None).await.status, 204);
    assert_eq!(town.suggested(0).await.len(), 1);
    let bad = town.act(0, Method::POST, path, Some(json!({"url": "nothing"}))).await;
    assert_eq!(bad.status, 400, "{}", bad.text);

    let out = json!({"counted": false});
    assert_eq!(town.act(3, Method::PUT, "/api/v1/me/counted", Some(out)).await.status, 204);
    town.calculate();
    assert_eq!(town.suggested(0).await, [""; 0], "two people are left");
    let all = town.text(0, "/people/statistics").await;
    assert!(
        all.contains("Not counted, by their own choice") && !all.contains("next.example"),
        "{all}"
    );
    assert!(town.text(3, "/account").await.contains("<option value=\"no\" selected>"));

    let off = router(ServerContext { suggestions: false, ..town.context.clone() });
    let with = [("authorization", "Bearer anna-token")];
    assert!(get(&off, "/discover", &with).await.text.contains("switched off on this server"));
    assert_eq!(get(&off, "/api/v1/me/suggestions", &with).await.status, 404);
    assert_eq!(get(&off, "/api/v1/popular-feeds", &with).await.status, 404);
}

/// Notes that entries link to a site whose page names feeds.
async fn link(store: &Store, entries: &[EntryId], site: &str, feeds: &[&str], at: Time) {
    let record = |entry: &EntryId| StoryRecord {
        entry: *entry,
        published_at: at,
        keys: StoryKeys::default(),
        same_as: None,
        sites: vec![LinkedSite { site: site.to_owned(), origin: format!("https://{site}") }],
    };
    store.record_stories(entries.iter().map(record).collect(), at).await.unwrap();
    let feed = |url: &&str| SiteFeed {
        site: site.to_owned(),
        url: (*url).to_owned(),
        title: Some("A <b>new</b> feed".to_owned()),
    };
    store.record_site_look(site, feeds.iter().map(feed).collect(), at).unwrap();
}

#[tokio::test]
async fn linked_sites_and_other_feeds_of_own_sites_are_suggested_with_their_reason() {
    let town = town();
    let mut entries = Vec::new();
    for n in 1..=3 {
        let url = format!("https://site{n}.example/");
        let feed = town.subscribe(&[1], &url, &format!("Number {n}"));
        entries.push(town.publish(feed, 1, NOW - DAY));
    }
    town.calculate();
    let linked = ["https://linked.example/feed", "https://linked.example/comments"];
    link(&town.store, &entries, "linked.example", &linked, NOW - DAY).await;
    let own = ["https://site1.example/", "https://site1.example/podcast"];
    link(&town.store, &[], "site1.example", &own, NOW - DAY).await;
    let found = town.json(1, "/api/v1/me/suggestions").await;
    let expect = json!([
        {
            "url": "https://linked.example/feed",
            "title": "A new feed",
            "kind": "linked",
            "reason": "3 of your feeds linked to linked.example in the last 30 days, among them \
                       “Number 1”, “Number 2”, “Number 3”.",
        },
        {
            "url": "https://site1.example/podcast",
            "title": "A new feed",
            "kind": "same_site",
            "reason": "It is another feed of site1.example, where you read “Number 1”.",
        },
    ]);
    assert_eq!(found["suggestions"], expect);
    assert_eq!(town.suggested(0).await, [""; 0], "they are the feeds of somebody else");
}

#[tokio::test]
async fn nothing_that_a_person_reads_under_another_address_is_suggested() {
    let town = town();
    let mut entries = Vec::new();
    for n in 1..=3 {
        let feed = town.subscribe(&[1], &format!("https://site{n}.example/"), &format!("{n}"));
        entries.push(town.publish(feed, 1, NOW - DAY));
    }
    // A private feed has no site that others see. Its owner knows it.
    town.subscribe(&[1], "https://me:pass@paper.example/feed", "Paper");
    let moved = town.subscribe(&[1], "https://blog.example/old", "Moved");
    let mut record = PollRecord::empty(moved, 0, NOW - DAY, Outcome::Unchanged, NOW - DAY);
    let target = FeedUrl::parse("https://blog.example/new").unwrap();
    record.location.effective_url = Some(target);
    town.store.record_blocking(record).unwrap();
    town.calculate();
    link(&town.store, &entries, "paper.example", &["https://paper.example/feed"], NOW - DAY).await;
    let named = ["https://blog.example/new", "http://www.blog.example/old/"];
    link(&town.store, &[], "blog.example", &named, NOW - DAY).await;
    let named = ["http://site1.example", "https://site1.example/podcast"];
    link(&town.store, &[], "site1.example", &named, NOW - DAY).await;
    assert_eq!(town.suggested(1).await, ["https://site1.example/podcast"]);
}

#[tokio::test]
async fn without_accounts_the_pages_work_and_a_dismissed_feed_stays_away() {
    let fixture = Fixture::new(true);
    let mut entries = Vec::new();
    for n in 1..=3 {
        fixture.see(&format!("https://site{n}.example/"), &["Hello"], 3000 + n);
        entries.push(EntryId(i64::try_from(n).unwrap()));
    }
    let now = T0 + Duration::from_secs(3500);
    engine::calculate_figures(&fixture.store, true, now).unwrap();
    link(&fixture.store, &entries, "linked.example", &["https://linked.example/feed"], now).await;
    let answer = |_: &_| Ok::<_, CommandRefusal>(CommandResult::Titled { feed: 1 });
    let desk = Desk::over(fixture.store.clone(), Box::new(answer));
    let page = desk.text("/discover").await;
    assert!(page.contains("https://linked.example/feed"), "{page}");
    assert!(page.contains("No feed has three subscribers"), "{page}");
    let url = [("url", "https://linked.example/feed")];
    assert_eq!(desk.post("/discover/dismiss", &url).await.header("location"), "/discover");
    let page = desk.text("/discover").await;
    assert!(!page.contains("https://linked.example/feed"), "{page}");
    assert!(page.contains("Suggest dismissed feeds again (1)"), "{page}");
    desk.post("/discover/restore", &[]).await;
    assert!(desk.text("/discover").await.contains("https://linked.example/feed"));

    desk.text("/entry/1").await;
    let page = desk.text("/statistics").await;
    assert!(page.contains("You opened 1 entry since"), "{page}");
    assert!(!desk.text("/account").await.contains("name=\"counted\""), "there is nobody else");
}
