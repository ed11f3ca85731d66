//! The other pages of the navigation: queries, budget, lab, health, account.

use std::sync::Arc;

use api::what_if::{ReplayJob, ReplayResult, RuleResult};
use api::{ServerContext, router};
use axum::http::StatusCode;
use dispatch::command::{Command, CommandResult, QueriesResult, StatementResult};

use crate::acts::{Desk, obeys};
use crate::fixture::{Fixture, T0, live};
use crate::get;

const VOLCANO: &str = "CREATE FEED Volcano AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"red\"";

#[tokio::test]
async fn every_place_is_there_before_anything_is() {
    let desk = Desk::new(obeys());
    for path in
        ["/", "/feeds", "/queries", "/queries/new", "/budget", "/lab", "/health", "/account"]
    {
        let page = desk.text(path).await;
        let here = format!("href=\"{path}\" aria-current=\"page\"");
        assert!(path == "/queries/new" || page.contains(&here), "{path}: {page}");
    }
}

#[tokio::test]
async fn a_faulty_statement_is_shown_with_its_fault_and_not_saved() {
    let desk = Desk::new(obeys());
    let text = "CREATE FEED A AS\r\nRETURN ALL FEEDS WHERE TITEL CONTAINS \"<x>\"";
    for path in ["/queries", "/queries/preview"] {
        let answer = desk.post(path, &[("text", text)]).await;
        assert!(answer.text.contains("<mark>TITEL</mark>"), "{path}: {}", answer.text);
        assert!(answer.text.contains("Line 2, column 24"), "{}", answer.text);
        assert!(answer.text.contains("&#60;x&#62;") && !answer.text.contains("<x>"));
    }
    assert!(desk.commands().is_empty());
    let part = desk.post("/queries/preview", &[("text", text), ("part", "1")]).await;
    assert!(part.text.contains("<mark>") && !part.text.contains("<html"), "{}", part.text);
}

#[tokio::test]
async fn a_preview_shows_what_would_have_been_kept() {
    let shelf = Fixture::new(true);
    shelf.see("https://a.org/f", &["red one", "blue two", "red three"], 10);
    let desk = Desk::over(shelf.store.clone(), obeys());
    let answer = desk.post("/queries/preview", &[("text", VOLCANO), ("part", "1")]).await;
    assert!(answer.text.contains("Volcano finds 2 of 3 entries"), "{}", answer.text);
    assert!(answer.text.contains("red three") && !answer.text.contains("blue two"));
}

#[tokio::test]
async fn saving_dropping_and_replaying_are_commands() {
    let applied = |_: &Command| {
        let queries =
            vec![StatementResult { name: "Volcano".to_owned(), what: "created".to_owned() }];
        let granted = QueriesResult::Applied { queries, feeds_added: 0, feeds_resting: 0, past: 0 };
        Ok(CommandResult::Query { granted })
    };
    let desk = Desk::new(Box::new(applied));
    let answer = desk.post("/queries", &[("text", VOLCANO), ("past", "7")]).await;
    assert_eq!(answer.header("location"), "/query/Volcano");
    let command = desk.commands().remove(0);
    assert!(command.contains("\"past\":604800") && command.contains("RETURN ALL FEEDS"));
    assert!(desk.text("/query/Volcano/drop").await.contains("Delete Volcano?"));
    desk.post("/query/Volcano/drop", &[]).await;
    desk.post("/query/Volcano/replay", &[]).await;
    let commands = desk.commands();
    assert_eq!(commands[0], r#"{"kind":"query","wish":{"drop":{"name":"Volcano"}}}"#);
    assert_eq!(commands[1], r#"{"kind":"query","wish":{"replay":{"name":"Volcano"}}}"#);
}

#[tokio::test]
async fn a_querys_page_says_what_it_keeps() {
    let shelf = Fixture::new(true);
    shelf.query("red", "PUBLISH");
    shelf.see("https://a.org/f", &["red one", "blue two"], 10);
    let answer = get(&shelf.router, "/query/red", &[]).await;
    assert!(answer.text.contains("1 entry found so far"), "{}", answer.text);
    assert!(answer.text.contains("href=\"/feeds/red.atom\""));
    let list = get(&shelf.router, "/queries", &[]).await.text;
    assert!(list.contains("/query/red") && list.contains("public feed"), "{list}");
    shelf.store.remove_feed(feed::FeedId(1)).unwrap();
    let answer = get(&shelf.router, "/query/red", &[]).await;
    assert!(answer.text.contains("0 entries found so far"), "{}", answer.text);
    assert_eq!(get(&shelf.router, "/query/blue", &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_budget_is_set_and_lifted_by_one_command() {
    let desk = Desk::new(obeys());
    let fields = [("budget", "100/1h"), ("strategy", "two-steps"), ("model", "")];
    desk.post("/budget", &fields).await;
    desk.post("/budget", &[("budget", "100/1h"), ("off", "1")]).await;
    // A person can choose a model and keep the default strategy.
    desk.post("/budget", &[("budget", "9/1h"), ("strategy", ""), ("model", "periodic")]).await;
    desk.post("/budget", &[("budget", "9/1h"), ("strategy", ""), ("model", "")]).await;
    assert_eq!(
        desk.commands(),
        [
            r#"{"kind":"budget","rule":"100/1h two-steps"}"#,
            r#"{"kind":"budget","rule":null}"#,
            r#"{"kind":"budget","rule":"9/1h tide periodic"}"#,
            r#"{"kind":"budget","rule":"9/1h"}"#,
        ]
    );
}

fn outlook() -> ReplayResult {
    let rule = |name: &str, budget: &str, polls_per_day, delay, current| RuleResult {
        name: name.to_owned(),
        budget: budget.to_owned(),
        polls_per_day,
        delay_secs: Some(delay),
        found: 9,
        missed: 0,
        current,
    };
    ReplayResult {
        rules: vec![rule("tide", "", 100.0, 600.0, true)],
        steps: vec![
            rule("two-steps", "50/1d", 50.0, 1200.0, false),
            rule("two-steps", "100/1d", 100.0, 540.0, true),
        ],
        words: vec!["With <x> nothing changes.".to_owned()],
        ..ReplayResult::default()
    }
}

#[tokio::test]
async fn the_history_is_replayed_once_behind_the_page_and_its_outcome_stays() {
    let shelf = Fixture::new(true);
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let gone = std::sync::Mutex::new(gone);
    let replay = ReplayJob::new(Arc::new(move |told| {
        told(1, 6);
        gone.lock().unwrap().recv().unwrap();
        Ok(outlook())
    }));
    let now: Arc<dyn Fn() -> feed::Time + Send + Sync> = Arc::new(|| T0);
    let context = ServerContext::new(shelf.store.clone(), now, Arc::new(live), "1").unwrap();
    let context = ServerContext { what_if: replay.clone(), ..context };
    let desk = Desk::served(shelf.store.clone(), router(context));
    assert!(desk.text("/budget").await.contains("Replay the history"));
    desk.post("/what-if", &[("back", "/budget")]).await;
    desk.post("/what-if", &[("back", "/budget")]).await;
    while replay.state().running != Some((1, 6)) {
        tokio::task::yield_now().await;
    }
    let waiting = get(&desk.router, "/budget", &[]).await;
    assert!(waiting.text.contains("step 1 of 6"), "{}", waiting.text);
    assert_eq!(waiting.header("refresh"), "3");
    go.send(()).unwrap();
    while replay.state().running.is_some() {
        tokio::task::yield_now().await;
    }
    for path in ["/budget", "/lab"] {
        let page = desk.text(path).await;
        assert!(page.contains("data-rule=\"100/1d\"") && page.contains("9 min"), "{page}");
        assert!(page.contains("With &#60;x&#62; nothing changes."), "{page}");
        assert!(page.contains("max=\"1\"") && page.contains("value=\"1\""), "{page}");
    }
    drop(go);
}

#[tokio::test]
async fn a_report_is_shown_in_a_sandbox_and_nothing_else_is() {
    let shelf = Fixture::new(true);
    let folder = shelf.context.data.join("reports").join("bursty");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("index.html"), "<h1>Bursty</h1>").unwrap();
    std::fs::write(folder.parent().unwrap().join("secret"), "x").unwrap();
    let list = get(&shelf.router, "/lab", &[]).await.text;
    assert!(list.contains("href=\"/lab/bursty\""), "{list}");
    let report = get(&shelf.router, "/lab/bursty", &[]).await;
    assert_eq!(report.text, "<h1>Bursty</h1>");
    assert!(report.header("content-security-policy").starts_with("sandbox; default-src 'none'"));
    std::fs::write(folder.join("index.html"), "<head></head><a href=\"a.csv\">data</a>").unwrap();
    std::fs::write(folder.join("a.csv"), "x,y\n").unwrap();
    std::fs::write(folder.join("a.txt"), "not a figure").unwrap();
    let report = get(&shelf.router, "/lab/bursty", &[]).await.text;
    assert!(report.contains("<head><base href=\"/lab/bursty/\">"), "links lead below: {report}");
    let data = get(&shelf.router, "/lab/bursty/a.csv", &[]).await;
    assert_eq!(
        (data.text.as_str(), data.header("content-type")),
        ("x,y\n", "text/plain; charset=utf-8")
    );
    assert!(data.header("content-security-policy").starts_with("sandbox; default-src 'none'"));
    let out =
        ["/lab/bursty/a.txt", "/lab/bursty/..%2f..%2fa.csv", "/lab/../a.csv", "/lab/no/a.csv"];
    for path in
        ["/lab/secret", "/lab/..", "/lab/%2e%2e%2fstore", "/lab/none"].into_iter().chain(out)
    {
        let status = get(&shelf.router, path, &[]).await.status;
        assert!(status.is_client_error(), "{path}: {status}");
    }
}

#[tokio::test]
async fn health_names_what_fails() {
    let shelf = Fixture::new(true);
    shelf.see("https://a.org/f", &["one"], 10);
    let page = get(&shelf.router, "/health", &[]).await.text;
    assert!(page.contains("<p class=\"quiet\">None.</p>"), "{page}");
    assert!(page.contains("1 entry behind"), "the search index is told of: {page}");
    let feed = feed::FeedId(1);
    let at = T0 + std::time::Duration::from_secs(60);
    let mut record = store::PollRecord::empty(feed, 1, at, feed::Outcome::Failed, at);
    record.decision.failures = 3;
    record.problem = Some(store::PollProblem::new("no such <host>"));
    shelf.store.record_blocking(record).unwrap();
    let page = get(&shelf.router, "/health", &[]).await.text;
    assert!(page.contains("No such &#60;host&#62;.") && page.contains("/feed/1"), "{page}");
}

#[tokio::test]
async fn health_claims_no_success_that_was_not_seen() {
    let shelf = Fixture::new(true);
    let says = async |shelf: &Fixture| get(&shelf.router, "/health", &[]).await.text;
    assert!(says(&shelf).await.contains("There are no feeds yet."));
    for url in ["https://a.org/f", "https://b.org/f"] {
        let url = feed::FeedUrl::parse(url).unwrap();
        let new = store::NewFeed { url, title: None, site: None, tags: Vec::new() };
        shelf.store.add_feed(&new, T0).unwrap();
    }
    let page = says(&shelf).await;
    assert!(page.contains("Not known yet: none of 2 feeds has been polled."), "{page}");
    assert!(page.contains("2 due"), "feeds that were never polled are due: {page}");
    let list = get(&shelf.router, "/feeds", &[]).await.text;
    assert!(list.contains("Due now</dt><dd>2<"), "{list}");
    shelf.see("https://a.org/f", &["one"], 10);
    let page = says(&shelf).await;
    assert!(page.contains("None so far. 1 feed not polled yet."), "{page}");
}
