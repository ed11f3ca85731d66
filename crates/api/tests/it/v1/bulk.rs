//! Changes of many feeds, rules and labels over the JSON API and the page.

use dispatch::command::Command;
use serde_json::{Value, json};
use store::{AccountRole, NewFeed, NewToken, TokenScope};

use super::{acting, get, read, send, shelf};
use crate::acts::{Desk, obeys};
use crate::fixture::T0;

#[tokio::test]
async fn a_change_of_many_feeds_becomes_one_command() {
    let shelf = shelf();
    let (router, noted) = acting(&shelf);
    let post = async |body: Value| send(&router, "POST", "/api/v1/bulk", &[], body).await;
    let tag = json!({"state": "gone", "search": "x", "action": "tag", "add_tags": ["a"]});
    let choices = [
        (tag, json!({"matching": {"text": "x", "tag": null, "state": "gone"}})),
        (json!({"feeds": [1, 2], "action": "unsubscribe"}), json!({"feeds": [1, 2]})),
        (
            json!({"every": true, "action": "policy", "policy": "fix:1h"}),
            json!({"matching": {"text": "", "tag": null, "state": null}}),
        ),
    ];
    for (body, choice) in choices {
        let answer = post(body.clone()).await;
        assert_eq!(answer.status, 200, "{body}: {}", answer.text);
        assert_eq!(read(&answer)["id"], 7);
        let sent = noted.lock().unwrap().pop().unwrap();
        let sent = serde_json::to_value(sent).unwrap();
        assert_eq!(sent["wish"]["choice"], choice, "{sent}");
    }
    for (body, said) in [
        (json!({"action": "pause"}), "choose feeds by"),
        (json!({"feeds": [1], "every": true, "action": "pause"}), "choose feeds by"),
        (json!({"every": true, "action": "explode"}), "action must be"),
    ] {
        let answer = post(body).await;
        assert_eq!(answer.status, 400);
        assert!(answer.text.contains(said), "{}", answer.text);
    }
    let undo = send(&router, "POST", "/api/v1/bulk/7/undo", &[], Value::Null).await;
    assert_eq!(undo.status, 200, "{}", undo.text);
    let order = send(&router, "PUT", "/api/v1/tags", &[], json!({"tags": ["b", "a"]})).await;
    assert_eq!(order.status, 200, "{}", order.text);
    assert!(matches!(noted.lock().unwrap().pop(), Some(Command::Bulk { .. })));
}

#[tokio::test]
async fn a_reader_changes_only_what_is_their_own() {
    let shelf = shelf();
    let (router, noted) = acting(&shelf);
    shelf.store.add_account("anna", "no hash", T0).unwrap().unwrap();
    let bert = shelf.store.add_account("bert", "no hash", T0).unwrap().unwrap();
    assert_eq!(shelf.store.account("bert").unwrap().unwrap().role, AccountRole::Reader);
    let fresh = api::auth::fresh().unwrap();
    let fever_digest = api::auth::fever_digest("bert", &fresh.secret);
    let (name, scope) = ("t".to_owned(), TokenScope::Admin);
    let new = NewToken { account: bert, name, scope, digest: fresh.digest, fever_digest };
    shelf.store.add_token(&new, T0).unwrap().unwrap();
    let bearer = format!("Bearer {}", fresh.secret);
    let headers = [("authorization", bearer.as_str())];
    for (body, status) in [
        (json!({"every": true, "action": "tag", "add_tags": ["x"]}), 200),
        (json!({"every": true, "action": "unsubscribe"}), 200),
        (json!({"every": true, "action": "pause"}), 403),
        (json!({"every": true, "action": "resume"}), 403),
        (json!({"every": true, "action": "policy"}), 403),
        (json!({"every": true, "all": true, "action": "tag", "add_tags": ["x"]}), 403),
    ] {
        let answer = send(&router, "POST", "/api/v1/bulk", &headers, body.clone()).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
    }
    for command in noted.lock().unwrap().iter() {
        let Command::Bulk { account, everyone, .. } = command else { panic!("{command:?}") };
        assert_eq!((*account, *everyone), (Some(bert.0), false));
    }
}

#[tokio::test]
async fn rules_are_listed_created_tried_switched_and_deleted() {
    let shelf = shelf();
    let call = async |method: &str, path: &str, body: Value| {
        send(&shelf.router, method, &format!("/api/v1{path}"), &[], body).await
    };
    let rule = |word: &str| {
        let condition = format!("TITLE CONTAINS \"{word}\"");
        json!({"text": format!("CREATE RULE quiet ON ALL FEEDS WHERE {condition} DO HIDE")})
    };
    let tried = read(&call("POST", "/rule-trial", rule("red")).await);
    assert_eq!((&tried["kept"], &tried["entries"]), (&2.into(), &3.into()), "{tried}");
    assert_eq!(tried["newest"][0]["title"], "red 3");
    let wrong = read(&call("POST", "/rule-trial", json!({"text": "CREATE RULE x"})).await);
    assert_eq!(wrong["faults"][0]["line"], 1, "{wrong}");
    assert_eq!(get(&shelf.router, "/api/v1/rules").await["rules"], json!([]), "nothing is saved");

    let made = call("POST", "/rules", rule("red")).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let made = read(&made);
    assert_eq!((&made["name"], &made["on"]), (&"quiet".into(), &true.into()));
    assert_eq!(made["actions"], json!(["HIDE"]));
    assert_eq!(call("POST", "/rules", rule("blue")).await.status, 409, "the name is taken");
    assert_eq!(call("POST", "/rules", json!({"text": "nonsense"})).await.status, 400);
    let off = read(&call("PATCH", "/rules/quiet", json!({"on": false})).await);
    assert_eq!(off["on"], false);
    let past = call("PATCH", "/rules/quiet", json!({"past": true})).await;
    assert_eq!(past.status, 409, "{}", past.text);
    let on = read(&call("PATCH", "/rules/quiet", json!({"on": true, "past": true})).await);
    assert_eq!((&on["on"], &on["works_on_past"]), (&true.into(), &true.into()));
    let text = "CREATE RULE loud ON ALL FEEDS DO STAR";
    let renamed = read(&call("PATCH", "/rules/quiet", json!({"text": text})).await);
    assert_eq!((&renamed["name"], &renamed["text"]), (&"loud".into(), &text.into()));
    assert_eq!(call("GET", "/rules/quiet", Value::Null).await.status, 404);
    assert_eq!(call("PATCH", "/rules/quiet", json!({"on": true})).await.status, 404);
    assert_eq!(call("DELETE", "/rules/loud", Value::Null).await.status, 204);
    assert_eq!(call("DELETE", "/rules/loud", Value::Null).await.status, 404);
}

#[tokio::test]
async fn labels_of_an_entry_are_set_and_a_label_is_renamed_and_deleted() {
    let shelf = shelf();
    let call = async |method: &str, path: &str, body: Value| {
        send(&shelf.router, method, &format!("/api/v1{path}"), &[], body).await
    };
    let set =
        async |labels: Value| call("PUT", "/entries/1/labels", json!({"labels": labels})).await;
    assert_eq!(read(&set(json!(["later", " work "])).await)["labels"], json!(["later", "work"]));
    assert_eq!(read(&set(json!(["work", "new"])).await)["labels"], json!(["new", "work"]));
    let shown = get(&shelf.router, "/api/v1/entries/1/labels").await;
    assert_eq!(shown["labels"], json!(["new", "work"]));
    let renamed = read(&call("PATCH", "/labels/new", json!({"name": "work"})).await);
    let work = json!({"name": "work", "entries": 1});
    assert_eq!(renamed["labels"], json!([{"name": "later", "entries": 0}, work]));
    assert_eq!(call("DELETE", "/labels/work", Value::Null).await.status, 204);
    assert_eq!(call("DELETE", "/labels/work", Value::Null).await.status, 404);
    assert_eq!(set(json!([""])).await.status, 400);
    let missing = call("PUT", "/entries/99/labels", json!({"labels": ["x"]})).await;
    assert_eq!(missing.status, 404);
    let labels = get(&shelf.router, "/api/v1/labels").await;
    assert_eq!(labels["labels"], json!([{"name": "later", "entries": 0}]), "none was made");
}

#[tokio::test]
async fn forms_of_the_page_send_the_same_commands() {
    let desk = Desk::new(obeys());
    desk.feed(&["x", "y"]);
    let page = desk.text("/feeds?q=a&tag=x").await;
    assert!(page.contains("name=\"feed\" value=\"1\""), "{page}");
    desk.commands();
    let list = "q=a&tag=x&state=active";
    let chosen = [("list", list), ("act", "tag"), ("value", "n, m"), ("feed", "1")];
    let answer = desk.post("/bulk", &chosen).await;
    assert_eq!(answer.header("location"), "/feeds?q=a&tag=x&state=active");
    let matching = [("list", list), ("act", "pause"), ("every", "1")];
    desk.post("/bulk", &matching).await;
    desk.post("/bulk/undo", &[("number", "5"), ("back", "/tags")]).await;
    desk.post("/tags", &[("tag", "x"), ("act", "down")]).await;
    desk.post("/tags", &[("tag", "x"), ("act", "rename"), ("name", "z")]).await;
    desk.post("/tags/order", &[("item", "y"), ("item", "x"), ("part", "1")]).await;
    let tag = json!({"kind": "tag", "add": ["n", "m"], "remove": []});
    let matching = json!({"matching": {"text": "a", "tag": "x", "state": "active"}});
    let order = json!({"kind": "order-tags", "tags": ["y", "x"]});
    let expected = [
        json!({"kind": "change", "choice": {"feeds": [1]}, "change": tag}),
        json!({"kind": "change", "choice": matching, "change": {"kind": "pause"}}),
        json!({"kind": "undo", "number": 5}),
        order.clone(),
        json!({"kind": "rename-tag", "tag": "x", "to": "z"}),
        order,
    ];
    let sent: Vec<Value> = desk
        .commands()
        .iter()
        .map(|text| serde_json::from_str::<Value>(text).unwrap()["wish"].clone())
        .collect();
    assert_eq!(sent, expected);
    for (fields, said) in [
        ([("act", "tag"), ("value", " "), ("feed", "1")], "Write the tags"),
        ([("act", "tag"), ("value", "x"), ("none", "")], "Choose at least one feed"),
        ([("act", "fly"), ("value", "x"), ("feed", "1")], "Choose what to do"),
    ] {
        let answer = desk.post("/bulk", &fields).await;
        assert_eq!(answer.status, 422);
        assert!(answer.text.contains(said), "{}", answer.text);
    }
    assert_eq!(desk.commands(), [""; 0]);
    let url = feed::FeedUrl::parse("https://b.org/").unwrap();
    let new = NewFeed { url, title: None, site: None, tags: vec!["y".to_owned()] };
    desk.store.add_feed(&new, T0).unwrap();
    let page = desk.text("/tags").await;
    let (x, y) = (page.find("data-item=\"x\"").unwrap(), page.find("data-item=\"y\"").unwrap());
    assert!(x < y && page.contains("2 feeds"), "{page}");
}
