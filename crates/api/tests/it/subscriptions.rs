//! Two people, four feeds, one in common: each sees exactly their own on every surface.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use api::auth::{digest, fever_digest};
use api::{ServerContext, router};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use feed::{Enclosure, EntryId, FeedId, FeedUrl, Item, Outcome, Published};
use serde_json::{Value, json};
use store::{AccountId, NewEntry, NewFeed, NewToken, OpenMode, PollRecord, Store, TokenScope};
use tower::ServiceExt;

use crate::fixture::{T0, live};

/// Anna reads feeds 1, 2 and 4 and is an admin. Bert reads feeds 3 and 4. Each feed has one entry
/// with its number.
pub struct Two {
    pub store: Store,
    router: Router,
    pub accounts: [AccountId; 2],
    _folder: tempfile::TempDir,
}

pub const NAMES: [&str; 2] = ["anna", "bert"];
/// printf 'anna:anna-token' | md5sum
const FEVER_KEYS: [&str; 2] =
    ["cc3416eaf6243c5a9fafd51f7a997d46", "706eed79c2fce386d9ec97307c945330"];
pub const OWN: [&[u32]; 2] = [&[1, 2, 4], &[3, 4]];

/// Adds an account with the token `NAME-token`.
pub fn person(store: &Store, name: &str) -> AccountId {
    let account = store.add_account(name, "no hash", T0).unwrap().unwrap();
    let secret = format!("{name}-token");
    let new = NewToken {
        account,
        name: "phone".to_owned(),
        scope: TokenScope::Admin,
        digest: digest(&secret),
        fever_digest: fever_digest(name, &secret),
    };
    store.add_token(&new, T0).unwrap().unwrap();
    account
}

pub fn two() -> Two {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let accounts = NAMES.map(|name| person(&store, name));
    for feed in 1..=4_u32 {
        for (account, own) in accounts.iter().zip(OWN) {
            if own.contains(&feed) {
                let url = FeedUrl::parse(&format!("https://feed{feed}.example/")).unwrap();
                let tags = vec![format!("tag of {account}")];
                let new = NewFeed { url, title: None, site: None, tags };
                let added = store.subscribe(*account, &[new], T0).unwrap();
                assert_eq!(added[0].id, FeedId(feed), "the common feed is one");
            }
        }
        let at = T0 + Duration::from_secs(u64::from(feed));
        let mut record = PollRecord::empty(FeedId(feed), 0, at, Outcome::Seen, at);
        let title = Some(format!("Entry of feed{feed}"));
        record.document_mut().entries.new.push(NewEntry {
            key: feed::EntryKey::from_bytes([u8::try_from(feed).unwrap(); 16]),
            item: Item {
                title,
                link: Some(format!("https://feed{feed}.example/1")),
                enclosures: vec![Enclosure {
                    url: format!("https://feed{feed}.example/1.mp3"),
                    ..Enclosure::default()
                }],
                ..Item::default()
            },
            published: Published { claim: None, at },
            content: 0,
            facts: store::EntryFacts::default(),
        });
        store.record_blocking(record).unwrap();
    }
    let now = Arc::new(|| T0 + Duration::from_secs(3600));
    let context = ServerContext::new(store.clone(), now, Arc::new(live), "1").unwrap();
    Two { router: router(context), store, accounts, _folder: folder }
}

impl Two {
    pub async fn ask(&self, request: Request<Body>) -> (u16, String) {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), 1 << 22).await.unwrap();
        (status, String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Asks with a token of a person, in the header that the API wants.
    pub async fn get(&self, who: usize, path: &str) -> (u16, String) {
        let token = format!("{}-token", NAMES[who]);
        let request = Request::get(path);
        let request = match path {
            path if path.starts_with("/v1/") => request.header("x-auth-token", token),
            path if path.starts_with("/reader/") => {
                request.header("authorization", format!("GoogleLogin auth={token}"))
            }
            _ => request.header("authorization", format!("Bearer {token}")),
        };
        self.ask(request.body(Body::empty()).unwrap()).await
    }

    pub async fn json(&self, who: usize, path: &str) -> Value {
        let (status, text) = self.get(who, path).await;
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap_or_else(|_| json!(text))
    }

    async fn fever(&self, who: usize, asked: &str) -> Value {
        let key = FEVER_KEYS[who];
        let request = Request::post(format!("/fever/?api&{asked}"))
            .header("content-type", "application/x-www-form-urlencoded");
        let request = request.body(Body::from(format!("api_key={key}"))).unwrap();
        serde_json::from_str(&self.ask(request).await.1).unwrap()
    }
}

/// The feeds that a text names by their host or by their entries.
pub fn named(text: &str) -> Vec<u32> {
    (1..=4).filter(|feed| text.contains(&format!("feed{feed}"))).collect()
}

fn ids(list: &Value, name: &str) -> BTreeSet<u64> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list}"));
    list.iter().map(|one| one[name].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn lists_of_every_surface_show_exactly_the_own_feeds() {
    let two = two();
    for who in 0..2 {
        let own = OWN[who];
        for path in [
            "/",
            "/?show=all",
            "/feeds",
            "/export.opml",
            "/account/export.json",
            "/offline/entries",
            "/api/v1/feeds",
            "/api/v1/opml",
            "/api/v1/entries",
            "/api/v1/reading",
            "/api/v1/reading?search=entry",
            "/api/v1/reading?search=TITLE+CONTAINS+%22entry%22",
            "/v1/feeds",
            "/v1/entries",
            "/v1/export",
            "/reader/api/0/subscription/list",
            "/reader/api/0/subscription/export",
            "/reader/api/0/stream/contents/user/-/state/com.google/reading-list",
            "/reader/atom/user/-/state/com.google/reading-list",
        ] {
            if path.contains("search") {
                let words = (1..=4).map(|n| store::SearchWords {
                    entry: EntryId(n),
                    edited_at: None,
                    article_at: None,
                    title: "entry".to_owned(),
                    body: String::new(),
                });
                two.store.index(words.collect()).await.unwrap();
            }
            let (status, text) = two.get(who, path).await;
            assert_eq!(status, 200, "{path}");
            assert_eq!(named(&text), own, "{} at {path}: {text}", NAMES[who]);
            let other = format!("tag of {}", two.accounts[1 - who]);
            assert!(!text.contains(&other), "{path} shows a tag of somebody else");
        }
        let own: BTreeSet<u64> = own.iter().map(|feed| u64::from(*feed)).collect();
        let fever = two.fever(who, "feeds&groups&items&unread_item_ids").await;
        assert_eq!(ids(&fever["feeds"], "id"), own);
        assert_eq!(ids(&fever["items"], "id"), own, "entries have the numbers of their feeds");
        let unread = fever["unread_item_ids"].as_str().unwrap().split(',');
        assert_eq!(unread.map(|id| id.parse().unwrap()).collect::<BTreeSet<u64>>(), own);
        assert_eq!(fever["total_items"], own.len());
        assert_eq!(fever["groups"].as_array().unwrap().len(), 1);
        assert_eq!(two.json(who, "/api/v1/reading/unread").await["unread"], own.len());
        let counts = two.json(who, "/reader/api/0/unread-count").await;
        assert_eq!(counts["max"], own.len());
        let ids = two.json(who, "/v1/entries/ids").await;
        assert_eq!(ids["total"], own.len());
        let categories = two.json(who, "/v1/categories").await.to_string();
        assert!(!categories.contains(&format!("tag of {}", two.accounts[1 - who])), "{categories}");
    }
}

#[tokio::test]
async fn nothing_of_somebody_else_is_reached_by_its_number() {
    let two = two();
    // Bert is a reader: nothing of feed 1 is there for him.
    for path in [
        "/feed/1",
        "/entry/1",
        "/icons/1",
        "/play/1",
        "/feed/1/remove",
        "/api/v1/feeds/1",
        "/api/v1/feeds/1/polls",
        "/api/v1/feeds/1/requests",
        "/api/v1/feeds/1/behaviour",
        "/api/v1/entries/1",
        "/api/v1/entries/1/article",
        "/api/v1/entries/1/position",
        "/api/v1/reading?feed=1",
        "/api/v1/reading?feed=https://feed1.example/",
        "/api/v1/entries?feed=1",
        "/v1/feeds/1",
        "/v1/feeds/1/entries",
        "/v1/feeds/1/icon",
        "/v1/entries/1",
        "/v1/feeds/1/entries/1",
        "/reader/api/0/stream/contents/feed/1",
    ] {
        let (status, text) = two.get(1, path).await;
        assert_eq!(status, 404, "{path}: {text}");
        assert!(!text.contains("feed1"), "{path}: {text}");
    }
    let request = |path: &str, body: &str| {
        Request::patch(path)
            .header("authorization", "Bearer bert-token")
            .header("content-type", "application/json")
            .body(Body::from(body.to_owned()))
            .unwrap()
    };
    let starred = two.ask(request("/api/v1/entries/1", "{\"starred\":true}")).await;
    assert_eq!(starred.0, 404, "{}", starred.1);
    let changed = two.ask(request("/api/v1/feeds/1", "{\"title\":\"x\"}")).await;
    assert_eq!(changed.0, 404, "{}", changed.1);
    // He changes his own title of the common feed, and nothing that others notice.
    let changed = two.ask(request("/api/v1/feeds/4", "{\"paused\":true}")).await;
    assert_eq!(changed.0, 403, "{}", changed.1);
    let path = "/api/v1/feeds/1/requests";
    assert_eq!(two.ask(request(path, "{\"login\":\"a:b\"}")).await.0, 404);
    let path = "/api/v1/feeds/4/requests";
    let proxied = two.ask(request(path, "{\"proxy\":\"socks5://p.example\"}")).await;
    assert_eq!(proxied.0, 403, "{}", proxied.1);
    let fever = two.fever(1, "items&with_ids=1,2,3,4").await;
    assert_eq!(ids(&fever["items"], "id"), BTreeSet::from([3, 4]));
    // Anna is an admin: she sees the state of every feed, and only her own entries.
    assert_eq!(two.get(0, "/feed/3").await.0, 200);
    assert_eq!(named(&two.get(0, "/api/v1/feeds?all=true").await.1), [1, 2, 3, 4]);
    assert_eq!(named(&two.get(0, "/feeds?whose=all").await.1), [1, 2, 3, 4]);
    assert_eq!(two.get(0, "/api/v1/entries/3").await.0, 404);
    assert_eq!(two.get(1, "/api/v1/feeds?all=true").await.0, 403);
    assert_eq!(named(&two.get(1, "/feeds?whose=all").await.1), [3, 4]);
}

#[tokio::test]
async fn nobody_listens_to_entries_of_somebody_else() {
    let two = two();
    let (_, page) = two.get(1, "/").await;
    let (_, key) = page.split_once("name=\"form_key\" value=\"").unwrap();
    let key = key.split('"').next().unwrap();
    for (entry, status) in [(1, 404), (3, 204)] {
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("form_key", key)
            .append_pair("enclosure", &format!("https://feed{entry}.example/1.mp3"))
            .append_pair("seconds", "1")
            .finish();
        let request = Request::post(format!("/play/{entry}/position"))
            .header("authorization", "Bearer bert-token")
            .header("content-type", "application/x-www-form-urlencoded");
        let answer = two.ask(request.body(Body::from(form)).unwrap()).await;
        assert_eq!(answer.0, status, "entry {entry}: {}", answer.1);
        let kept = two.store.playback_positions(two.accounts[1], EntryId(entry)).unwrap();
        assert_eq!(kept.len(), usize::from(status == 204));
    }
}

#[tokio::test]
async fn marks_and_titles_of_the_common_feed_are_separate() {
    let two = two();
    let [anna, bert] = two.accounts;
    two.store.mark_read(anna, &[EntryId(4)], true).unwrap();
    two.store.star(bert, &[EntryId(4)], true, T0).unwrap();
    two.store.title_subscription(bert, FeedId(4), Some("Bert's own title")).unwrap();
    let status = |entry: &Value| (entry["status"].clone(), entry["starred"].clone());
    let of = async |who| status(&two.json(who, "/v1/entries/4").await);
    assert_eq!(of(0).await, (json!("read"), json!(false)));
    assert_eq!(of(1).await, (json!("unread"), json!(true)));
    let unread = async |who| two.json(who, "/api/v1/reading/unread").await["unread"].clone();
    assert_eq!((unread(0).await, unread(1).await), (json!(2), json!(2)));
    for path in ["/", "/feeds", "/api/v1/feeds", "/reader/api/0/subscription/list", "/v1/feeds"] {
        assert!(!two.get(0, path).await.1.contains("Bert&#39;s own"), "{path}");
        assert!(!two.get(0, path).await.1.contains("Bert's own"), "{path}");
    }
    assert!(two.get(1, "/v1/feeds").await.1.contains("Bert's own title"));
}

#[tokio::test]
async fn a_query_is_seen_by_its_owner_until_it_is_shared() {
    let two = two();
    let [anna, _] = two.accounts;
    let new = store::NewQuery {
        name: "Mine".to_owned(),
        text: "CREATE FEED Mine AS RETURN ALL FEEDS".to_owned(),
        urls: Vec::new(),
        receivers: Vec::new(),
        scope: store::QueryScope { owner: Some(anna), shared: false },
        link_key: "k".to_owned(),
        signing_key: "k".to_owned(),
    };
    two.store.change_queries(vec![store::QueryChange::Put(new)], None, T0).unwrap();
    let paths = [
        "/query/Mine",
        "/feeds/Mine.atom",
        "/api/v1/queries/Mine",
        "/api/v1/reading?query=Mine",
        "/api/v1/entries?query=Mine",
        "/reader/api/0/stream/contents/user/-/label/query:Mine",
    ];
    for path in paths {
        assert_eq!(two.get(0, path).await.0, 200, "{path}");
        assert_eq!(two.get(1, path).await.0, 404, "{path}");
    }
    assert!(!two.get(1, "/queries").await.1.contains("Mine"));
    assert!(!two.get(1, "/").await.1.contains("query=Mine"));
    two.store.share_query("Mine", true).unwrap();
    for path in paths {
        assert_eq!(two.get(1, path).await.0, 200, "{path}");
    }
    let (_, page) = two.get(1, "/query/Mine").await;
    assert!(!page.contains("<textarea"), "only the owner changes it");
    assert_eq!(two.get(1, "/api/v1/queries/Mine/deliveries").await.0, 403);
}
