//! Answers while the store cannot be read or written.

use std::sync::Arc;

use api::auth::{digest, fever_digest};
use api::{ServerContext, router};
use axum::Router;
use feed::EntryId;
use store::{Location, NewToken, OpenMode, Store, TokenScope};

use crate::fixture::{Fixture, T0, live};
use crate::get;
use crate::reading::post;

/// Takes the data away, so that what was not read yet cannot be read. The files of SQLite are
/// truncated; the schema of PostgreSQL gets another name.
fn cut(store: &Store) {
    if let Location::Postgres(_) = store.location() {
        let sql = "do $$ begin execute format('alter schema %I rename to %I', \
                   current_schema(), 'hidden_' || current_schema()); end $$";
        return store::testing::execute(store.location(), sql);
    }
    for end in ["", "-wal"] {
        let path = format!("{}{end}", store.path().display());
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(0).unwrap();
    }
}

/// The same data behind a read-only store, as on a full disk.
fn full_disk(shelf: &Fixture) -> Router {
    let store = Store::open(shelf.store.location().clone(), OpenMode::ReadOnly).unwrap();
    router(ServerContext::new(store, Arc::new(|| T0), Arc::new(live), "1").unwrap())
}

#[tokio::test]
async fn the_process_answers_for_itself_and_says_that_it_is_not_ready() {
    let shelf = Fixture::new(false);
    cut(&shelf.store);
    let health = get(&shelf.router, "/healthz", &[]).await;
    assert_eq!((health.status.as_u16(), health.text.as_str()), (200, "ok\n"));
    let ready = get(&shelf.router, "/readyz", &[]).await;
    assert_eq!(ready.status, 503);
    assert!(ready.text.starts_with("not ready: the store does not answer"), "{}", ready.text);
}

#[tokio::test]
async fn people_are_told_on_a_page_and_programs_in_json() {
    let shelf = Fixture::new(false);
    cut(&shelf.store);
    let page = get(&shelf.router, "/feeds", &[]).await;
    assert_eq!(page.status, 500);
    assert!(page.header("content-type").starts_with("text/html"), "{}", page.text);
    assert!(page.text.contains("The database did not answer"), "{}", page.text);
    let answer = get(&shelf.router, "/api/v1/feeds", &[]).await;
    assert_eq!(answer.header("content-type"), "application/problem+json");
}

#[tokio::test]
async fn a_change_that_met_another_one_may_be_tried_again() {
    let shelf = Fixture::new(true);
    let Location::Postgres(_) = shelf.store.location() else { return };
    shelf.see("https://a.org/f", &["one"], 10);
    let sql = "create function deadlock() returns trigger language plpgsql as \
               $$ begin raise exception 'deadlock' using errcode = '40P01'; end $$; \
               create trigger deadlock before insert on read_marks for each row \
               execute function deadlock()";
    store::testing::execute(shelf.store.location(), sql);
    let page = post(&shelf, "/marks", &[("read", "1")]).await;
    assert_eq!((page.status.as_u16(), page.header("retry-after")), (503, "1"), "{}", page.text);
    assert!(page.text.contains("Please try again"), "{}", page.text);
}

#[tokio::test]
async fn a_page_that_could_not_be_shown_still_leads_to_the_others() {
    let shelf = Fixture::new(true);
    shelf.see("https://a.org/f", &["one"], 10);
    // The gate can read what it needs; the list of feeds cannot.
    store::testing::execute(shelf.store.location(), "alter table feeds rename to hidden");
    let page = get(&shelf.router, "/feeds?q=a", &[("cookie", "tidings_light=dark")]).await;
    assert_eq!(page.status, 500);
    assert!(page.text.contains("The database did not answer"), "{}", page.text);
    assert!(page.text.contains("aria-label=\"Sections\"") && page.text.contains("/health"));
    assert!(page.text.contains("data-light=\"dark\""), "in the light that was chosen");
    assert!(page.text.contains("href=\"/feeds?q=a\""), "and back to where it was tried");
}

#[tokio::test]
async fn an_entry_is_shown_though_it_cannot_be_marked() {
    let shelf = Fixture::new(true);
    shelf.see("https://a.org/f", &["one"], 10);
    let page = get(&full_disk(&shelf), "/entry/1", &[]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("one"));
    assert!(!shelf.store.read_marks(store::AccountId::LOCAL).unwrap().is_read(EntryId(1)));
}

#[tokio::test]
async fn a_token_opens_the_api_though_its_use_cannot_be_noted() {
    let shelf = Fixture::new(false);
    shelf.see("https://a.org/f", &["one"], 10);
    let new = NewToken {
        account: shelf.store.account("somebody").unwrap().unwrap().id,
        name: "script".to_owned(),
        scope: TokenScope::Read,
        digest: digest("the secret"),
        fever_digest: fever_digest("somebody", "the secret"),
    };
    shelf.store.add_token(&new, T0).unwrap().unwrap();
    let with = [("authorization", "Bearer the secret")];
    let answer = get(&full_disk(&shelf), "/api/v1/entries", &with).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

#[tokio::test]
async fn no_entry_goes_out_without_its_feed_because_that_could_not_be_read() {
    let shelf = Fixture::new(true);
    shelf.see("https://a.org/f", &["one"], 10);
    let location = shelf.store.location();
    store::testing::execute(location, "alter table feeds rename to hidden");
    let answer = get(&shelf.router, "/api/v1/entries", &[]).await;
    assert_eq!(answer.status, 500, "{}", answer.text);
    store::testing::execute(location, "alter table hidden rename to feeds");
    let answer = get(&shelf.router, "/api/v1/entries", &[]).await;
    assert!(answer.text.contains("\"feed\":\"https://a.org/f\""), "{}", answer.text);
}
