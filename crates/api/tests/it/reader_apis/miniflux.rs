//! miniflux: every call of its clients, with the exact answer where they depend on it.

use serde_json::{Value, json};

use super::{AppFixture, empty, house, json};
use crate::Answer;

pub const TOKEN: (&str, &str) = ("x-auth-token", "admin-token");

pub async fn get(house: &AppFixture, path: &str) -> Answer {
    house.send("GET", &format!("/v1/{path}"), &[TOKEN], "").await
}

pub async fn send(house: &AppFixture, method: &str, path: &str, body: Value) -> Answer {
    house.send(method, &format!("/v1/{path}"), &[TOKEN], &body.to_string()).await
}

pub async fn ids(house: &AppFixture, path: &str) -> Vec<i64> {
    let body = json(&get(house, path).await);
    let entries = body["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["id"].as_i64().unwrap()).collect()
}

#[track_caller]
pub fn says(answer: &Answer, status: u16, text: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    let body: Value = serde_json::from_str(&answer.text).unwrap();
    let said = body["error_message"].as_str().unwrap();
    assert!(said.contains(text), "{said}");
}

#[tokio::test]
async fn who_asks_for_what_is_not_here_is_told_in_its_own_form() {
    let house = house();
    says(&get(&house, "api-keys").await, 404, "docs/reference/reader-apis.md");
    says(&get(&house, "enclosures/1").await, 404, "the enclosure does not exist");
    for place in ["", "/api/greader.php"] {
        let path = format!("{place}/reader/api/0/friend/list");
        let answer = house.send("GET", &path, &[], "").await;
        assert_eq!(answer.status, 404);
        assert!(answer.text.starts_with("this part of Google Reader's API"), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_token_or_a_password_lets_in_and_nothing_else() {
    let house = house();
    // printf 'anna:correct horse' | base64; and with tokens instead of the password.
    for (header, user) in [
        ("x-auth-token", "admin-token"),
        ("authorization", "Basic YW5uYTpjb3JyZWN0IGhvcnNl"),
        ("authorization", "Basic YW5uYTphZG1pbi10b2tlbg=="),
        ("authorization", "Bearer admin-token"),
    ] {
        let me = json(&house.send("GET", "/v1/me", &[(header, user)], "").await);
        assert_eq!((&me["id"], &me["username"]), (&json!(1), &json!("anna")), "{user}");
        assert_eq!(me["is_admin"], true);
    }
    let paths = [
        "me",
        "version",
        "categories",
        "categories/1/feeds",
        "categories/1/entries",
        "feeds",
        "feeds/1",
        "feeds/1/entries",
        "feeds/1/icon",
        "feeds/counters",
        "entries",
        "entries/1",
        "entries/ids",
        "export",
        "integrations/status",
    ];
    for path in paths {
        for headers in [
            &[][..],
            &[("x-auth-token", "wrong")],
            &[("authorization", "Basic YW5uYTp3cm9uZw==")],
            &[("authorization", "Basic !")],
            &[("cookie", "tidings_session=admin-token")],
        ] {
            let answer = house.send("GET", &format!("/v1/{path}"), headers, "").await;
            if answer.status != 429 {
                says(&answer, 401, "wrong name, password or token");
            }
        }
    }
    let read = [("x-auth-token", "read-token")];
    for (method, path) in [
        ("PUT", "entries"),
        ("PUT", "entries/1/bookmark"),
        ("PUT", "feeds/1/mark-all-as-read"),
        ("PUT", "categories/2/mark-all-as-read"),
        ("PUT", "users/1/mark-all-as-read"),
        ("POST", "feeds"),
        ("PUT", "feeds/1"),
        ("DELETE", "feeds/1"),
        ("PUT", "feeds/refresh"),
        ("PUT", "feeds/1/refresh"),
        ("POST", "categories"),
        ("PUT", "categories/2"),
        ("DELETE", "categories/2"),
        ("PUT", "categories/2/refresh"),
        ("POST", "import"),
    ] {
        let answer = house.send(method, &format!("/v1/{path}"), &read, "{}").await;
        says(&answer, 403, "this token may");
    }
    assert!(house.acts().is_empty());
    assert_eq!(house.state(), (vec![1, 2, 3, 4, 5], vec![]));
}

#[tokio::test]
async fn while_there_are_no_accounts_whoever_is_here_is_user_one() {
    let house = empty(false);
    let me = json(&house.send("GET", "/v1/me", &[], "").await);
    assert_eq!((&me["id"], &me["username"]), (&json!(1), &json!("local")));
    assert_eq!(json(&house.send("GET", "/v1/feeds", &[], "").await), json!([]));
    let foreign = [("sec-fetch-site", "cross-site")];
    assert_eq!(house.send("PUT", "/v1/feeds/refresh", &foreign, "").await.status, 403);
    assert!(house.acts().is_empty());
}

#[tokio::test]
async fn tags_are_categories_and_the_first_is_a_feeds_own() {
    let house = house();
    let hidden = false;
    let one =
        |id: i64, t: &str| json!({"id": id, "user_id": 1, "title": t, "hide_globally": hidden});
    let list = json(&get(&house, "categories").await);
    assert_eq!(list, json!([one(1, "All"), one(2, "Tech & more"), one(3, "daily")]));
    house.store.mark_read(house.anna, &[feed::EntryId(1)], true).unwrap();
    let counted = json(&get(&house, "categories?counts=true").await);
    let counts: Vec<_> = counted
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["feed_count"].as_u64().unwrap(), one["total_unread"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [(1, 1), (1, 1), (1, 2)]);
    for (category, feeds, entries) in [(1, 3, &[5][..]), (2, 1, &[1, 2]), (3, 2, &[3, 4])] {
        let list = json(&get(&house, &format!("categories/{category}/feeds")).await);
        assert_eq!(list[0]["id"], feeds, "each feed is in one category");
        assert_eq!(list.as_array().unwrap().len(), 1);
        assert_eq!(list[0]["category"]["id"], category);
        assert_eq!(ids(&house, &format!("categories/{category}/entries")).await, entries);
        assert_eq!(ids(&house, &format!("entries?category_id={category}")).await, entries);
    }
    for path in ["categories/99/feeds", "categories/x/feeds", "categories/99/entries"] {
        says(&get(&house, path).await, 404, "the category does not exist");
    }
    let answer = send(&house, "PUT", "categories/2/mark-all-as-read", json!({})).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""));
    assert_eq!(house.state().0, [3, 4, 5]);
}

#[tokio::test]
async fn categories_are_made_named_anew_and_dropped() {
    let house = house();
    let answer = send(&house, "POST", "categories", json!({"title": " New "})).await;
    assert_eq!(answer.status, 201);
    let made: Value = serde_json::from_str(&answer.text).unwrap();
    let expect = json!({"id": 4, "user_id": 1, "title": "New", "hide_globally": false});
    assert_eq!(made, expect);
    assert_eq!(json(&get(&house, "categories").await)[3], expect, "it stays while it is empty");
    let answer = send(&house, "PUT", "categories/4", json!({"title": "Newer"})).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert_eq!(json(&get(&house, "categories").await)[3]["title"], "Newer");
    let answer = send(&house, "DELETE", "categories/4", json!(null)).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""));
    assert_eq!(json(&get(&house, "categories").await).as_array().unwrap().len(), 3);
    assert_eq!(
        json!(house.acts()),
        json!([{"kind": "rename-tag", "tag": "New", "to": "Newer"},
               {"kind": "rename-tag", "tag": "Newer", "to": null}])
    );
    for (method, path, title, status) in [
        ("POST", "categories", "daily", 400),
        ("POST", "categories", " ", 400),
        ("POST", "categories", "query:x", 400),
        ("POST", "categories", "a\nb", 400),
        ("PUT", "categories/1", "x", 400),
        ("DELETE", "categories/1", "", 400),
        ("PUT", "categories/99", "x", 404),
        ("DELETE", "categories/99", "", 404),
    ] {
        let answer = send(&house, method, path, json!({"title": title})).await;
        assert_eq!(answer.status, status, "{method} {path} {title}: {}", answer.text);
    }
    assert!(house.acts().is_empty());
}

#[tokio::test]
async fn a_feed_is_told_in_miniflux_words() {
    let house = house();
    let list = json(&get(&house, "feeds").await);
    assert_eq!(list.as_array().unwrap().len(), 3);
    let one = json(&get(&house, "feeds/1").await);
    assert_eq!(one, list[0]);
    let url = one["feed_url"].as_str().unwrap();
    assert!(url.starts_with("https://feed0.example/rss?token=") && !url.contains("secret"));
    for (name, expect) in [
        ("id", json!(1)),
        ("user_id", json!(1)),
        ("title", json!("Feed 0 & Co")),
        ("site_url", json!("https://one.example/")),
        ("checked_at", json!("2023-11-14T22:15:00Z")),
        ("parsing_error_count", json!(0)),
        ("parsing_error_message", json!("")),
        ("disabled", json!(false)),
        ("icon", json!(null)),
        ("crawler", json!(false)),
        ("user_agent", json!("")),
        (
            "category",
            json!({"id": 2, "user_id": 1, "title": "Tech & more", "hide_globally": false}),
        ),
    ] {
        assert_eq!(one[name], expect, "{name}");
    }
    assert_eq!(list[2]["category"]["title"], "All");
    house.store.mark_read(house.anna, &[feed::EntryId(1)], true).unwrap();
    let counters = json(&get(&house, "feeds/counters").await);
    assert_eq!(counters, json!({"reads": {"1": 1}, "unreads": {"1": 1, "2": 2, "3": 1}}));
    says(&get(&house, "feeds/99").await, 404, "the feed does not exist");
    says(&get(&house, "feeds/x").await, 404, "the feed does not exist");
    says(&get(&house, "feeds/1/icon").await, 404, "there is no icon for this feed");
}

#[tokio::test]
async fn feeds_come_change_and_go() {
    let house = house();
    let found = send(&house, "POST", "discover", json!({"url": "https://n.example/page"})).await;
    let page = "https://n.example/page";
    let expect = json!([{"url": page, "title": page, "type": "rss"}]);
    assert_eq!(json(&found), expect);
    assert!(house.acts().is_empty(), "nobody is asked");
    says(&send(&house, "POST", "discover", json!({"url": "x"})).await, 400, "");
    let body = json!({"feed_url": "https://n.example/page", "category_id": 3});
    let answer = send(&house, "POST", "feeds", body).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (201, "{\"feed_id\":4}"));
    assert_eq!(house.acts()[0]["tags"], json!(["daily"]));
    let several = json!({"feed_url": "https://several.example/"});
    says(&send(&house, "POST", "feeds", several).await, 400, "https://a.example/");
    let unknown = json!({"feed_url": "https://m.example/", "category_id": 99});
    says(&send(&house, "POST", "feeds", unknown).await, 404, "the category does not exist");
    house.acts();
    let change = json!({"title": "T", "category_id": 3, "crawler": true});
    let answer = send(&house, "PUT", "feeds/1", change).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert_eq!(
        json!(house.acts()),
        json!([{"kind": "title", "feed": "1", "title": "T"},
               {"kind": "tag", "feeds": ["1"], "add": ["daily"], "remove": ["Tech & more"]}])
    );
    send(&house, "PUT", "feeds/1", json!({"category_id": 1})).await;
    let expect = json!([{"kind": "tag", "feeds": ["1"], "add": [],
                         "remove": ["Tech & more", "daily"]}]);
    assert_eq!(json!(house.acts()), expect, "without a category there is no tag left");
    send(&house, "PUT", "feeds/1", json!({"category_id": 2})).await;
    assert!(house.acts().is_empty(), "it is there already");
    let moved = send(&house, "PUT", "feeds/1", json!({"feed_url": "https://else.example/"})).await;
    assert_eq!(moved.status, 201, "{}", moved.text);
    let expect = json!([{"kind": "move", "feed": "1", "url": "https://else.example/"}]);
    assert_eq!(json!(house.acts()), expect);
    for (method, path, expect) in [
        ("PUT", "feeds/2/refresh", json!([{"kind": "poll", "feeds": ["2"]}])),
        ("PUT", "feeds/refresh", json!([{"kind": "poll", "feeds": ["1", "2", "3", "4"]}])),
        ("PUT", "categories/3/refresh", json!([{"kind": "poll", "feeds": ["2", "4"]}])),
        ("DELETE", "feeds/2", json!([{"kind": "remove", "feed": "2"}])),
    ] {
        let answer = send(&house, method, path, json!(null)).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""), "{path}");
        assert_eq!(json!(house.acts()), expect, "{path}");
    }
    for (method, path) in [("DELETE", "feeds/99"), ("PUT", "feeds/99"), ("PUT", "feeds/99/refresh")]
    {
        says(&send(&house, method, path, json!({})).await, 404, "the feed does not exist");
    }
    says(&house.send("POST", "/v1/feeds", &[TOKEN], "no json").await, 400, "the body is invalid");
    let answer = send(&house, "PUT", "feeds/1/mark-all-as-read", json!(null)).await;
    assert_eq!(answer.status, 204);
    assert_eq!(house.state().0, [3, 4, 5]);
}

#[tokio::test]
async fn lists_go_out_and_come_in_and_a_version_is_told() {
    let house = house();
    let answer = get(&house, "export").await;
    assert!(answer.text.contains("xmlUrl=") && !answer.text.contains("secret"));
    let list = "<opml version='2.0'><body><outline text='One' xmlUrl='https://o.example/'/>\
                </body></opml>";
    let answer = house.send("POST", "/v1/import", &[TOKEN], list).await;
    assert_eq!(answer.status, 201);
    assert_eq!(answer.text, "{\"message\":\"Feeds imported successfully\"}");
    assert_eq!(house.acts()[0]["feeds"][0]["url"], "https://o.example/");
    says(&house.send("POST", "/v1/import", &[TOKEN], "x").await, 400, "");
    assert_eq!(json(&get(&house, "version").await)["version"], "1");
    let status = json(&get(&house, "integrations/status").await);
    assert_eq!(status, json!({"has_integrations": false}));
}
