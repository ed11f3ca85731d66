//! Answers while the database server does not answer. They need a PostgreSQL server.

use std::sync::Arc;

use api::{EngineState, ServerContext, router};
use axum::Router;
use store::testing::{self, Relay};
use store::{Location, OpenMode, Store};

use crate::fixture::{T0, live};
use crate::{Answer, get, post};

/// Routes over a database behind a relay; `None` without a server.
fn behind_relay(live: fn() -> EngineState) -> Option<(Router, Relay, tempfile::TempDir)> {
    let folder = tempfile::tempdir().unwrap();
    let relay = Relay::start(&testing::url(folder.path())?);
    let place = Location::parse(relay.url(), &|_| None).unwrap();
    drop(Store::open(&place, OpenMode::ReadWrite).unwrap());
    let store = Store::open(&place, OpenMode::Shared).unwrap();
    let context = ServerContext::new(store, Arc::new(|| T0), Arc::new(live), "1").unwrap();
    Some((router(context), relay, folder))
}

fn is_refreshed(page: &Answer) -> bool {
    page.text.contains("http-equiv=\"refresh\"")
}

#[tokio::test]
async fn a_page_loads_again_by_itself_and_a_form_does_not() {
    let Some((router, relay, _folder)) = behind_relay(live) else { return };
    assert_eq!(get(&router, "/feeds", &[]).await.status, 200);
    relay.cut();
    let page = get(&router, "/feeds?q=%22%3E%3Cb%3E", &[]).await;
    assert_eq!((page.status.as_u16(), page.header("retry-after")), (503, "5"));
    assert!(is_refreshed(&page) && page.text.contains("The database does not answer"));
    assert!(!page.text.contains("<b>"), "the address is only text: {}", page.text);
    let page = post(&router, "/feeds", &[], "url=https%3A%2F%2Fa.org".to_owned()).await;
    assert_eq!(page.status, 503);
    // Otherwise a person would lose what they have typed.
    assert!(!is_refreshed(&page), "{}", page.text);
    assert!(page.text.contains("may not have been stored"), "{}", page.text);
    let answer = get(&router, "/api/v1/feeds", &[]).await;
    assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, "5"));
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let answer = get(&router, "/v1/feeds", &[("x-auth-token", "x")]).await;
    assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, "5"));
    relay.mend();
    // A short while after the last attempt, the next caller tries the server again.
    let mut n_tries = 0;
    while get(&router, "/feeds", &[]).await.status != 200 {
        n_tries += 1;
        assert!(n_tries < 600, "the server is there again");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn a_process_that_does_not_poll_is_ready_if_the_database_answers() {
    let waits = || EngineState {
        not_ready: Some("nobody polls".to_owned()),
        polls_elsewhere: true,
        ..live()
    };
    let Some((router, relay, _folder)) = behind_relay(waits) else { return };
    assert_eq!(get(&router, "/readyz", &[]).await.status, 200);
    relay.cut();
    assert_eq!(get(&router, "/readyz", &[]).await.status, 503);
}
