//! The forms of the page, tested by the commands that they send to the engine.

use std::sync::{Arc, Mutex};

use api::{ServerContext, router};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use dispatch::command::{AddedFeed, Command, CommandRefusal, CommandResult, NotAdded, PollSummary};
use feed::{FeedId, FeedUrl};
use store::{NewFeed, OpenMode, Store};
use tempfile::TempDir;
use tower::ServiceExt;

use crate::fixture::{T0, live};
use crate::{Answer, get};

/// Answers a command in the engine's place.
type Engine = dyn Fn(&Command) -> Result<CommandResult, CommandRefusal> + Send + Sync;

pub struct Desk {
    pub store: Store,
    pub router: Router,
    commands: Arc<Mutex<Vec<String>>>,
    _folder: Option<TempDir>,
}

impl Desk {
    /// Builds a page whose commands are recorded and answered by `answer`.
    pub fn new(engine: Box<Engine>) -> Desk {
        let folder = tempfile::tempdir().unwrap();
        let store =
            Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
        Desk { _folder: Some(folder), ..Desk::over(store, engine) }
    }

    /// Builds the same page over an existing store.
    pub fn over(store: Store, engine: Box<Engine>) -> Desk {
        let commands = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&commands);
        let now = Arc::new(|| T0);
        let context = ServerContext {
            act: Arc::new(move |command| {
                noted.lock().unwrap().push(serde_json::to_string(&command).unwrap());
                Box::pin(std::future::ready(engine(&command)))
            }),
            ..ServerContext::new(store.clone(), now, Arc::new(live), "1").unwrap()
        };
        Desk { commands, ..Desk::served(store, router(context)) }
    }

    /// Wraps an existing page, whose commands are not recorded.
    pub fn served(store: Store, router: Router) -> Desk {
        Desk { store, router, commands: Arc::default(), _folder: None }
    }

    pub fn commands(&self) -> Vec<String> {
        std::mem::take(&mut self.commands.lock().unwrap())
    }

    pub async fn text(&self, path: &str) -> String {
        let answer = get(&self.router, path, &[]).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.text
    }

    async fn form_key(&self) -> String {
        let page = self.text("/feeds").await;
        let (_, rest) = page.split_once("name=\"form_key\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("form_key", &self.form_key().await).extend_pairs(fields);
        self.send(path, "application/x-www-form-urlencoded", form.finish()).await
    }

    async fn send(&self, path: &str, kind: &str, body: String) -> Answer {
        let request = Request::post(path).header(header::CONTENT_TYPE, kind);
        let request = request.body(Body::from(body)).unwrap();
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    pub fn feed(&self, tags: &[&str]) -> FeedId {
        let url = FeedUrl::parse("https://me:secret@a.org/f").unwrap();
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let new = NewFeed { url, title: Some("A & B".to_owned()), site: None, tags };
        self.store.add_feed(&new, T0).unwrap().id
    }
}

fn polled(outcome: &str, candidates: &[&str]) -> PollSummary {
    PollSummary {
        feed: 7,
        outcome: outcome.to_owned(),
        new: 0,
        suspected_miss: false,
        next_poll: None,
        detail: String::new(),
        candidates: candidates.iter().map(|url| (*url).to_owned()).collect(),
    }
}

fn added(poll: PollSummary) -> Box<Engine> {
    Box::new(move |command| match command {
        Command::Add { force, .. } => {
            let (url, poll) = ("https://a.org/?token=…".to_owned(), poll.clone());
            let (mut feeds, mut not_added) = (Vec::new(), Vec::new());
            if poll.is_success() || *force {
                let (existed, twin, poll) = (false, None, Some(poll));
                feeds.push(AddedFeed { id: 7, url, existed, twin, poll });
            } else {
                let url = FeedUrl::parse("https://a.org/?token=x").unwrap().masked();
                not_added.push(NotAdded { url, poll });
            }
            Ok(CommandResult::Added { feeds, not_added })
        }
        _ => Ok(CommandResult::Removed { feed: 7, url: String::new() }),
    })
}

pub fn obeys() -> Box<Engine> {
    Box::new(|_| Ok(CommandResult::Set { feeds: 1 }))
}

#[tokio::test]
async fn an_address_becomes_a_feed_to_read() {
    let desk = Desk::new(added(polled("seen", &[])));
    let answer = desk.post("/feeds", &[("url", " a.org "), ("tags", "news, local")]).await;
    assert_eq!(answer.header("location"), "/?feed=7");
    let expected =
        r#"{"kind":"add","urls":["a.org"],"tags":["news","local"],"poll":true,"force":false}"#;
    assert_eq!(desk.commands(), [expected]);
}

#[tokio::test]
async fn an_address_that_does_not_work_is_not_added_unless_the_person_insists() {
    let desk = Desk::new(added(polled("failed", &[])));
    let typed = "https://a.org/?token=x";
    let answer = desk.post("/feeds", &[("url", typed), ("tags", "t")]).await;
    assert_eq!(answer.status, StatusCode::OK);
    for part in ["Could not add the feed", "Add it anyway", "name=\"force\" value=\"yes\""] {
        assert!(answer.text.contains(part), "{part}: {}", answer.text);
    }
    assert!(answer.text.contains(&format!("value=\"{typed}\"")), "{}", answer.text);
    let answer = desk.post("/feeds", &[("url", typed), ("force", "yes")]).await;
    assert_eq!(answer.header("location"), "/feed/7", "its page says what is wrong");
    assert!(desk.commands().last().unwrap().contains("\"force\":true"));
}

#[tokio::test]
async fn a_page_with_several_feeds_asks_which() {
    let candidates = ["https://a.org/atom?x=1&y=2", "https://a.org/rss"];
    let desk = Desk::new(added(polled("failed", &candidates)));
    let answer = desk.post("/feeds", &[("url", "https://a.org/"), ("tags", "t")]).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.text.contains("value=\"https://a.org/atom?x=1&#38;y=2\""), "{}", answer.text);
    assert!(answer.text.contains("name=\"tags\" value=\"t\""), "the tags are kept");
    desk.commands();
    desk.post("/feeds", &[("url", candidates[0]), ("url", candidates[1])]).await;
    assert!(desk.commands()[0].contains("https://a.org/rss"));
}

#[tokio::test]
async fn what_is_refused_is_said_in_the_engines_words() {
    let refuses =
        |_: &Command| Err(CommandRefusal { message: "`<x>` is not a URL".to_owned(), input: true });
    let desk = Desk::new(Box::new(refuses));
    let answer = desk.post("/feeds", &[("url", "<x>")]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.text.contains("`&#60;x&#62;` is not a URL."), "{}", answer.text);
}

#[tokio::test]
async fn every_act_on_a_feed_is_one_command() {
    let desk = Desk::new(obeys());
    let id = desk.feed(&["old", "kept", "query:Q"]);
    for (act, fields, expected) in [
        ("poll", vec![], r#"{"kind":"poll","feeds":["1"]}"#),
        (
            "tags",
            vec![("tags", "kept, new")],
            r#"{"kind":"tag","feeds":["1"],"add":["new"],"remove":["old"]}"#,
        ),
        ("title", vec![("title", " Mine ")], r#"{"kind":"title","feed":"1","title":"Mine"}"#),
        ("title", vec![("title", "")], r#"{"kind":"title","feed":"1","title":null}"#),
        ("remove", vec![], r#"{"kind":"remove","feed":"1"}"#),
    ] {
        let answer = desk.post(&format!("/feed/{id}/{act}"), &fields).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{act}");
        assert_eq!(desk.commands(), [expected], "{act}");
    }
    for (act, paused) in [("pause", true), ("resume", false)] {
        desk.post(&format!("/feed/{id}/{act}"), &[]).await;
        assert!(desk.commands()[0].contains(&format!("\"paused\":{paused}")), "{act}");
    }
}

#[tokio::test]
async fn settings_are_durations_and_empty_ones_are_taken_back() {
    let desk = Desk::new(obeys());
    let path = format!("/feed/{}/settings", desk.feed(&[]));
    desk.post(&path, &[("policy", "fix:1h"), ("alpha", "10m"), ("beta", "")]).await;
    let command = desk.commands().remove(0);
    for part in [r#""policy":"fix:1h""#, r#""alpha":600"#, r#""beta":null"#, r#""weight":null"#] {
        assert!(command.contains(part), "{part} is missing in {command}");
    }
    for wrong in [("alpha", "soon"), ("weight", "heavy")] {
        let answer = desk.post(&path, &[wrong]).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
        assert!(answer.text.contains(wrong.1), "{}", answer.text);
    }
    assert!(desk.commands().is_empty());
    // An own weight becomes 1. A feed without one keeps the weight of its tag.
    let heavy = store::SettingsChange { weight: Some(Some(3.0)), ..Default::default() };
    desk.store.set_feed(FeedId(1), &heavy).unwrap();
    desk.post(&path, &[("weight", "")]).await;
    assert!(desk.commands().remove(0).contains(r#""weight":1.0"#));
}

#[tokio::test]
async fn removing_asks_once_more_and_strange_acts_do_nothing() {
    let desk = Desk::new(obeys());
    let id = desk.feed(&[]);
    assert!(desk.text(&format!("/feed/{id}/remove")).await.contains("Remove A &#38; B?"));
    for path in ["/feed/1/explode", "/feed/99/poll", "/feed/x/poll"] {
        assert_eq!(desk.post(path, &[]).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert!(desk.commands().is_empty());
}

#[tokio::test]
async fn a_list_is_taken_as_a_file_and_as_text() {
    let imported = |_: &Command| {
        Ok(CommandResult::Imported {
            added: 1,
            known: 2,
            refused: vec!["`x:y` is not a feed".to_owned()],
        })
    };
    let desk = Desk::new(Box::new(imported));
    let list = "<opml><body><outline text='T' title='News'><outline type='rss' \
                xmlUrl='https://a.org/f'/></outline></body></opml>";
    let key = desk.form_key().await;
    let file = format!(
        "--b\r\nContent-Disposition: form-data; name=\"form_key\"\r\n\r\n{key}\r\n--b\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"a.opml\"\r\n\
         Content-Type: text/x-opml\r\n\r\n{list}\r\n--b--\r\n"
    );
    let answer = desk.send("/import", "multipart/form-data; boundary=b", file).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert!(answer.text.contains("1 feed added") && answer.text.contains("`x:y` is not a feed"));
    let by_file = desk.commands();
    assert!(by_file[0].contains("https://a.org/f"), "{by_file:?}");
    desk.post("/import", &[("file", list)]).await;
    assert_eq!(desk.commands(), by_file);
    let answer = desk.post("/import", &[("file", "a,b,c")]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(desk.commands().is_empty());
}

#[tokio::test]
async fn a_list_is_given_with_secrets_only_where_they_are_asked_for() {
    let desk = Desk::new(obeys());
    desk.feed(&["news"]);
    let masked = desk.text("/export.opml").await;
    assert!(masked.contains("a.org/f") && !masked.contains("secret"), "{masked}");
    assert!(desk.text("/export.opml?secrets=1").await.contains("me:secret@a.org"));
}

#[tokio::test]
async fn a_list_of_some_megabytes_is_taken_from_a_file() {
    let desk = Desk::new(Box::new(|command| match command {
        Command::Import { feeds, .. } => {
            Ok(CommandResult::Imported { added: feeds.len(), known: 0, refused: Vec::new() })
        }
        _ => Err(CommandRefusal { message: "only lists".to_owned(), input: true }),
    }));
    let line = |n: usize| {
        let site = "x".repeat(200);
        format!("<outline type=\"rss\" xmlUrl=\"https://a{n}.org/f\" title=\"{site}\"/>\n")
    };
    let lines: String = (0..12_000).map(line).collect();
    assert!(lines.len() > 3_000_000);
    let key = desk.form_key().await;
    let part = |name: &str| format!("--xx\r\nContent-Disposition: form-data; name=\"{name}\"");
    let body = format!(
        "{}\r\n\r\n{key}\r\n{}; filename=\"a.opml\"\r\n\r\n\
         <opml version=\"2.0\"><body>{lines}</body></opml>\r\n--xx--\r\n",
        part("form_key"),
        part("file"),
    );
    let answer = desk.send("/import", "multipart/form-data; boundary=xx", body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(answer.text.contains("12,000 feeds"), "{}", answer.text);
}

#[tokio::test]
async fn from_what_was_not_done_one_comes_back_to_the_page_it_was_on() {
    let desk = Desk::new(Box::new(|_| {
        Err(CommandRefusal { message: "the engine rests".to_owned(), input: false })
    }));
    let id = desk.feed(&[]);
    for (path, fields, page) in [
        (format!("/feed/{id}/settings"), ("alpha", "soon"), format!("/feed/{id}")),
        (format!("/feed/{id}/remove"), ("x", ""), format!("/feed/{id}")),
        ("/feeds".to_owned(), ("url", "https://a.org/"), "/feeds".to_owned()),
        ("/import".to_owned(), ("file", "no list"), "/feeds".to_owned()),
        ("/budget".to_owned(), ("budget", "1/1h"), "/budget".to_owned()),
        ("/account/password".to_owned(), ("old", "x"), "/account".to_owned()),
        ("/query/Red/replay".to_owned(), ("x", ""), "/query/Red".to_owned()),
    ] {
        let answer = desk.post(&path, &[fields]).await;
        assert!(answer.status.as_u16() >= 400, "{path}: {}", answer.status);
        let back = format!("<a href=\"{page}\">Back</a>");
        assert!(answer.text.contains(&back), "{path}: {}", answer.text);
        let light = format!("name=\"back\" value=\"{page}\"");
        assert!(answer.text.contains(&light), "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn what_was_begun_is_done_though_whoever_asked_has_left() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let (begun, go_on) =
        (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    let ended = Arc::new(tokio::sync::Notify::new());
    let engine = added(polled("failed", &["https://a.org/1", "https://a.org/2"]));
    let [begins, waits, ends] = [&begun, &go_on, &ended].map(Arc::clone);
    let act: api::CommandFn = Arc::new(move |command| {
        let answer = engine(&command);
        let [begins, waits, ends] = [&begins, &waits, &ends].map(Arc::clone);
        Box::pin(async move {
            begins.notify_one();
            waits.notified().await;
            ends.notify_one();
            answer
        })
    });
    let context = ServerContext::new(store.clone(), Arc::new(|| T0), Arc::new(live), "1").unwrap();
    let desk = Desk::served(store, router(ServerContext { act, ..context }));
    {
        let mut asking = std::pin::pin!(desk.post("/feeds", &[("url", "https://a.org/")]));
        tokio::select! {
            _ = &mut asking => panic!("nobody has answered"),
            () = begun.notified() => {}
        }
        // The browser is closed while the page is polled.
    }
    go_on.notify_one();
    let end = tokio::time::timeout(std::time::Duration::from_secs(60), ended.notified());
    end.await.expect("what was begun is carried to its end");
}
