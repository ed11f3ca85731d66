//! Queries as feeds: valid, private until published, and cheap to request again.

mod delta;
mod validity;

use feed::Item;
use parse::{Document, Format, Limits, document};

use crate::fixture::{Fixture, T0};
use crate::{Answer, get, post};

const HOST: (&str, &str) = ("host", "localhost");

async fn feed(shelf: &Fixture, path: &str) -> Answer {
    get(&shelf.router, path, &[HOST]).await
}

fn read(answer: &Answer) -> Document {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let kind = Some(answer.header("content-type"));
    document(answer.text.as_bytes(), kind, None, &Limits::default()).unwrap()
}

#[tokio::test]
async fn the_three_formats_say_the_same() {
    let shelf = Fixture::new(false);
    shelf.query("red", "TITLED \"All <red> things\" PUBLISH");
    shelf.see("https://a.org/feed?token=secret", &["red 1", "blue 2", "red 3 & more"], 10);
    for (end, format) in
        [("atom", Format::Atom10), ("rss", Format::Rss20), ("json", Format::JsonFeed1)]
    {
        let path = format!("/feeds/red.{end}");
        let answer = feed(&shelf, &path).await;
        let doc = read(&answer);
        assert_eq!((doc.format, doc.warnings.as_slice()), (format, [].as_slice()), "{end}");
        assert_eq!(doc.self_link.as_deref(), Some(&*format!("http://localhost{path}")));
        assert!(doc.title.is_some_and(|title| title.contains("red")));
        let ids: Vec<_> = doc.items.iter().map(|item| item.id.as_deref().unwrap()).collect();
        assert_eq!(ids, ["tag:a.org,2005:id+red+3+%26+more", "tag:a.org,2005:id+red+1"]);
        // In RSS a content without a summary is the description.
        let html = doc.items[1].content.as_ref().or(doc.items[1].summary.as_ref());
        assert_eq!(html.map(String::as_str), Some("<p>1 &lt; 2</p>"));
        assert!(!answer.text.contains("secret"), "{}", answer.text);
        let source = doc.items[0].source.as_ref().and_then(feed::Source::name);
        // RSS can hold only an address, and this one holds a secret.
        let named = (end != "rss").then_some("tag:a.org,2005:feed-1");
        assert_eq!(source, named, "{}", answer.text);
    }
}

#[tokio::test]
async fn atom_holds_to_the_rules_of_its_specification() {
    let shelf = Fixture::new(true);
    shelf.query("red", "");
    shelf.see("https://a.org/feed", &["red 1"], 10);
    let text = feed(&shelf, "/feeds/red.atom").await.text;
    // RFC 4287: feed and entry need exactly one id, title and updated; a source likewise.
    for (part, n) in [("<id>", 3), ("<updated>", 3), ("</title>", 3), ("<entry>", 1)] {
        assert_eq!(text.matches(part).count(), n, "{part} in {text}");
    }
    assert!(text.contains("<author>\n<name>"), "an author for every entry");
    assert!(text.contains("rel=\"self\" type=\"application/atom+xml\""));
    let source = "<source>\n<id>https://a.org/feed</id>\n<title type=\"text\">Their</title>";
    assert!(text.contains(source), "{text}");
}

#[tokio::test]
async fn what_is_not_published_does_not_exist_for_strangers() {
    let (closed, open) = (Fixture::new(false), Fixture::new(true));
    for shelf in [&closed, &open] {
        shelf.query("mine", "PRIVATE");
        shelf.query("friends", "PUBLISH BY SECRET LINK");
        shelf.query("all", "PUBLISH");
    }
    let status = async |shelf: &Fixture, path: &str| feed(shelf, path).await.status.as_u16();
    assert_eq!(status(&closed, "/feeds/mine.atom").await, 404);
    assert_eq!(status(&open, "/feeds/mine.atom").await, 200);
    assert_eq!(status(&closed, "/feeds/friends.atom").await, 404);
    assert_eq!(status(&closed, "/feeds/friends.atom?key=opensesam").await, 404);
    assert_eq!(status(&closed, "/feeds/friends.atom?key=opensesame").await, 200);
    assert_eq!(status(&closed, "/feeds/all.rss").await, 200);
    for path in ["/feeds/all.xml", "/feeds/none.atom", "/feeds/all", "/feeds/all.atom?before=x"] {
        assert_eq!(status(&open, path).await, 404, "{path}");
    }
    let link = feed(&closed, "/feeds/friends.json?key=opensesame").await;
    let own = "http://localhost/feeds/friends.json?key=opensesame";
    assert_eq!(read(&link).self_link.as_deref(), Some(own));
}

#[tokio::test]
async fn an_unchanged_feed_costs_no_body() {
    let shelf = Fixture::new(true);
    shelf.query("red", "");
    shelf.see("https://a.org/feed", &["red 1"], 10);
    let path = "/feeds/red.atom";
    let first = feed(&shelf, path).await;
    let (tag, date) = (first.header("etag").to_owned(), first.header("last-modified").to_owned());
    assert_eq!(date, "Tue, 14 Nov 2023 22:13:30 GMT");
    let again = async |name: &str, value: &str| {
        get(&shelf.router, path, &[HOST, (name, value)]).await.status.as_u16()
    };
    assert_eq!(again("if-none-match", &tag).await, 304);
    assert_eq!(again("if-modified-since", &date).await, 304);
    assert_eq!(again("if-modified-since", "Tue, 14 Nov 2023 22:13:29 GMT").await, 200);
    shelf.see("https://a.org/feed", &["red 2"], 20);
    assert_eq!(again("if-none-match", &tag).await, 200);
    assert_eq!(again("if-modified-since", &date).await, 200);
}

#[tokio::test]
async fn long_feeds_have_pages_and_windows_have_their_size() {
    let shelf = Fixture::new(true);
    for (name, options) in
        [("a", ""), ("b", "WINDOW LAST 3 ITEMS"), ("c", "WINDOW 55 MINUTES"), ("d", "")]
    {
        shelf.query(name, options);
    }
    let all: Vec<String> = (0..120).map(|n| format!("abc {n}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    shelf.see("https://a.org/", &all, 10);
    shelf.see("https://a.org/", &["abc late", "abc later"], 600);
    let mut titles = Vec::new();
    let mut path = "/feeds/a.atom".to_owned();
    for n_page in 1.. {
        let answer = feed(&shelf, &path).await;
        titles.extend(read(&answer).items.into_iter().filter_map(|item| item.title));
        let next = answer.text.split("<link rel=\"next\" href=\"http://localhost").nth(1);
        let Some(next) = next else {
            assert_eq!(n_page, 3);
            assert!(answer.text.contains("rel=\"first\""));
            break;
        };
        path = next.split('"').next().unwrap().replace("&amp;", "&");
    }
    assert_eq!((titles.len(), titles[0].as_str()), (122, "abc later"));
    assert_eq!(read(&feed(&shelf, "/feeds/b.rss").await).items.len(), 3);
    // Removed entries are not among the last three.
    shelf.see("https://b.org/", &["abc gone"], 700);
    shelf.store.remove_feed(::feed::FeedId(2)).unwrap();
    assert_eq!(read(&feed(&shelf, "/feeds/b.rss").await).items.len(), 3);
    assert_eq!(read(&feed(&shelf, "/feeds/c.json").await).items.len(), 2, "seen 50 minutes ago");
    assert!(read(&feed(&shelf, "/feeds/d.atom").await).items.is_empty());
    assert!(feed(&shelf, "/feeds/d.atom").await.text.contains(&T0.to_string()));
}

#[tokio::test]
async fn no_address_that_runs_something_is_published() {
    let shelf = Fixture::new(true);
    shelf.query("red", "PUBLISH");
    let item = |link: &str| Item {
        id: Some(format!("id {link}")),
        title: Some("red".to_owned()),
        link: Some(link.to_owned()),
        enclosures: vec![feed::Enclosure { url: link.to_owned(), ..Default::default() }],
        ..Item::default()
    };
    let links = ["javascript:alert(1)", "data:text/html,x", "magnet:?xt=urn:a", "https://a.org/1"];
    shelf.see_items("https://a.org/feed", links.map(item).into(), 10);
    for end in ["atom", "rss", "json"] {
        let text = get(&shelf.router, &format!("/feeds/red.{end}"), &[]).await.text;
        for acts in ["\"javascript:", ">javascript:", "\"data:", ">data:"] {
            assert!(!text.contains(acts), "{end}: {text}");
        }
        assert!(text.contains("magnet:?xt") && text.contains("https://a.org/1"), "{end}: {text}");
    }
}

/// An instance without accounts, which shows everything to the local person.
#[tokio::test]
async fn only_what_is_published_is_a_topic_of_the_hub() {
    let shelf = Fixture::new(true);
    shelf.query("mine", "PRIVATE");
    shelf.query("friends", "PUBLISH BY SECRET LINK");
    shelf.query("all", "PUBLISH");
    let wish = async |file: &str, headers: &[(&str, &str)]| {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("hub.mode", "subscribe")
            .append_pair("hub.topic", &format!("http://localhost/feeds/{file}"))
            .append_pair("hub.callback", &format!("https://{file}.example/callback"));
        post(&shelf.router, "/websub/hub", headers, form.finish()).await.status.as_u16()
    };
    let renders = |file: &str| {
        let topic = format!("http://localhost/feeds/{file}");
        api::published_at(&shelf.context, &topic).unwrap().is_some()
    };
    for file in ["mine.atom", "mine.json", "friends.atom", "friends.atom?key=opensesam"] {
        assert_eq!(feed(&shelf, "/feeds/mine.atom").await.status, 200, "this machine sees it");
        assert_eq!(wish(file, &[HOST]).await, 404, "{file}");
        assert_eq!(wish(file, &[("host", "evil.example")]).await, 404, "{file}");
        assert_eq!(wish(file, &[HOST, ("origin", "http://evil.example")]).await, 403, "{file}");
        assert!(!renders(file), "a subscription of before gets nothing either: {file}");
    }
    for file in ["all.atom", "friends.atom?key=opensesame"] {
        assert_eq!(wish(file, &[HOST]).await, 202, "{file}");
        assert!(renders(file), "{file}");
    }
    let hub = "rel=\"hub\"";
    assert!(feed(&shelf, "/feeds/all.atom").await.text.contains(hub));
    assert!(!feed(&shelf, "/feeds/mine.atom").await.text.contains(hub), "no hub would take it");
}

#[tokio::test]
async fn a_document_is_rendered_once_for_each_change() {
    let shelf = Fixture::new(true);
    shelf.query("red", "PUBLISH");
    shelf.see("https://a.org/feed", &["red 1"], 10);
    let rendered = || shelf.context.published.n_rendered();
    let twenty = (0..20).map(|_| feed(&shelf, "/feeds/red.atom"));
    let answers = futures_util::future::join_all(twenty).await;
    assert!(answers.iter().all(|answer| answer.text == answers[0].text));
    assert_eq!(rendered(), 1, "requests at the same time get the same bytes");
    feed(&shelf, "/feeds/red.rss").await;
    assert_eq!(rendered(), 2);
    shelf.see("https://b.org/feed", &["blue"], 15);
    let again = feed(&shelf, "/feeds/red.atom").await;
    assert_eq!((rendered(), &again.text), (2, &answers[0].text), "nothing of it has changed");
    shelf.see("https://a.org/feed", &["red 2"], 20);
    assert_eq!(read(&feed(&shelf, "/feeds/red.atom").await).items.len(), 2);
    shelf.query("red", "TITLED \"Other\" PUBLISH");
    assert!(feed(&shelf, "/feeds/red.atom").await.text.contains("Other"));
    assert_eq!(rendered(), 4);
    shelf.query("red", "");
    shelf.store.add_account("somebody", "no hash", T0).unwrap().unwrap();
    let answer = get(&shelf.router, "/feeds/red.atom", &[]).await;
    assert_eq!(answer.status, 404, "what is kept is shown to nobody who may not see it");
}

#[tokio::test]
async fn a_page_ends_where_it_would_become_too_long() {
    let shelf = Fixture::new(true);
    shelf.query("red", "WINDOW LAST 500 ITEMS PUBLISH");
    let long = |number: usize, n_bytes: usize| Item {
        id: Some(format!("https://a.org/{number}")),
        title: Some("red".to_owned()),
        content: Some(format!("<p>{}</p>", "red words ".repeat(n_bytes / 10))),
        ..Item::default()
    };
    let mut items: Vec<Item> = (0..20).map(|number| long(number, 200_000)).collect();
    items.push(long(20, 900_000));
    shelf.see_items("https://a.org/feed", items, 10);
    for end in ["atom", "rss", "json"] {
        let (mut path, mut ids, mut n_pages) = (format!("/feeds/red.{end}"), Vec::new(), 0);
        loop {
            let answer = feed(&shelf, &path).await;
            assert!(answer.text.len() < 4_000_000, "{} bytes", answer.text.len());
            ids.extend(read(&answer).items.into_iter().map(|item| item.id.unwrap()));
            n_pages += 1;
            let mark = if end == "json" { "\"next_url\"" } else { "rel=\"next\"" };
            let Some((_, next)) = answer.text.split_once(mark) else { break };
            let (_, next) = next.split_once("before=").unwrap();
            let next = next.split(|c: char| !c.is_ascii_digit()).next().unwrap();
            path = format!("/feeds/red.{end}?before={next}");
        }
        ids.dedup();
        assert!(n_pages > 2, "{end}: {n_pages} pages");
        assert_eq!(ids.len(), 21, "{end}: every entry on some page, once");
    }
}

#[tokio::test]
async fn nobody_pushes_an_entry_out_by_taking_its_id() {
    let shelf = Fixture::new(true);
    shelf.query("all", "PUBLISH");
    let item = |title: &str| Item {
        id: Some("https://a.org/1".to_owned()),
        title: Some(title.to_owned()),
        ..Item::default()
    };
    shelf.see_items("https://evil.example/feed", vec![item("fake before")], 5);
    shelf.see_items("https://a.org/feed", vec![item("real")], 10);
    shelf.see_items("https://evil.example/feed", vec![item("fake after")], 15);
    let mut claimed = item("fake claim");
    let url = Some("https://a.org/feed".to_owned());
    claimed.source = Some(feed::Source { url, ..feed::Source::default() });
    claimed.id = Some("https://a.org/2".to_owned());
    shelf.see_items("https://evil.example/other", vec![claimed.clone()], 20);
    claimed.source = None;
    claimed.title = Some("real too".to_owned());
    shelf.see_items("https://a.org/feed", vec![claimed], 25);
    let doc = read(&feed(&shelf, "/feeds/all.atom").await);
    let titles: Vec<_> = doc.items.iter().map(|item| item.title.as_deref().unwrap()).collect();
    assert_eq!(titles, ["real too", "real"]);
}
