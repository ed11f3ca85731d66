//! miniflux: every call of its clients, with the reply to the letter where they read it so.

use serde_json::{Value, json};

use super::{House, empty, house, json};
use crate::Answer;

const TOKEN: (&str, &str) = ("x-auth-token", "admin-token");

async fn get(house: &House, path: &str) -> Answer {
    house.send("GET", &format!("/v1/{path}"), &[TOKEN], "").await
}

async fn send(house: &House, method: &str, path: &str, body: Value) -> Answer {
    house.send(method, &format!("/v1/{path}"), &[TOKEN], &body.to_string()).await
}

async fn ids(house: &House, path: &str) -> Vec<i64> {
    let body = json(&get(house, path).await);
    let entries = body["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["id"].as_i64().unwrap()).collect()
}

#[track_caller]
fn says(answer: &Answer, status: u16, text: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    let body: Value = serde_json::from_str(&answer.text).unwrap();
    let said = body["error_message"].as_str().unwrap();
    assert!(said.contains(text), "{said}");
}

#[tokio::test]
async fn a_token_or_a_password_lets_in_and_nothing_else() {
    let house = house();
    // printf 'anna:correct horse' | base64; and with tokens in the place of the password.
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
                says(&answer, 401, "not known here");
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
    let one = |id: i64, title: &str| json!({"id": id, "user_id": 1, "title": title, "hide_globally": false});
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
        says(&get(&house, path).await, 404, "no such category");
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
    let expect = json!({"id": 5, "user_id": 1, "title": "New", "hide_globally": false});
    assert_eq!(made, expect);
    assert_eq!(json(&get(&house, "categories").await)[3], expect, "it stays while it is empty");
    let answer = send(&house, "PUT", "categories/5", json!({"title": "Newer"})).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert_eq!(json(&get(&house, "categories").await)[3]["title"], "Newer");
    let answer = send(&house, "DELETE", "categories/5", json!(null)).await;
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
    says(&get(&house, "feeds/99").await, 404, "no such feed");
    says(&get(&house, "feeds/x").await, 404, "no such feed");
    says(&get(&house, "feeds/1/icon").await, 404, "no icons");
}

#[tokio::test]
async fn feeds_come_change_and_go() {
    let house = house();
    let found = send(&house, "POST", "discover", json!({"url": "https://n.example/page"})).await;
    let expect = json!([{"url": "https://n.example/page", "title": "https://n.example/page", "type": "rss"}]);
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
    says(&send(&house, "POST", "feeds", unknown).await, 404, "no such category");
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
    says(&moved, 400, "keeps its address");
    for (method, path, expect) in [
        ("PUT", "feeds/2/refresh", json!([{"kind": "poll", "feeds": ["2"]}])),
        ("PUT", "feeds/refresh", json!([{"kind": "poll", "feeds": null}])),
        ("PUT", "categories/3/refresh", json!([{"kind": "poll", "feeds": ["2", "4"]}])),
        ("DELETE", "feeds/2", json!([{"kind": "remove", "feed": "2"}])),
    ] {
        let answer = send(&house, method, path, json!(null)).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""), "{path}");
        assert_eq!(json!(house.acts()), expect, "{path}");
    }
    for (method, path) in [("DELETE", "feeds/99"), ("PUT", "feeds/99"), ("PUT", "feeds/99/refresh")]
    {
        says(&send(&house, method, path, json!({})).await, 404, "no such feed");
    }
    says(&house.send("POST", "/v1/feeds", &[TOKEN], "no json").await, 400, "the body is not");
    let answer = send(&house, "PUT", "feeds/1/mark-all-as-read", json!(null)).await;
    assert_eq!(answer.status, 204);
    assert_eq!(house.state().0, [3, 4, 5]);
}

#[tokio::test]
async fn an_entry_is_told_with_all_that_clients_read() {
    let house = house();
    house.store.star(house.anna, &[feed::EntryId(2)], true, crate::shelf::T0).unwrap();
    let mut entry = json(&get(&house, "entries/2").await);
    assert_eq!(entry["feed"]["id"], 1);
    entry["feed"] = json!(null);
    let expect = json!({
        "id": 2,
        "user_id": 1,
        "feed_id": 1,
        "status": "unread",
        "hash": "a1860100000000000000000000000000",
        "title": "red second &",
        "url": "https://e.example/100/1",
        "comments_url": "",
        "published_at": "2023-11-14T21:16:00Z",
        "created_at": "2023-11-14T22:15:00Z",
        "changed_at": "2023-11-14T22:15:00Z",
        "author": "A. B",
        "share_code": "",
        "starred": true,
        "reading_time": 1,
        "tags": [],
        "content": "<p>red second <a href=\"https://e.example/y\" \
                    rel=\"noopener noreferrer nofollow\">y</a></p>",
        "enclosures": [{
            "id": 1, "user_id": 1, "entry_id": 2, "url": "https://e.example/a.mp3",
            "mime_type": "audio/mpeg", "size": 5, "media_progression": 0,
        }],
        "feed": null,
    });
    assert_eq!(entry, expect);
    for path in ["feeds/1/entries/2", "categories/2/entries/2"] {
        assert_eq!(json(&get(&house, path).await)["id"], 2, "{path}");
    }
    for path in ["entries/99", "entries/x", "feeds/2/entries/2", "categories/3/entries/2"] {
        says(&get(&house, path).await, 404, "no such entry");
    }
}

#[tokio::test]
async fn every_filter_finds_its_entries() {
    let house = house();
    house.store.mark_read(house.anna, &[feed::EntryId(1), feed::EntryId(3)], true).unwrap();
    let stars = [feed::EntryId(3), feed::EntryId(5)];
    house.store.star(house.anna, &stars, true, crate::shelf::T0).unwrap();
    for (query, expect, total) in [
        ("", vec![1, 2, 3, 4, 5], 5),
        ("order=published_at&direction=desc", vec![5, 4, 3, 2, 1], 5),
        ("order=id&direction=desc&limit=2", vec![5, 4], 5),
        ("order=id&direction=asc&limit=2&offset=3", vec![4, 5], 5),
        ("limit=2&offset=9", vec![], 5),
        ("limit=0", vec![1, 2, 3, 4, 5], 5),
        ("limit=99999", vec![1, 2, 3, 4, 5], 5),
        ("status=unread", vec![2, 4, 5], 3),
        ("status=read", vec![1, 3], 2),
        ("status=read&status=unread", vec![1, 2, 3, 4, 5], 5),
        ("status=removed", vec![], 0),
        ("starred=true", vec![3, 5], 2),
        ("starred=1&status=unread", vec![5], 1),
        ("starred=false", vec![1, 2, 4], 3),
        ("feed_id=2", vec![3, 4], 2),
        ("feed_id=99", vec![], 0),
        ("after_entry_id=3", vec![4, 5], 2),
        ("before_entry_id=3&direction=desc", vec![2, 1], 2),
        // Published at 21:15, 21:16, 21:30, 21:31 and 21:46:40.
        ("after=1699996500", vec![2, 3, 4, 5], 4),
        ("published_after=1699996560&published_before=1699998400", vec![3, 4], 2),
        ("before=1699997400", vec![1, 2], 2),
        // Seen at 22:15, 22:30 and 22:46:40.
        ("changed_after=1700000100", vec![3, 4, 5], 3),
        ("changed_before=1700001000", vec![1, 2], 2),
        ("globally_visible=true", vec![1, 2, 3, 4, 5], 5),
    ] {
        let path = format!("entries?{query}");
        assert_eq!(ids(&house, &path).await, expect, "{query}");
        assert_eq!(json(&get(&house, &path).await)["total"], total, "{query}");
        let numbers = json(&get(&house, &format!("entries/ids?{query}")).await);
        assert_eq!(numbers, json!({"total": total, "entry_ids": expect}), "{query}");
    }
    let newsboat = "feeds/2/entries?order=published_at&direction=desc";
    assert_eq!(ids(&house, newsboat).await, [4, 3]);
    says(&get(&house, "feeds/99/entries").await, 404, "no such feed");
    for query in [
        "limit=x",
        "limit=-1",
        "offset=-1",
        "status=x",
        "starred=x",
        "order=title",
        "direction=up",
        "after=x",
        "feed_id=x",
    ] {
        assert_eq!(get(&house, &format!("entries?{query}")).await.status, 400, "{query}");
    }
    says(&get(&house, "entries?category_id=99").await, 404, "no such category");
}

#[tokio::test]
async fn entries_are_marked_and_starred_for_one_person() {
    let house = house();
    for (body, unread, starred) in [
        (json!({"status": "read", "entry_ids": [1, 2, 999]}), vec![3, 4, 5], vec![]),
        (json!({"status": "unread", "entry_ids": [2]}), vec![2, 3, 4, 5], vec![]),
        (json!({"starred": true, "entry_ids": [4, 999]}), vec![2, 3, 4, 5], vec![4]),
    ] {
        // As newsboat sends it: JSON that says it is a form.
        let headers = [TOKEN, ("content-type", super::FORM)];
        let answer = house.send("PUT", "/v1/entries", &headers, &body.to_string()).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""), "{body}");
        assert_eq!(house.state(), (unread, starred), "{body}");
    }
    for (path, starred) in [
        ("entries/4/bookmark", vec![]),
        ("entries/5/bookmark", vec![5]),
        ("entries/5/star", vec![]),
    ] {
        let answer = send(&house, "PUT", path, json!(null)).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""));
        assert_eq!(house.state().1, starred);
    }
    says(&send(&house, "PUT", "entries/99/bookmark", json!(null)).await, 404, "no such entry");
    let many: Vec<i64> = (0..10_001).collect();
    for body in [
        json!({"status": "read", "entry_ids": []}),
        json!({"status": "read", "entry_ids": many}),
        json!({"status": "removed", "entry_ids": [1]}),
        json!({"entry_ids": [1]}),
        json!({"status": "read"}),
        json!({"status": "read", "entry_ids": ["1"]}),
    ] {
        says(&send(&house, "PUT", "entries", body).await, 400, "");
    }
    let huge = " ".repeat((2 << 20) + 1);
    says(&house.send("PUT", "/v1/entries", &[TOKEN], &huge).await, 413, "too much");
    assert_eq!(send(&house, "PUT", "users/1/mark-all-as-read", json!(null)).await.status, 204);
    assert_eq!(house.state().0, Vec::<i64>::new());
    says(&send(&house, "PUT", "users/2/mark-all-as-read", json!(null)).await, 404, "user");
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
