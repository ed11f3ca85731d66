//! A store with rows in every table.

use std::time::Duration;

use feed::{Domain, EntryId, FeedId, Hints, RawAnswer};
use store::{
    AccountId, ArticleRecord, ArticleText, ArticleTry, CategoryOrigin, DeadLetter, EntryCategory,
    EntryFacts, EntryLanguage, HubVerification, IconLook, IconRecord, IconRow, Identity,
    LanguageOrigin, Location, NewArticle, NewFeed, NewPushDevice, NewQuery, NewRecording, NewRule,
    NewToken, PlaybackPosition, PushCandidate, QueryChange, RecordedAnswer, RobotsRow, RuleAct,
    RuleEffect, RuleStep, Scope, SessionOrigin, SettingsChange, Store, StoredPace,
    SubscriberRequest, SubscriberRequestKind, TokenScope, testing,
};

use crate::record::retention::MatchesAll;
use crate::sample::{T0, add, at, item, new_feed, poll, seen, unchanged};

/// Rows that only rare events write.
const RARE: &str = "insert into poll_days (feed, day, polls, unchanged, failed, n_new, misses, \
      bytes) values (1, 19000, 24, 20, 1, 3, 0, 123456789012); \
    insert into query_states (query, number, bytes) values (1, -7, x'00ff10'), (1, 8, x''); \
    insert into query_orphans (feed) values (2); \
    insert into entry_gaps (first, last) values (9000, 9999); \
    insert into fetch_settings (feed, name, origin, shown, sealed, changed_at) values \
      (1, 'cookie', 'https://example.org', null, x'00ff10', 5), \
      (1, 'user-agent', 'https://example.org', 'A browser', null, 6); \
    insert into share_targets (account, position, name, kind, template, signing_key) values \
      (1, 0, 'Mine', 'link', 'https://example.org/?u={url}', ''); \
    insert into move_ins (account, source, state, changed_at) values (1, 'other', '{}', 5); \
    insert into bulk_changes (account, number, at, what, feeds, bytes, undo) values \
      (1, 7, 5, 'paused 2 feeds', 2, 2, '{}'); \
    insert into story_entries (entry, story, published_at) values (1, 1, 5), (2, 1, 6); \
    insert into story_keys (key, entry, published_at) values (-7, 1, 5), (8, 1, 5); \
    insert into opened_marks (account, block, bits) values (1, 0, x'00ff10'); \
    insert into opened_days (account, feed, day, opened) values (1, 1, 19000, 3); \
    insert into opened_hours (account, hour, opened) values (1, 456000, 3); \
    insert into feed_popularity (feed, subscribers, openers, opened) values (1, 4, 3, 12); \
    insert into feed_neighbours (feed, other, people, similarity) values (1, 3, 3, 0.375); \
    insert into feed_sites (feed, site) values (1, 'example.org'); \
    insert into linked_sites (feed, site, origin, linked_at) values \
      (1, 'linked.example', 'https://www.linked.example', 5); \
    insert into site_looks (site, looked_at) values ('linked.example', 6); \
    insert into site_feeds (site, place, url, title) values \
      ('linked.example', 0, 'https://linked.example/feed', null); \
    insert into dismissed_feeds (account, url, dismissed_at) values \
      (1, 'https://example.org/no', 7); \
    insert into settings (key, value) values ('odd', 'quote '' back\\slash ü 𝄞')";

/// The bytes of PostgreSQL have another notation.
const RARE_BYTES: [(&str, &str); 2] =
    [("x'00ff10'", "decode('00ff10', 'hex')"), ("x''", "''::bytea")];

/// Fills an empty store that is open at a place.
pub async fn fill(store: &Store, location: &Location) {
    let feeds = feeds(store);
    queries(store, feeds[0]).await;
    entries(store, &feeds).await;
    people(store);
    rules(store).await;
    pushes(store, feeds[0]).await;
    recording(store, feeds[2]);
    articles(store, feeds[0]).await;
    for key in ["one", "two"] {
        store.set_setting(key, Some("a value")).unwrap();
    }
    store.leave_request("command", "{}", T0).unwrap();
    let mut rare = RARE.to_owned();
    if matches!(location, Location::Postgres(_)) {
        for (sqlite, postgres) in RARE_BYTES {
            rare = rare.replace(sqlite, postgres);
        }
    }
    testing::execute(location, &rare);
}

fn feeds(store: &Store) -> Vec<FeedId> {
    let mut new = new_feed("https://example.org/a");
    new.tags = vec!["news".to_owned(), "Ärger".to_owned()];
    let feeds = [
        store.add_feed(&new, T0).unwrap().id,
        add(store, "https://example.org/b?key=secret"),
        add(store, "https://other.example/c"),
    ];
    let lost = add(store, "https://other.example/lost");
    store.remove_feed(lost).unwrap();
    let change = SettingsChange {
        policy: Some(Some("tide".to_owned())),
        weight: Some(Some(2.5)),
        max_delay: Some(Some(Duration::from_secs(60))),
        paused: Some(Some(true)),
        ..SettingsChange::default()
    };
    store.set_feed(feeds[2], &change).unwrap();
    store.set_tag("news", &SettingsChange { paused: None, ..change }).unwrap();
    store.make_tag("Made by an app").unwrap();
    feeds.to_vec()
}

async fn queries(store: &Store, feed: FeedId) {
    store.install(Box::new(MatchesAll)).unwrap();
    let query = |name: &str| {
        QueryChange::Put(NewQuery {
            name: name.to_owned(),
            text: "select everything".to_owned(),
            urls: vec![crate::sample::url("https://example.org/a")],
            receivers: vec!["file got".to_owned(), "webhook https://example.com/".to_owned()],
            scope: store::QueryScope::default(),
            link_key: format!("link {name}"),
            signing_key: "signs".to_owned(),
        })
    };
    store.change_queries(vec![query("Q"), query("Gone")], None, T0).unwrap();
    store.change_queries(vec![QueryChange::Drop("Gone".to_owned())], None, T0).unwrap();
    let id = store.query("Q").unwrap().unwrap().id;
    poll(store, feed, &["2", "1"], at(10));
    let receivers = store.deliveries(Some(id)).unwrap();
    store.delivered(receivers[0].id, 0, 2, None, at(11)).await.unwrap();
    let letter = DeadLetter {
        delivery: receivers[1].id,
        position: 1,
        entry: EntryId(1),
        at: at(12),
        attempts: 12,
        error: "410".to_owned(),
        to_replay: false,
    };
    store.add_dead_letter(letter, 0).await.unwrap();
    store.replay_dead_letters(id).unwrap();
    store.note_relevance(EntryId(1), true, at(13)).unwrap();
    let subscribe = SubscriberRequestKind::Subscribe {
        secret: Some("hub secret".to_owned()),
        lease: Duration::from_secs(86_400),
    };
    for path in 0..2 {
        let wish = SubscriberRequest {
            query: id,
            topic: "http://localhost/feeds/Q.atom".to_owned(),
            callback: format!("https://reader.example/{path}"),
            domain: Domain::from_stored("reader.example"),
            from: "192.0.2.1".to_owned(),
            kind: subscribe.clone(),
            protocol: store::SubscriberProtocol::WebSub,
        };
        store.add_hub_request(&wish, at(14)).unwrap();
    }
    store.confirm_hub_request(1, subscribe, at(15)).await.unwrap();
}

async fn entries(store: &Store, feeds: &[FeedId]) {
    let mut items = vec![item("3", "new"), item("2", "edited"), item("1", "title of 1")];
    items[0].content = Some("<p>ü 𝄞 \u{202e}</p>".repeat(5000));
    items[0].categories = vec!["one".to_owned(), "two".to_owned()];
    let mut record = seen(store, feeds[0], &items, at(100));
    record.document_mut().hints = Hints { ttl: Some(Duration::from_secs(600)), ..Hints::default() };
    record.document_mut().facts.title = Some("The title".to_owned());
    record.document_mut().facts.hub = Some("https://hub.example/".to_owned());
    record.document_mut().facts.topic = Some("https://example.org/a".to_owned());
    store.record_blocking(record).unwrap();
    for n in 0..3 {
        store.record_blocking(unchanged(store, feeds[0], at(200 + n))).unwrap();
    }
    // More than one step of a cursor.
    let ids: Vec<String> = (0..250).map(|n| format!("entry {n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    poll(store, feeds[1], &ids, at(300));
    let pace = StoredPace {
        domain: Domain::from_stored("other.example"),
        last_request_at: Some(at(300)),
        not_before: Some(at(900)),
        reason: Some("429".to_owned()),
    };
    store.store_pace(pace).await.unwrap();
}

fn people(store: &Store) {
    let anna = store.add_account("anna", "$argon2id$hash", T0).unwrap().unwrap();
    let lost = store.add_account("lost", "hash", T0).unwrap().unwrap();
    store.remove_account(lost).unwrap();
    let origin = SessionOrigin { device: "Firefox/130".to_owned(), address: "::1".to_owned() };
    store.begin_session_at(anna, [1; 32], origin, T0, at(100_000)).unwrap();
    let identity =
        Identity { issuer: "https://login.example.org".to_owned(), subject: "24-Ü".to_owned() };
    store.connect_identity(anna, &identity, T0).unwrap().unwrap();
    let token = NewToken {
        account: anna,
        name: "phone".to_owned(),
        scope: TokenScope::Write,
        digest: [5; 32],
        fever_digest: [6; 32],
    };
    store.add_token(&token, T0).unwrap().unwrap();
    for account in [anna, AccountId::LOCAL] {
        store.mark_read(account, &[EntryId(2)], true).unwrap();
        store.star(account, &[EntryId(1)], true, at(20)).unwrap();
    }
    store.mark_list_read(anna, &Scope::All, EntryId(3), at(400)).unwrap();
    store.choose(anna, "zone", Some("Europe/Berlin")).unwrap();
    let private =
        NewFeed { tags: vec!["mine".to_owned()], ..new_feed("https://me:secret@private.example/") };
    store.subscribe(anna, &[private], at(30)).unwrap();
}

async fn rules(store: &Store) {
    let account = AccountId::LOCAL;
    let device = NewPushDevice {
        session: None,
        endpoint: "https://push.example/1".to_owned(),
        p256dh: vec![4; 65],
        auth: vec![0; 16],
        name: "Firefox on Linux".to_owned(),
    };
    assert!(store.put_push_device(account, &device, T0).unwrap());
    let text = "CREATE RULE r ON ALL FEEDS DO HIDE".to_owned();
    let rule = NewRule { name: "r".to_owned(), text, is_on: true, replaces: None };
    let rule = store.put_rule(account, &rule, T0).unwrap().unwrap().id;
    let effects = [RuleEffect::Hide, RuleEffect::Label("ü".to_owned()), RuleEffect::Notify];
    let act = RuleAct { rule, account, entry: EntryId(3), effects: effects.into() };
    let (from, version) = store.rule_progress().unwrap();
    let step = RuleStep { version, from, to: EntryId(3), acts: vec![act] };
    assert!(store.act_by_rules(step, at(21)).await.unwrap());
}

async fn pushes(store: &Store, feed: FeedId) {
    let topic = "https://example.org/a".to_owned();
    let candidate =
        PushCandidate { feed, hub: "https://hub.example/".to_owned(), topic: topic.clone() };
    store.begin_push(candidate, "token".to_owned(), "secret".to_owned(), at(30)).await.unwrap();
    let id = store.push(feed).unwrap().unwrap().id;
    store.note_hub_asked(id, at(31), 1, at(60), None).await.unwrap();
    let lease = HubVerification::Subscribe { lease: Duration::from_secs(86_400) };
    assert!(store.confirm_push("token", &topic, &lease, at(32)).unwrap());
    let body = vec![0, 255, 10, 13, 92, 39];
    store.receive_push("token", Some("text/xml".to_owned()), None, body, at(33)).unwrap();
    let url = feed::FeedUrl::parse("https://example.org/a").unwrap();
    let cloud = "http://cloud.example:80/notify http-post".to_owned();
    let candidate = store::CloudCandidate { feed, cloud, url };
    store.begin_cloud(candidate, "cloud token".to_owned(), at(34), None).await.unwrap();
}

async fn articles(store: &Store, feed: FeedId) {
    let mut record = seen(store, feed, &[item("4", "An article")], at(600));
    record.document_mut().facts.detected_language = Some(("de".to_owned(), 990));
    let new = &mut record.document_mut().entries.new[0];
    new.facts = EntryFacts {
        language: Some(EntryLanguage {
            tag: "de-AT".to_owned(),
            source: LanguageOrigin::Detected,
            confidence_permille: Some(990),
        }),
        category: Some(EntryCategory { name: "Politik".to_owned(), source: CategoryOrigin::Item }),
        topic: Some(11),
        wants_article: true,
    };
    new.item.media.duration = Some(77);
    let entry = store.record_blocking(record).unwrap().new_ids[0];
    store.request_new_articles(at(601), Duration::from_secs(60), 10).await.unwrap();
    let text = ArticleText {
        title: Some("An article".to_owned()),
        text: "Der ganze Text".to_owned(),
        html: "<p>Der ganze Text</p>".to_owned(),
        n_words: 3,
        ..ArticleText::default()
    };
    let page = Some(b"<html>\xff".to_vec());
    let new = NewArticle { text, page, facts: None, etag: None, last_modified: None };
    let record = ArticleRecord {
        entry,
        fetched_at: at(602),
        url: "https://example.org/4".to_owned(),
        extractor: "test 1".to_owned(),
        content: Ok(new),
    };
    store.record_article(record).await.unwrap();
    store.request_article(EntryId(1), at(603)).unwrap();
    let counted_for = Some("example.org".to_owned());
    let (entry_1, at_604) = (EntryId(1), at(604));
    let one = ArticleTry { entry: entry_1, tries: 0, at: at_604, next_at: at_604, counted_for };
    store.begin_article(one).await.unwrap();
    let robots = RobotsRow {
        origin: "https://example.org".to_owned(),
        fetched_at: at(605),
        expires_at: at(90_000),
        rules: "disallow: /private".to_owned(),
    };
    store.put_robots(robots).await.unwrap();
    let origin = "https://example.org".to_owned();
    store.note_icon_origins(vec![(feed, origin.clone())], at(606)).await.unwrap();
    let icon = IconRow {
        hash: "00ff".to_owned(),
        mime_type: "image/png".to_owned(),
        width: 16,
        height: 16,
        bytes: vec![0, 255, 10],
    };
    let found = IconLook::Found { icon, url: format!("{origin}/favicon.ico"), etag: None };
    let record = IconRecord { origin, found, at: at(607), next_at: at(99_000) };
    store.record_icon(record).await.unwrap();
    let position = PlaybackPosition {
        entry,
        url: "https://example.org/4.mp3".to_owned(),
        seconds: 12.5,
        duration: Some(77.0),
        changed_at: at(608),
    };
    assert!(store.put_playback_position(AccountId::LOCAL, &position).unwrap());
}

fn recording(store: &Store, feed: FeedId) {
    let new = NewRecording {
        started_at: at(500),
        ends_at: at(9000),
        policy: "recording".to_owned(),
        user_agent: "Tidings/test".to_owned(),
        feed_bytes_max: Some(1_000_000),
        bytes_max: None,
    };
    store.begin_recording(new).unwrap();
    for n in 0..3_u8 {
        let mut record = unchanged(store, feed, at(500 + i64::from(n)));
        let answer = RawAnswer {
            request: b"GET / HTTP/1.1\r\n".to_vec(),
            head: b"HTTP/1.1 200 OK\r\n".to_vec(),
            remote: Some([192, 0, 2, 1].into()),
            body: Some(vec![n, 0, 255]),
        };
        let url = "https://other.example/c".to_owned();
        record.raw = Some(Box::new(RecordedAnswer { url, hops: 0, answer }));
        store.record_blocking(record).unwrap();
    }
}
