//! Fever: one address, and parameters for everything.

use serde_json::{Value, json};

use super::{AppFixture, FORM, empty, house, json};

/// printf 'anna:write-token' | md5sum
const KEY: &str = "api_key=e8a86117eea18d23516ab5a6093f41fe";

async fn ask(house: &AppFixture, query: &str, form: &str) -> Value {
    let path = format!("/fever/?api{query}");
    json(&house.send("POST", &path, &[("content-type", FORM)], form).await)
}

/// The same request for Anna.
async fn anna(house: &AppFixture, query: &str) -> Value {
    let body = ask(house, query, KEY).await;
    assert_eq!((&body["api_version"], &body["auth"]), (&json!(3), &json!(1)), "{query}");
    body
}

fn numbers(body: &Value) -> Vec<i64> {
    body["items"].as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_key_lets_in_and_strangers_hear_a_version() {
    let house = house();
    let stranger = json!({"api_version": 3, "auth": 0});
    for form in ["", "api_key=wrong", "api_key="] {
        assert_eq!(ask(&house, "&feeds&items", form).await, stranger, "{form}");
    }
    let path = format!("/fever/?api&{KEY}");
    let answer = house.send("GET", &path, &[], "").await;
    assert_eq!(json(&answer), stranger, "a key in an address is not taken");
    let refreshed = json!({"api_version": 3, "auth": 1, "last_refreshed_on_time": 1_700_002_000});
    assert_eq!(anna(&house, "").await, refreshed);
    assert_eq!(ask(&house, "", &KEY.to_uppercase().replace("API_KEY", "api_key")).await, refreshed);
    // Some clients send multipart forms, and use other addresses.
    let parts = format!(
        "--b\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\n{}\r\n--b--\r\n",
        &KEY["api_key=".len()..]
    );
    let kind = [("content-type", "multipart/form-data; boundary=b")];
    for path in ["/fever/?api", "/fever?api", "/fever/index.php?api"] {
        assert_eq!(json(&house.send("POST", path, &kind, &parts).await), refreshed, "{path}");
    }
    let house = empty(false);
    assert_eq!(ask(&house, "&feeds", "api_key=any").await["feeds"], json!([]));
    let foreign = [("sec-fetch-site", "cross-site")];
    assert_eq!(house.send("POST", "/fever/?api", &foreign, "").await.status, 403);
}

#[tokio::test]
async fn tags_are_groups_and_feeds_may_be_in_several() {
    let house = house();
    let body = anna(&house, "&groups").await;
    assert_eq!(
        body["groups"],
        json!([{"id": 2, "title": "Tech & more"}, {"id": 3, "title": "daily"}])
    );
    let members = json!([{"group_id": 2, "feed_ids": "1"}, {"group_id": 3, "feed_ids": "1,2"}]);
    assert_eq!(body["feeds_groups"], members);
    let body = anna(&house, "&feeds&favicons&links").await;
    assert_eq!(body["feeds_groups"], members);
    let first = json!({
        "id": 1,
        "favicon_id": 0,
        "title": "Feed 0 & Co",
        "url": body["feeds"][0]["url"],
        "site_url": "https://one.example/",
        "is_spark": 0,
        "last_updated_on_time": 1_700_000_100,
    });
    assert_eq!(body["feeds"][0], first);
    assert_eq!(body["feeds"].as_array().unwrap().len(), 3);
    assert!(!body.to_string().contains("secret"));
    assert_eq!((&body["favicons"], &body["links"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn items_come_in_the_order_of_their_numbers() {
    let house = house();
    house.store.star(house.anna, &[feed::EntryId(2)], true, crate::fixture::T0).unwrap();
    let body = anna(&house, "&items&with_ids=2").await;
    assert_eq!(
        body["items"],
        json!([{
            "id": 2,
            "feed_id": 1,
            "title": "red second &",
            "author": "A. B",
            "html": "<p>red second <a href=\"https://e.example/y\" \
                     rel=\"noopener noreferrer nofollow\">y</a></p>",
            "url": "https://e.example/100/1",
            "is_saved": 1,
            "is_read": 0,
            "created_on_time": 1_699_996_560,
        }])
    );
    assert_eq!(body["total_items"], 5);
    for (query, expect) in [
        ("&items", vec![1, 2, 3, 4, 5]),
        ("&items&since_id=3", vec![4, 5]),
        ("&items&since_id=9", vec![]),
        ("&items&max_id=3", vec![2, 1]),
        ("&items&max_id=0", vec![1, 2, 3, 4, 5]),
        ("&items&with_ids=5,1,99,x", vec![5, 1]),
    ] {
        assert_eq!(numbers(&anna(&house, query).await), expect, "{query}");
    }
    let titles: Vec<String> = (0..60).map(|n| format!("t{n}")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    house.see(3, &titles, 3000);
    assert_eq!(numbers(&anna(&house, "&items&since_id=5").await).len(), 50);
    let all: Vec<String> = (1..=60).map(|n| n.to_string()).collect();
    let query = format!("&items&with_ids={}", all.join(","));
    assert_eq!(numbers(&anna(&house, &query).await).len(), 50);
    let path = "/fever/?api&items&since_id=x";
    let answer = house.send("POST", path, &[("content-type", FORM)], KEY).await;
    assert_eq!(answer.status, 400);
}

#[tokio::test]
async fn items_feeds_and_groups_are_marked() {
    let check = async |query: &str, unread: &[i64], starred: &[i64]| {
        let house = house();
        house.store.mark_read(house.anna, &[feed::EntryId(1)], true).unwrap();
        house.store.star(house.anna, &[feed::EntryId(3)], true, crate::fixture::T0).unwrap();
        // Groups get numbers when they are first requested.
        anna(&house, "&groups").await;
        anna(&house, query).await;
        assert_eq!(house.state(), (unread.to_vec(), starred.to_vec()), "{query}");
    };
    check("&mark=item&as=read&id=2", &[3, 4, 5], &[3]).await;
    check("&mark=item&as=unread&id=1", &[1, 2, 3, 4, 5], &[3]).await;
    check("&mark=item&as=saved&id=5", &[2, 3, 4, 5], &[3, 5]).await;
    check("&mark=item&as=unsaved&id=3", &[2, 3, 4, 5], &[]).await;
    check("&mark=item&as=saved&id=99", &[2, 3, 4, 5], &[3]).await;
    check("&mark=feed&as=read&id=2&before=1700001000", &[2, 5], &[3]).await;
    check("&mark=feed&as=read&id=2&before=1700000999", &[2, 3, 4, 5], &[3]).await;
    check("&mark=feed&as=read&id=99", &[2, 3, 4, 5], &[3]).await;
    check("&mark=group&as=read&id=3&before=1700009999", &[5], &[3]).await;
    check("&mark=group&as=read&id=0", &[], &[3]).await;
    check("&mark=group&as=read&id=-1", &[2, 3, 4, 5], &[3]).await;
    check("&mark=group&as=read&id=1", &[2, 3, 4, 5], &[3]).await;
    check("&mark=all&as=read&id=1", &[2, 3, 4, 5], &[3]).await;
    let house = house();
    let body = anna(&house, "&mark=item&as=read&id=4").await;
    assert_eq!(body["unread_item_ids"], "5,3,2,1", "the answer holds the new list");
    let body = anna(&house, "&mark=item&as=saved&id=4").await;
    assert_eq!(body["saved_item_ids"], "4");
    let body = anna(&house, "&unread_item_ids&saved_item_ids").await;
    assert_eq!(
        (&body["unread_item_ids"], &body["saved_item_ids"]),
        (&json!("5,3,2,1"), &json!("4"))
    );
}

#[tokio::test]
async fn a_token_that_may_only_look_marks_nothing() {
    let house = house();
    // printf 'anna:read-token' | md5sum
    let read = "api_key=09663ad1aeb86a1f9c0771a15a80210a";
    let body = ask(&house, "&mark=item&as=read&id=1", read).await;
    assert_eq!(body["auth"], 1);
    assert_eq!(house.state().0, [1, 2, 3, 4, 5]);
}
