//! One person asks for every object of another one, on every route, and gets nothing. Commands go
//! to a real engine.

mod lists;
mod objects;
mod order;
mod read_only;
mod streams;
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use api::auth::{digest, fever_digest};
use api::{ServerContext, router};
use axum::Router;
use axum::http::Request;
use dispatch::command::CommandRefusal;
use engine::{Clock, Engine, Settings, Watch};
use feed::{EntryId, FeedId, FeedUrl, Item, Outcome, Published};
use store::{
    AccountId, AccountRole, BulkScope, FeedSelection, FeedsChange, NewEntry, NewFeed, NewQuery,
    NewRule, NewToken, OpenMode, PollRecord, QueryChange, QueryScope, ShareKind, ShareTarget,
    Store, TokenScope,
};

use crate::fixture::{T0, live};
use crate::{Answer, asked};

/// A word in every text that belongs to Anna.
const MARK: &str = "zephyr";
const SECRET: &str = "https://me:pass@zephyr.example/feed";

/// Anna is an admin and has one of everything. Bert is a reader with a feed of his own.
struct Pair {
    store: Store,
    router: Router,
    engine: Arc<Engine>,
    anna: AccountId,
    bert: AccountId,
    /// The number of Anna's session and of her token.
    session: String,
    token: i64,
    /// The number of Anna's change of many feeds.
    change: i64,
    _folder: tempfile::TempDir,
}

fn add_token(store: &Store, account: AccountId, name: &str, scope: TokenScope) -> i64 {
    let secret = format!("{name}-token");
    let digest = digest(&secret);
    let fever_digest = fever_digest(name, &secret);
    let name = format!("{MARK} {name}");
    let new = NewToken { account, name, scope, digest, fever_digest };
    store.add_token(&new, T0).unwrap().unwrap().id
}

fn subscribe(store: &Store, account: AccountId, url: &str, title: &str, tag: &str) -> FeedId {
    let url = FeedUrl::parse(url).unwrap();
    let (title, tags) = (Some(title.to_owned()), vec![tag.to_owned()]);
    let new = NewFeed { url, title, site: None, tags };
    let feed = store.subscribe(account, &[new], T0).unwrap()[0].id;
    let mut record = PollRecord::empty(feed, 0, T0, Outcome::Seen, T0);
    let item = Item {
        title: Some(format!("{} entry", tag)),
        link: Some(format!("https://{tag}.example/1")),
        content: Some("<p>text</p>".to_owned()),
        ..Item::default()
    };
    record.document_mut().entries.new.push(NewEntry {
        key: feed::EntryKey::from_bytes([u8::try_from(feed.0).unwrap(); 16]),
        item,
        published: Published { claim: None, at: T0 },
        content: 0,
        facts: store::EntryFacts::default(),
    });
    record.decision.next.at = T0 + Duration::from_secs(1 << 30);
    store.record_blocking(record).unwrap();
    feed
}

fn query(store: &Store, owner: AccountId, name: &str) {
    let new = NewQuery {
        name: name.to_owned(),
        text: format!("CREATE FEED {name} AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"{name}\""),
        urls: Vec::new(),
        receivers: Vec::new(),
        scope: QueryScope { owner: Some(owner), shared: false },
        link_key: format!("key of {name}"),
        signing_key: format!("key of {name}"),
    };
    store.change_queries(vec![QueryChange::Put(new)], None, T0).unwrap();
}

async fn pair() -> Pair {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let role = Some(AccountRole::Reader);
    let anna = store.add_account("anna", "no hash", T0).unwrap().unwrap();
    let bert = store.add_account_as("bert", "no hash", role, T0).unwrap().unwrap();
    add_token(&store, bert, "bert", TokenScope::Admin);
    let token = add_token(&store, anna, "anna", TokenScope::Admin);
    store.begin_session(anna, digest("a session"), T0, T0 + Duration::from_secs(1 << 20)).unwrap();
    let session = store.sessions(anna, T0).unwrap()[0].number.to_string();
    let fetcher = fetch::Fetcher::new(fetch::Settings::new("https://example.org/")).unwrap();
    let clock = Clock::manual(T0 + Duration::from_secs(60));
    let engine = Engine::start(store.clone(), fetcher, clock, Settings::new(), Watch::All).unwrap();
    query(&store, anna, "zephyr");
    query(&store, bert, "berts");
    let secret = subscribe(&store, anna, SECRET, "The zephyr feed", MARK);
    assert_eq!(secret, FeedId(1));
    subscribe(&store, bert, "https://berts.example/", "The feed of Bert", "berts");
    let text = "CREATE RULE zephyr ON ALL FEEDS DO STAR".to_owned();
    let rule = NewRule { name: MARK.to_owned(), text, is_on: true, replaces: None };
    store.put_rule(anna, &rule, T0).unwrap().unwrap();
    store.label_entries(anna, MARK, &[EntryId(1)], true, T0).unwrap();
    let target = ShareTarget {
        position: 0,
        name: MARK.to_owned(),
        kind: ShareKind::Webhook,
        template: "https://hook.example/in?token=zephyr".to_owned(),
        signing_key: "whsec_zephyr".to_owned(),
    };
    store.add_share_target(anna, &target).unwrap().unwrap();
    let scope = BulkScope { actor: anna, owner: anna };
    let change = FeedsChange::Tag { add: vec!["zephyr more".to_owned()], remove: Vec::new() };
    let all = FeedSelection::Feeds(vec![secret]);
    let what = |n| format!("tagged {n} with zephyr");
    let change = store.change_feeds(scope, &all, &change, what, T0).unwrap().number.unwrap();
    let engine = Arc::new(engine);
    let acting = Arc::clone(&engine);
    let now = Arc::new(|| T0 + Duration::from_secs(60));
    let context = ServerContext {
        act: Arc::new(move |command| {
            let engine = Arc::clone(&acting);
            Box::pin(async move {
                let done = engine::command::carry_out(&engine, command, &|_, _| ()).await;
                done.map_err(|e| CommandRefusal { message: e.to_string(), input: e.is_input() })
            })
        }),
        ..ServerContext::new(store.clone(), now, Arc::new(live), "1").unwrap()
    };
    let router = router(context);
    Pair { store, router, engine, anna, bert, session, token, change, _folder: folder }
}

impl Pair {
    /// Sends a request as a person. A body that begins with `{` is JSON, any other a form.
    async fn send(&self, who: &str, method: &str, path: &str, body: &str) -> Answer {
        let token = format!("{who}-token");
        let (name, value) = match path {
            path if path.starts_with("/v1/") => ("x-auth-token", token),
            path if path.starts_with("/reader/") => {
                ("authorization", format!("GoogleLogin auth={token}"))
            }
            _ => ("authorization", format!("Bearer {token}")),
        };
        let kind = match body.starts_with('{') {
            true => "application/json",
            false => "application/x-www-form-urlencoded",
        };
        let headers = [(name, value.as_str()), ("content-type", kind)];
        let request = Request::builder().method(method).uri(path);
        asked(&self.router, request, &headers, body.to_owned().into()).await
    }
}
