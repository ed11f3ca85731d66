//! Sharing an entry, and the services of a person.

use dispatch::command::{Command, CommandRefusal, CommandResult};
use feed::Item;

use crate::acts::Desk;
use crate::fixture::Fixture;
use crate::get;

/// A page over a store with one entry, number 1.
fn desk(
    link: &str,
    title: &str,
    answer: fn(&Command) -> Result<CommandResult, CommandRefusal>,
) -> (Fixture, Desk) {
    let fixture = Fixture::new(true);
    let (link, title) = (Some(link.to_owned()), Some(title.to_owned()));
    let item = Item { link, title, ..Item::default() };
    fixture.see_items("https://e.org/feed", vec![item], 0);
    let desk = Desk::over(fixture.store.clone(), Box::new(answer));
    (fixture, desk)
}

fn sent(_: &Command) -> Result<CommandResult, CommandRefusal> {
    Ok(CommandResult::Sent { service: "Mine".to_owned() })
}

#[tokio::test]
async fn services_are_added_shown_with_the_entry_and_removed() {
    let (_fixture, desk) = desk("https://e.org/a?b=1&c=2", "Tom & \"Jerry\"", sent);
    let bad = [("name", "x"), ("kind", "link"), ("template", "javascript:alert({url})")];
    assert_eq!(desk.post("/account/sharing", &bad).await.status, 422);
    let bare = [("ready", "wallabag"), ("host", "")];
    assert_eq!(desk.post("/account/sharing", &bare).await.status, 422);
    let ready = [("ready", "wallabag"), ("host", "https://bag.example/")];
    assert_eq!(desk.post("/account/sharing", &ready).await.status, 303);
    let hook = [("name", "Mine"), ("kind", "webhook"), ("template", "https://in.example/hook")];
    assert_eq!(desk.post("/account/sharing", &hook).await.status, 303);

    let page = desk.text("/entry/1").await;
    let link = "https://bag.example/bookmarklet?url=https%3A%2F%2Fe.org%2Fa%3Fb%3D1%26c%3D2";
    assert!(page.contains(&format!("href=\"{link}\"")), "{page}");
    assert!(page.contains("mailto:?subject=Tom%20%26%20%22Jerry%22"), "{page}");
    assert!(page.contains("data-share=\"dialog\" hidden"), "hidden without a script");
    desk.commands();
    let sent = desk.post("/entry/1/send", &[("service", "2")]).await;
    assert!(sent.status == 200 && sent.text.contains("Mine has the entry"), "{}", sent.text);
    let command = desk.commands().pop().unwrap();
    assert!(command.contains(r#""kind":"share""#) && command.contains(r#""position":2"#));

    let account = desk.text("/account").await;
    assert!(account.contains("bag.example") && account.contains("whsec_"), "{account}");
    desk.post("/account/sharing/remove", &[("service", "1")]).await;
    let answer = get(&desk.router, "/api/v1/me/services", &[]).await;
    assert!(!answer.text.contains("bag.example") && answer.text.contains("in.example"));
}

#[tokio::test]
async fn an_entry_without_a_web_link_is_not_shared() {
    let (_fixture, desk) = desk("javascript:alert(1)", "x", sent);
    let page = desk.text("/entry/1").await;
    assert!(!page.contains("class=\"share\""), "{page}");
}

#[tokio::test]
async fn a_webhook_that_refuses_is_named() {
    let (_fixture, desk) = desk("https://e.org/", "x", |_| {
        let message = "Mine did not take the entry: it answered 500".to_owned();
        Err(CommandRefusal { message, input: true })
    });
    let sent = desk.post("/entry/1/send", &[("service", "1")]).await;
    assert!(sent.status == 422 && sent.text.contains("it answered 500"), "{}", sent.text);
}
