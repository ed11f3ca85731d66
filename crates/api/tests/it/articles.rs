//! Whole articles, icons, languages and topics on the page and in the APIs.

use std::sync::Arc;

use api::{Images, ServerContext, router};
use axum::body::Body;
use axum::http::Request;
use dispatch::command::CommandResult;
use feed::{EntryId, FeedId, Item};
use serde_json::{Value, json};
use store::{
    ArticleFailure, ArticleRecord, ArticleState, ArticleText, CategoryOrigin, EntryCategory,
    EntryFacts, EntryLanguage, IconLook, IconRecord, IconRow, LanguageOrigin, NewArticle,
};

use crate::acts::Desk;
use crate::fixture::{Fixture, T0};
use crate::reading::{post, text};
use crate::{asked, get};

const WHOLE: &str = "The whole story has many more words than the feed tells in its few lines";

/// Entries 1 to 3, each with a short text and a link.
pub fn shelf() -> Fixture {
    shelf_with(&[])
}

/// The same with queries that keep all of them, each with its name and clauses.
fn shelf_with(queries: &[(&str, &str)]) -> Fixture {
    let shelf = Fixture::new(true);
    for (name, clauses) in queries {
        shelf.query(name, clauses);
    }
    let item = |n: u32| Item {
        id: Some(format!("{n}")),
        title: Some(format!("Title {n}")),
        link: Some(format!("https://e.org/{n}")),
        content: Some("<p>Three short words</p>".to_owned()),
        ..Item::default()
    };
    shelf.see_items("https://e.org/f", (1..=3).map(item).collect(), 10);
    shelf
}

async fn record(shelf: &Fixture, entry: i64, content: Result<NewArticle, ArticleFailure>) {
    let record = ArticleRecord {
        entry: EntryId(entry),
        fetched_at: T0,
        url: format!("https://e.org/{entry}/page"),
        extractor: "test 1".to_owned(),
        content,
    };
    shelf.store.record_article(record).await.unwrap();
}

fn article(text: &str) -> NewArticle {
    let still = "<p><a href=\"https://vimeo.com/76979871\">Video on Vimeo</a></p>";
    NewArticle {
        text: ArticleText {
            byline: Some("Ann".to_owned()),
            text: text.to_owned(),
            html: format!("<p>{text}<script>x</script> <a href='/y'>y</a></p>{still}"),
            language: Some("de".to_owned()),
            ..ArticleText::default()
        },
        page: None,
        facts: Some(EntryFacts {
            language: Some(EntryLanguage {
                tag: "de-AT".to_owned(),
                source: LanguageOrigin::Detected,
                confidence_permille: Some(900),
            }),
            topic: Some(11),
            ..EntryFacts::default()
        }),
        etag: None,
        last_modified: None,
    }
}

#[tokio::test]
async fn one_asks_for_the_whole_text_and_sees_its_state() {
    let shelf = shelf();
    let page = text(&shelf, "/entry/1").await;
    assert!(page.contains("Load the whole text") && !page.contains("Whole article</a>"), "{page}");
    let answer = post(&shelf, "/entry/1/article", &[("back", "/entry/1")]).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/entry/1"));
    let state = shelf.store.article_state(EntryId(1)).unwrap();
    assert!(matches!(state, ArticleState::Waiting(ref waiting) if waiting.by_person), "{state:?}");
    let page = text(&shelf, "/entry/1").await;
    assert!(page.contains("The whole text was asked for") && page.contains("data-waiting"));
    let failure = ArticleFailure {
        code: "too-large".to_owned(),
        detail: "the page is <b>too large".to_owned(),
    };
    record(&shelf, 1, Err(failure)).await;
    let page = text(&shelf, "/entry/1").await;
    assert!(page.contains("The whole text could not be loaded. The page is &#60;b&#62;too large."));
    assert!(page.contains("Three short words"), "the feed's own text stays");
    assert_eq!(post(&shelf, "/entry/99/article", &[]).await.status, 404);
    let part = text(&shelf, "/entry/1?part=1").await;
    assert!(part.contains("name=\"form_key\" value=\""), "the form works in a list too");
}

#[tokio::test]
async fn a_search_finds_the_words_of_the_page_behind_an_entry() {
    let shelf = shelf();
    record(&shelf, 2, Ok(article("A unicorn was seen in the park"))).await;
    crate::search::index_all(&shelf.store).await;
    for (search, expected) in [
        ("unicorn", &[2][..]),
        ("\"seen in the park\"", &[2]),
        ("ARTICLE CONTAINS unicorn", &[2]),
        ("CONTENT CONTAINS unicorn", &[]),
        ("short -unicorn", &[3, 1]),
    ] {
        assert_eq!(crate::search::found(&shelf, search).await, expected, "{search}");
    }
}

#[tokio::test]
async fn one_switches_between_the_feeds_text_and_the_article() {
    let shelf = shelf();
    record(&shelf, 1, Ok(article(WHOLE))).await;
    record(&shelf, 2, Ok(article("Short"))).await;
    let page = text(&shelf, "/entry/1").await;
    assert!(page.contains(WHOLE) && !page.contains("Three short words"), "{page}");
    assert!(page.contains("href=\"https://e.org/y\"") && !page.contains("<script>x"));
    assert!(page.contains("data-entry=\"1\" lang=\"de\"") && page.contains("<bdi>Ann</bdi>"));
    assert!(page.contains("Topic: politics") && page.contains("IPTC"), "{page}");
    let link = "href=\"/play/1?text=article&amp;embed=0\"";
    assert!(page.contains(link), "a player in the article is a click away: {page}");
    assert_eq!(get(&shelf.router, "/play/1?text=article&embed=0", &[]).await.status, 200);
    let page = text(&shelf, "/entry/1?text=feed").await;
    assert!(page.contains("Three short words") && !page.contains(WHOLE));
    let page = text(&shelf, "/entry/2").await;
    assert!(
        page.contains("Three short words"),
        "a page with fewer words does not replace the text"
    );
    assert!(text(&shelf, "/entry/2?text=article").await.contains("<p>Short"));
}

#[tokio::test]
async fn the_json_api_loads_and_shows_articles_and_facts() {
    let shelf = shelf();
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let path = "/api/v1/entries/1/article";
    assert_eq!(parsed(&text(&shelf, path).await)["state"], "not asked");
    let asked = asked(&shelf.router, Request::post(path), &[], Body::empty()).await;
    assert_eq!((asked.status.as_u16(), &parsed(&asked.text)["state"]), (202, &json!("waiting")));
    record(&shelf, 1, Ok(article(WHOLE))).await;
    let found = parsed(&text(&shelf, path).await);
    assert_eq!((&found["state"], &found["text"]), (&json!("there"), &json!(WHOLE)));
    assert!(!found["html"].as_str().unwrap().contains("script"));
    let entry = &parsed(&text(&shelf, "/api/v1/entries/1").await)["entry"];
    let language = json!({"tag": "de-AT", "source": "detected", "confidence": 0.9});
    assert_eq!((&entry["detected"], &entry["topic"]), (&language, &json!("politics")));
    let listed = parsed(&text(&shelf, "/api/v1/reading?language=de").await);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1);
    assert_eq!(get(&shelf.router, "/api/v1/entries/9/article", &[]).await.status, 404);
}

#[tokio::test]
async fn an_article_without_pictures_shows_the_main_one_of_its_page() {
    let shelf = shelf();
    let fetch =
        |_: url::Url| Box::pin(async move { None::<fetch::Fetched> }) as std::pin::Pin<Box<_>>;
    let images = Images::new(&shelf.store, Arc::new(fetch)).unwrap();
    let images = Some(Arc::new(images));
    let routes = router(ServerContext { images, ..shelf.context.clone() });
    let with = |html: &str| {
        let mut new = article(WHOLE);
        new.text.image = Some("https://e.org/lead.jpg".to_owned());
        new.text.html = html.to_owned();
        new.text.direction = Some("rtl".to_owned());
        Ok(new)
    };
    record(&shelf, 1, with("<p>Only words</p>")).await;
    record(&shelf, 2, with("<p>Words and <img src=/own.jpg></p>")).await;
    let page = async |path: &str| get(&routes, path, &[]).await.text;
    let shown = page("/entry/1").await;
    assert_eq!(shown.matches("lead.jpg").count(), 1, "{shown}");
    assert!(shown.contains("/image?"), "it comes through the proxy");
    assert!(shown.contains("<div class=\"prose\" dir=\"rtl\"><p>Only words"), "as the page says");
    assert!(!page("/entry/1?text=feed").await.contains("lead.jpg"));
    let own = page("/entry/2").await;
    assert!(own.contains("own.jpg") && !own.contains("lead.jpg"), "{own}");
    assert!(!text(&shelf, "/entry/1").await.contains("lead.jpg"), "no proxy, no picture");
}

#[tokio::test]
async fn a_category_comes_from_the_nearest_place_and_says_which() {
    let shelf = shelf();
    let category = async || {
        let entry: Value = serde_json::from_str(&text(&shelf, "/api/v1/entries/1").await).unwrap();
        (entry["entry"]["category"]["name"].clone(), entry["entry"]["category"]["source"].clone())
    };
    assert_eq!(category().await, (json!("uncategorized"), json!("none")));
    shelf.store.tag_feed(FeedId(1), &["harbours".to_owned()], &[]).unwrap();
    assert_eq!(category().await, (json!("harbours"), json!("folder")));
    let mut new = article(WHOLE);
    let name = "Seafaring".to_owned();
    let found = EntryCategory { name, source: CategoryOrigin::Section };
    new.facts = Some(EntryFacts { category: Some(found), ..EntryFacts::default() });
    record(&shelf, 1, Ok(new)).await;
    assert_eq!(category().await, (json!("Seafaring"), json!("section")));
}

#[tokio::test]
async fn apps_get_the_article_if_the_account_wants_it() {
    let shelf = shelf();
    record(&shelf, 1, Ok(article(WHOLE))).await;
    let content = async || {
        let entry: Value = serde_json::from_str(&text(&shelf, "/v1/entries/1").await).unwrap();
        entry["content"].as_str().unwrap().to_owned()
    };
    assert!(content().await.contains("Three short words"));
    assert_eq!(
        post(&shelf, "/choices", &[("apps", "article"), ("back", "/account")]).await.status,
        303
    );
    assert!(content().await.contains(WHOLE) && !content().await.contains("script"));
    assert!(text(&shelf, "/account").await.contains("value=\"article\" selected"));
    let fever = crate::post(&shelf.router, "/fever/?api&items", &[], String::new()).await;
    assert!(fever.text.contains(WHOLE), "{}", fever.text);
    let list = "/reader/api/0/stream/contents/user/-/state/com.google/reading-list";
    assert!(text(&shelf, list).await.contains(WHOLE));
    let fetched = get(&shelf.router, "/v1/entries/1/fetch-content", &[]);
    let store = shelf.store.clone();
    let record = async {
        while !matches!(store.article_state(EntryId(1)).unwrap(), ArticleState::Waiting(_)) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        record(&shelf, 1, Ok(article("Fetched for an app"))).await;
    };
    let (fetched, ()) = tokio::join!(fetched, record);
    assert_eq!(fetched.status, 200, "{}", fetched.text);
    assert!(fetched.text.contains("Fetched for an app"));
}

#[tokio::test]
async fn a_language_is_a_filter_of_the_sidebar() {
    let shelf = shelf();
    record(&shelf, 1, Ok(article(WHOLE))).await;
    let page = text(&shelf, "/?lang=de").await;
    assert!(page.contains("Title 1") && !page.contains("Title 2"), "{page}");
    assert!(page.contains("<h2>Languages</h2>") && page.contains("Show all languages"));
    assert!(page.contains("/entry/1?lang=de"), "the entry keeps the list");
}

#[tokio::test]
async fn icons_are_served_once_by_their_digest() {
    let shelf = shelf();
    let (feed, origin) = (FeedId(1), "https://e.org".to_owned());
    assert_eq!(get(&shelf.router, "/icons/1", &[]).await.status, 404);
    assert!(text(&shelf, "/").await.contains("class=\"icon letter c"), "a letter until then");
    shelf.store.note_icon_origins(vec![(feed, origin.clone())], T0).await.unwrap();
    let icon = IconRow {
        hash: "0123abcd".to_owned(),
        mime_type: "image/png".to_owned(),
        width: 16,
        height: 16,
        bytes: b"PNG".to_vec(),
    };
    let url = "https://e.org/favicon.ico".to_owned();
    let found = IconLook::Found { icon, url, etag: None };
    let record = IconRecord { origin, found, at: T0, next_at: T0 };
    shelf.store.record_icon(record).await.unwrap();
    let moved = get(&shelf.router, "/icons/1", &[]).await;
    assert_eq!((moved.status.as_u16(), moved.header("location")), (307, "/icon/0123abcd"));
    let picture = get(&shelf.router, "/icon/0123abcd", &[]).await;
    assert_eq!((picture.text.as_str(), picture.header("content-type")), ("PNG", "image/png"));
    assert_eq!(picture.header("content-security-policy"), "default-src 'none'; sandbox");
    assert_eq!(picture.header("x-content-type-options"), "nosniff");
    assert!(picture.header("cache-control").contains("immutable"));
    assert!(text(&shelf, "/").await.contains("src=\"/icon/0123abcd\""));
    assert_eq!(get(&shelf.router, "/icon/ffff", &[]).await.status, 404);
    let known: Value = serde_json::from_str(&text(&shelf, "/v1/feeds/1/icon").await).unwrap();
    assert_eq!(known["data"], "image/png;base64,UE5H");
    let feed: Value = serde_json::from_str(&text(&shelf, "/v1/feeds/1").await).unwrap();
    assert_eq!(feed["icon"]["icon_id"], 1);
    let fever = crate::post(&shelf.router, "/fever/?api&favicons&feeds", &[], String::new()).await;
    let fever: Value = serde_json::from_str(&fever.text).unwrap();
    assert_eq!(fever["favicons"][0], json!({"id": 1, "data": "image/png;base64,UE5H"}));
    assert_eq!(fever["feeds"][0]["favicon_id"], 1);
}

#[tokio::test]
async fn a_feed_with_short_entries_is_offered_whole_articles() {
    let shelf = shelf();
    let page = text(&shelf, "/feed/1").await;
    assert!(page.contains("The entries of this feed are short"), "{page}");
    assert!(page.contains("name=\"selector\""));
    let refused = post(&shelf, "/feed/1/articles", &[("articles", "sometimes")]).await;
    assert!(refused.text.contains("is not one of never, opened and every"), "{}", refused.text);
}

#[tokio::test]
async fn a_selector_is_tried_on_the_newest_entry_before_it_is_set() {
    let shelf = shelf();
    let desk = Desk::over(
        shelf.store.clone(),
        Box::new(|_| {
            Ok(CommandResult::TriedArticle {
                entry: 3,
                title: None,
                words: 4,
                text: "Some <b>found</b>\nwords".to_owned(),
                reason: None,
            })
        }),
    );
    assert!(desk.text("/feed/1").await.contains("formaction=\"/feed/1/try\""));
    let fields = [("articles", "every"), ("selector", " main > p ")];
    let page = desk.post("/feed/1/try", &fields).await.text;
    let expected = r#"{"kind":"try-article","entry":3,"selector":"main > p"}"#;
    assert_eq!(desk.commands(), [expected]);
    for part in
        ["Title 3", "4 words", "<p>Some &#60;b&#62;found", "value=\"every\"", "main &#62; p"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[tokio::test]
async fn a_query_publishes_articles_only_if_it_says_so_and_the_page_allows_it() {
    let shelf = shelf_with(&[("all", "PUBLISH WITH ARTICLES"), ("Title", "PUBLISH")]);
    let feed = async |path: &str| get(&shelf.router, path, &[("host", "localhost")]).await;
    let before = feed("/feeds/all.json").await;
    record(&shelf, 1, Ok(article(WHOLE))).await;
    let mut kept_back = article("Nobody may copy these words");
    kept_back.text.noarchive = true;
    record(&shelf, 2, Ok(kept_back)).await;
    let whole = feed("/feeds/all.json").await;
    assert_ne!(whole.header("etag"), before.header("etag"), "readers see that it has changed");
    assert!(whole.text.contains(WHOLE) && !whole.text.contains("script"), "{}", whole.text);
    assert!(!whole.text.contains("Nobody may copy"), "{}", whole.text);
    assert_eq!(whole.text.matches("Three short words").count(), 2, "{}", whole.text);
    let plain = feed("/feeds/Title.json").await;
    assert_eq!(plain.status, 200, "{}", plain.text);
    assert!(!plain.text.contains(WHOLE), "{}", plain.text);
}

#[tokio::test]
async fn footnotes_of_an_article_lead_to_their_places() {
    let shelf = shelf();
    let prose = "<p>The river rose in the night, and the people carried their books upstairs, \
                 before the water came to the village.</p>";
    let page = format!(
        "<title>River</title><article>{0}<p>Nobody was hurt.<sup id='r1'><a href='#n1'>1</a></sup> \
         The schools opened<sup><a id='r2' href='https://e.org/1/page#n2'>2</a></sup>.</p>{0}\
         <ol><li id='n1'>Says the mayor. <a href='#r1'>back</a></li><li><a name='n2'></a>Monday. \
         <a href='#r2'>back</a></li></ol></article>",
        prose.repeat(4)
    );
    let url = "https://e.org/1/page".parse().unwrap();
    let found = article::extract(page.as_bytes(), None, Some(&url), None).unwrap();
    let mut whole = article(&found.text);
    whole.text.html = found.html;
    record(&shelf, 1, Ok(whole)).await;
    let shown = text(&shelf, "/entry/1?text=article").await;
    for name in ["n1", "r1", "n2", "r2"] {
        assert!(shown.contains(&format!("href=\"#e1-{name}\"")), "a link to {name}: {shown}");
        assert!(shown.contains(&format!("id=\"e1-{name}\"")), "the place {name}: {shown}");
    }
}
