//! Reading on the page: lists, marks, stars, and the key of forms.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use feed::{EntryId, FeedId, FeedUrl};
use store::{AccountId, NewFeed};
use tower::ServiceExt;

use crate::fixture::Fixture;
use crate::{Answer, get};

const ME: AccountId = AccountId::LOCAL;

pub async fn text(shelf: &Fixture, path: &str) -> String {
    let answer = get(&shelf.router, path, &[]).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.text
}

/// The key that forms of a page carry.
fn form_key(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"form_key\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

pub async fn post(shelf: &Fixture, path: &str, fields: &[(&str, &str)]) -> Answer {
    let key = form_key(&text(shelf, "/").await);
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("form_key", &key).extend_pairs(fields);
    send(shelf, path, form.finish()).await
}

async fn send(shelf: &Fixture, path: &str, body: String) -> Answer {
    let request = Request::post(path)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(body))
        .unwrap();
    let response = shelf.router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    Answer { status: parts.status, headers: parts.headers, text }
}

fn is_read(shelf: &Fixture, entry: i64) -> bool {
    shelf.store.read_marks(ME).unwrap().is_read(EntryId(entry))
}

/// Three entries, numbered from 1, the newest last.
fn shelf() -> Fixture {
    let shelf = Fixture::new(true);
    shelf.query("red", "");
    shelf.see("https://a.org/f", &["red one"], 10);
    shelf.see("https://a.org/f", &["blue two"], 20);
    shelf.see("https://b.org/f", &["red three"], 30);
    shelf
}

#[tokio::test]
async fn the_newest_unread_come_first_and_what_was_opened_is_read() {
    let shelf = shelf();
    let page = text(&shelf, "/").await;
    assert!(page.find("red three") < page.find("red one"), "the newest first");
    let entry = text(&shelf, "/entry/2").await;
    assert!(entry.contains("<p>1 &lt; 2</p>") && entry.contains("https://e.org/20/0"), "{entry}");
    assert!(is_read(&shelf, 2) && !is_read(&shelf, 1));
    let page = text(&shelf, "/").await;
    assert!(!page.contains("blue two") && page.contains("red one"), "{page}");
    assert!(text(&shelf, "/?show=all").await.contains("blue two"));
}

#[tokio::test]
async fn what_nobody_means_to_open_stays_unread() {
    let shelf = shelf();
    for sent in [("sec-purpose", "prefetch"), ("sec-fetch-site", "cross-site")] {
        assert_eq!(get(&shelf.router, "/entry/1", &[sent]).await.status, 200);
        assert!(!is_read(&shelf, 1), "{sent:?}");
    }
    get(&shelf.router, "/entry/1", &[("sec-fetch-site", "same-origin")]).await;
    assert!(is_read(&shelf, 1));
}

#[tokio::test]
async fn feeds_queries_and_tags_are_lists_of_their_own() {
    let shelf = shelf();
    let feed = text(&shelf, "/?feed=1").await;
    assert!(feed.contains("red one") && !feed.contains("red three"));
    let query = text(&shelf, "/?query=red").await;
    assert!(query.contains("red one") && query.contains("red three"), "{query}");
    assert!(!query.contains("blue two"));
    shelf.store.tag_feed(FeedId(2), &["news".to_owned()], &[]).unwrap();
    let tag = text(&shelf, "/?tag=news").await;
    assert!(tag.contains("red three") && !tag.contains("red one"));
    assert!(tag.contains("href=\"/?tag=news\" aria-current"), "{tag}");
    let none = text(&shelf, "/?query=nobody").await;
    assert!(none.contains("Nothing here yet"), "{none}");
}

#[tokio::test]
async fn neighbours_stay_within_the_list() {
    let shelf = shelf();
    let entry = text(&shelf, "/entry/1?query=red").await;
    assert!(entry.contains("rel=\"prev\" href=\"/entry/3?query=red\""), "{entry}");
    assert!(!entry.contains("rel=\"next\""), "it is the oldest");
    let entry = text(&shelf, "/entry/2?show=all").await;
    assert!(entry.contains("/entry/3?show=all") && entry.contains("/entry/1?show=all"), "{entry}");
}

#[tokio::test]
async fn marks_and_stars_are_made_by_forms_that_lead_back() {
    let shelf = shelf();
    let answer = post(&shelf, "/marks", &[("read", "1"), ("back", "/?feed=1")]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.header("location"), "/?feed=1#e1");
    assert!(is_read(&shelf, 1));
    post(&shelf, "/marks", &[("unread", "1")]).await;
    assert!(!is_read(&shelf, 1));
    post(&shelf, "/marks", &[("star", "2")]).await;
    let starred = text(&shelf, "/?show=starred").await;
    assert!(starred.contains("blue two") && !starred.contains("red one"));
    post(&shelf, "/marks", &[("unstar", "2")]).await;
    assert!(text(&shelf, "/?show=starred").await.contains("No stars yet"));
    let away = post(&shelf, "/marks", &[("read", "1"), ("back", "https://evil.test/")]).await;
    assert_eq!(away.header("location"), "/#e1");
}

#[tokio::test]
async fn down_to_here_is_what_stood_above() {
    let shelf = shelf();
    let listed = [("entry", "3"), ("entry", "2"), ("entry", "1")];
    let mut fields = listed.to_vec();
    fields.push(("above", "2"));
    post(&shelf, "/marks", &fields).await;
    assert!(is_read(&shelf, 3) && is_read(&shelf, 2) && !is_read(&shelf, 1));
}

#[tokio::test]
async fn all_is_what_was_there_when_the_list_was_shown() {
    let shelf = shelf();
    let page = text(&shelf, "/").await;
    let (_, rest) = page.split_once("name=\"shown_to\" value=\"").unwrap();
    let shown_to = rest.split('"').next().unwrap().to_owned();
    shelf.see("https://a.org/f", &["red late"], 40);
    post(&shelf, "/marks/all", &[("list", ""), ("shown_to", &shown_to)]).await;
    assert!(is_read(&shelf, 1) && is_read(&shelf, 3) && !is_read(&shelf, 4));
    post(&shelf, "/marks/all", &[("list", "feed=1")]).await;
    assert!(!is_read(&shelf, 4), "without a bound nothing is swept away");
    post(&shelf, "/marks/all", &[("list", "feed=2"), ("shown_to", "4")]).await;
    assert!(!is_read(&shelf, 4), "it is of another feed");
    post(&shelf, "/marks/all", &[("list", "feed=1"), ("shown_to", "4")]).await;
    assert!(is_read(&shelf, 4));
}

#[tokio::test]
async fn older_entries_follow_without_gap_or_repetition() {
    let shelf = Fixture::new(true);
    let titles: Vec<String> = (0..90).map(|n| format!("Entry {n:02}.")).collect();
    for (n, title) in (0..).zip(&titles) {
        shelf.see("https://a.org/f", &[title], 100 + n);
    }
    let (mut seen, mut path) = (Vec::new(), "/".to_owned());
    loop {
        let page = text(&shelf, &path).await;
        seen.extend(titles.iter().filter(|title| page.contains(title.as_str())).cloned());
        let Some((_, next)) = page.split_once("rel=\"next\" href=\"") else { break };
        path = next.split('"').next().unwrap().replace("&#38;", "&");
    }
    let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (90, 90));
}

#[tokio::test]
async fn a_form_without_the_pages_key_does_nothing() {
    let shelf = shelf();
    for body in ["read=1", "read=1&form_key=guessed"] {
        let answer = send(&shelf, "/marks", body.to_owned()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{body}");
    }
    assert!(!is_read(&shelf, 1));
}

#[tokio::test]
async fn the_light_is_a_cookie_and_the_page_follows_it() {
    let shelf = shelf();
    let answer = post(&shelf, "/light", &[("light", "dark"), ("back", "/feeds")]).await;
    assert_eq!(answer.header("location"), "/feeds");
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    let page = get(&shelf.router, "/", &[("cookie", &cookie)]).await.text;
    assert!(page.contains("data-light=\"dark\""));
    let answer = post(&shelf, "/light", &[("light", "auto")]).await;
    assert!(answer.header("set-cookie").contains("Max-Age=0"));
}

#[tokio::test]
async fn first_paint_is_light() {
    let shelf = Fixture::new(true);
    let long = "A title as long as some publishers write them, and then some more words";
    for n in 0..60 {
        shelf.see("https://a.org/f", &[&format!("{long} {n}")], 100 + n);
    }
    let mut bytes = 0;
    for path in ["/", "/style.css", "/script.js", "/app.js", "/icon.svg"] {
        bytes += text(&shelf, path).await.len();
    }
    assert!(bytes < 100_000, "{bytes} bytes before anything was compressed");
}

#[tokio::test]
async fn the_script_is_told_that_a_mark_was_made_and_not_sent_elsewhere() {
    let shelf = shelf();
    let made = post(&shelf, "/marks", &[("star", "1"), ("part", "1")]).await;
    assert_eq!(made.status, StatusCode::NO_CONTENT);
    assert_eq!(post(&shelf, "/marks", &[("star", "1")]).await.status, StatusCode::SEE_OTHER);
    shelf.store.add_account("anna", "x", crate::fixture::T0).unwrap().unwrap();
    let denied = send(&shelf, "/marks", "read=1&part=1".to_owned()).await;
    assert_eq!(denied.status, StatusCode::SEE_OTHER, "to the login");
}

#[tokio::test]
async fn the_sidebar_folds_the_feeds_of_a_tag_with_what_is_unread() {
    let shelf = Fixture::new(true);
    shelf.see("https://a.org/f", &["One.", "Two."], 100);
    shelf.see("https://b.org/f", &["Three."], 200);
    let tags = ["News & <b>".to_owned()];
    for feed in [1, 2] {
        shelf.store.tag_feed(FeedId(feed), &tags, &[]).unwrap();
    }
    let page = text(&shelf, "/").await;
    let sidebar =
        page.split("<nav class=\"scopes\"").nth(1).unwrap().split("</nav>").next().unwrap();
    assert!(sidebar.contains("<details><summary aria-label="), "{sidebar}");
    assert!(sidebar.contains("News &#38; &#60;b&#62;</span> <b>3</b>"), "{sidebar}");
    assert!(sidebar.contains("href=\"/?feed=1\"") && sidebar.contains("<b>2</b>"), "{sidebar}");
    assert!(!sidebar.contains("data-fold"), "a few feeds come with the page");
    shelf.store.mark_read(ME, &[EntryId(3)], true).unwrap();
    let fold = text(&shelf, "/fold?tag=News+%26+%3Cb%3E").await;
    assert!(fold.contains("href=\"/?feed=2\"") && !fold.contains("<b>1</b>"), "{fold}");
    let chosen = text(&shelf, "/?tag=News+%26+%3Cb%3E").await;
    assert!(chosen.contains("<details open>"));
}

#[tokio::test]
async fn five_thousand_feeds_in_the_sidebar_leave_the_first_paint_light() {
    let shelf = Fixture::new(true);
    let new = |n: usize| NewFeed {
        url: FeedUrl::parse(&format!("https://s{n}.example/feed.xml")).unwrap(),
        title: Some(format!("A feed with a title of the usual length, number {n}")),
        site: None,
        tags: vec![format!("tag {}", n % 50)],
    };
    let feeds: Vec<NewFeed> = (0..5000).map(new).collect();
    shelf.store.add_feeds(&feeds, crate::fixture::T0).unwrap();
    shelf.see("https://s7.example/feed.xml", &["One."], 100);
    for path in ["/", "/?tag=tag+7"] {
        let page = text(&shelf, path).await;
        assert!(page.len() < 60_000, "{path}: {} bytes", page.len());
        assert!(page.contains("tag 7</span> <b>1</b>") && page.contains("100 feeds"), "{path}");
        assert!(page.contains("data-fold=\"/fold?tag=tag+8\""), "{path}");
    }
    let fold = text(&shelf, "/fold?tag=tag+7").await;
    assert_eq!(fold.matches("<li>").count(), 100);
}
