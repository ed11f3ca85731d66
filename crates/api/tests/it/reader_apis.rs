//! Reader apps: the exact answer to each call. The fixture has two accounts, three feeds, five
//! entries and one query. Commands for the engine are recorded and not carried out.

mod fever;
mod google;
mod google_streams;
mod miniflux;
mod miniflux_entries;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::auth::{digest, fever_digest, hash_password};
use api::{ServerContext, router};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use dispatch::command::{AddedFeed, Command, CommandRefusal, CommandResult, NotAdded, PollSummary};
use feed::{Enclosure, FeedId, FeedUrl, Item, Outcome, Published};
use serde_json::Value;
use store::{
    AccountId, NewEntry, NewFeed, NewQuery, NewToken, OpenMode, PollRecord, QueryChange, Store,
    TokenScope,
};

use crate::Answer;
use crate::fixture::{MatchByName, T0, live};

pub const FORM: &str = "application/x-www-form-urlencoded";

pub struct AppFixture {
    pub store: Store,
    pub anna: AccountId,
    router: Router,
    acts: Arc<Mutex<Vec<Command>>>,
    _folder: tempfile::TempDir,
}

/// Anna has the password `correct horse`, and for each scope a token with its name.
pub fn house() -> AppFixture {
    let house = empty(true);
    for (number, (tags, site)) in [
        (&["Tech & more", "daily"][..], Some("https://one.example/")),
        (&["daily"], None),
        (&[], Some("javascript:alert(1)")),
    ]
    .into_iter()
    .enumerate()
    {
        let url = format!("https://feed{number}.example/rss?token=secret&x=1");
        let new = NewFeed {
            url: FeedUrl::parse(&url).unwrap(),
            title: Some(format!("Feed <b>{number}</b> &amp; Co")),
            site: site.map(str::to_owned),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        };
        house.store.subscribe(house.anna, &[new], T0).unwrap();
    }
    house.query("red");
    house.see(1, &["first", "red second"], 100);
    house.see(2, &["third", "red fourth"], 1000);
    house.see(3, &["fifth"], 2000);
    house
}

/// A fixture without feeds; an open one has no accounts.
pub fn empty(accounts: bool) -> AppFixture {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    store.install(Box::new(MatchByName::default())).unwrap();
    let mut anna = AccountId::LOCAL;
    if accounts {
        let hashed = hash_password("correct horse").unwrap();
        anna = store.add_account("anna", &hashed, T0).unwrap().unwrap();
        store.add_account("bert", "no hash", T0).unwrap().unwrap();
        for scope in TokenScope::ALL {
            let word = scope.word();
            let new = NewToken {
                account: anna,
                name: word.to_owned(),
                scope,
                digest: digest(&format!("{word}-token")),
                fever_digest: fever_digest("anna", &format!("{word}-token")),
            };
            store.add_token(&new, T0).unwrap().unwrap();
        }
    }
    let now = Arc::new(|| T0 + Duration::from_secs(3600));
    let context = ServerContext::new(store.clone(), now, Arc::new(live), "1").unwrap();
    let acts: Arc<Mutex<Vec<Command>>> = Arc::default();
    let (noted, kept) = (Arc::clone(&acts), store.clone());
    let act: api::CommandFn = Arc::new(move |command| {
        noted.lock().unwrap().push(command.clone());
        Box::pin(std::future::ready(done(&kept, &command)))
    });
    let router = router(ServerContext { act, ..context });
    AppFixture { store, anna, router, acts, _folder: folder }
}

/// Returns the answer of an engine. Feeds are really added.
fn done(store: &Store, command: &Command) -> Result<CommandResult, CommandRefusal> {
    let refused = |message: &str| Err(CommandRefusal { message: message.to_owned(), input: true });
    match command {
        Command::Add { urls, tags, poll, account, .. } => {
            let account = account.map_or(AccountId::LOCAL, AccountId);
            let (mut feeds, mut not_added) = (Vec::new(), Vec::new());
            for url in urls {
                let Ok(parsed) = FeedUrl::parse(url) else { return refused("no address") };
                let new = NewFeed { url: parsed, title: None, site: None, tags: tags.clone() };
                let candidates = match url.contains("several") {
                    true => vec!["https://a.example/".to_owned(), "https://b.example/".to_owned()],
                    false => vec![],
                };
                let dead = url.contains("dead") || !candidates.is_empty();
                let polled = PollSummary {
                    feed: 0,
                    outcome: if dead { "failed" } else { "seen" }.to_owned(),
                    new: 0,
                    suspected_miss: false,
                    next_poll: None,
                    detail: String::new(),
                    candidates,
                };
                if dead {
                    not_added.push(NotAdded { url: url.clone(), poll: polled });
                    continue;
                }
                let added = store.subscribe(account, &[new], T0).unwrap().remove(0);
                feeds.push(AddedFeed {
                    id: added.id.0,
                    url: url.clone(),
                    existed: added.existed,
                    twin: None,
                    poll: poll.then_some(polled),
                });
            }
            Ok(CommandResult::Added { feeds, not_added })
        }
        Command::Import { feeds, .. } => {
            Ok(CommandResult::Imported { added: feeds.len(), known: 0, refused: vec![] })
        }
        Command::Remove { feed, .. } => {
            Ok(CommandResult::Removed { feed: feed.parse().unwrap(), url: "".into() })
        }
        Command::RenameTag { tag, to, account } => {
            match account {
                None => store.rename_tag(tag, to.as_deref()).unwrap(),
                Some(account) => {
                    store.rename_tag_of(AccountId(*account), tag, to.as_deref()).unwrap();
                }
            }
            Ok(CommandResult::Tagged { feeds: 1 })
        }
        Command::Tag { .. } => Ok(CommandResult::Tagged { feeds: 1 }),
        Command::Title { .. } | Command::Move { .. } => Ok(CommandResult::Titled { feed: 1 }),
        Command::Poll { .. } => Ok(CommandResult::Polled { polls: vec![] }),
        _ => refused("not here"),
    }
}

impl AppFixture {
    pub fn query(&self, name: &str) {
        let new = NewQuery {
            name: name.to_owned(),
            text: format!("CREATE FEED {name} AS RETURN ALL FEEDS"),
            urls: Vec::new(),
            receivers: Vec::new(),
            scope: store::QueryScope::default(),
            link_key: "k".to_owned(),
            signing_key: "k".to_owned(),
        };
        self.store.change_queries(vec![QueryChange::Put(new)], None, T0).unwrap();
    }

    /// Records a poll with entries that were published an hour before, a minute apart.
    pub fn see(&self, feed: u32, titles: &[&str], after: u64) {
        let at = T0 + Duration::from_secs(after);
        let generation = self.store.poll_input(FeedId(feed)).unwrap().generation;
        let mut record = PollRecord::empty(FeedId(feed), generation, at, Outcome::Seen, at);
        record.document_mut().facts = self.store.feed(FeedId(feed)).unwrap().facts;
        for (number, title) in titles.iter().enumerate() {
            let mut key = [0; 16];
            key[..8].copy_from_slice(&(after * 1000 + number as u64).to_le_bytes());
            let published_at = at - Duration::from_secs(3600 - 60 * number as u64);
            let item = Item {
                title: Some(format!("{title} <i>&amp;</i>")),
                link: Some(format!("https://e.example/{after}/{number}")),
                author: (number == 1).then(|| "A. <b>B</b>".to_owned()),
                content: Some(format!(
                    "<p onclick=x>{title}<script>x</script> <a href='/y'>y</a></p>"
                )),
                enclosures: vec![Enclosure {
                    url: "https://e.example/a.mp3".to_owned(),
                    mime_type: Some("audio/mpeg".to_owned()),
                    length: Some(5),
                    ..Enclosure::default()
                }],
                ..Item::default()
            };
            record.document_mut().entries.new.push(NewEntry {
                key: feed::EntryKey::from_bytes(key),
                item,
                published: Published { claim: Some(published_at), at: published_at },
                content: 0,
                facts: store::EntryFacts::default(),
            });
        }
        self.store.record_blocking(record).unwrap();
    }

    /// Returns the commands since the last call, as JSON. Those for an account are anna's.
    pub fn acts(&self) -> Vec<Value> {
        let taken = std::mem::take(&mut *self.acts.lock().unwrap());
        let shown = taken.iter().map(|command| {
            let mut shown = serde_json::to_value(command).unwrap();
            let account = shown.as_object_mut().unwrap().remove("account");
            assert!(account.is_none_or(|account| account == self.anna.0));
            shown
        });
        shown.collect()
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        use tower::ServiceExt;
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, 1 << 24).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    /// Returns the entries that Anna has not read, and those that she starred.
    pub fn state(&self) -> (Vec<i64>, Vec<i64>) {
        let marks = self.store.read_marks(self.anna).unwrap();
        let mut unread: Vec<i64> = marks.unread().map(|id| id.0).collect();
        let mut starred: Vec<i64> =
            self.store.stars(self.anna).unwrap().iter().map(|id| id.0).collect();
        unread.sort_unstable();
        starred.sort_unstable();
        (unread, starred)
    }
}

#[track_caller]
pub fn json(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text);
    serde_json::from_str(&answer.text).unwrap_or_else(|e| panic!("{e}: {}", answer.text))
}
