//! Google Reader: logins, feeds and labels.

use serde_json::{Value, json};

use super::{AppFixture, FORM, empty, house, json};
use crate::Answer;

pub const ADMIN: (&str, &str) = ("authorization", "GoogleLogin auth=admin-token");

pub async fn get(house: &AppFixture, path: &str) -> Answer {
    house.send("GET", &format!("/reader/api/0/{path}"), &[ADMIN], "").await
}

pub async fn post(house: &AppFixture, path: &str, form: &str) -> Answer {
    let headers = [ADMIN, ("content-type", FORM)];
    house.send("POST", &format!("/reader/api/0/{path}"), &headers, form).await
}

async fn login(house: &AppFixture, form: &str) -> Answer {
    house.send("POST", "/accounts/ClientLogin", &[("content-type", FORM)], form).await
}

#[tokio::test]
async fn a_password_becomes_a_secret_for_every_other_call() {
    let house = house();
    // The request of newsboat.
    let answer = login(
        &house,
        "service=reader&Email=Anna&Passwd=correct%20horse&source=newsboat0.000000&\
         accountType=HOSTED_OR_GOOGLE&continue=http://www.google.com/",
    )
    .await;
    assert_eq!(answer.status, 200);
    let lines: Vec<&str> = answer.text.lines().collect();
    let auth = lines[2].strip_prefix("Auth=").unwrap();
    assert_eq!(lines, [format!("SID={auth}"), format!("LSID={auth}"), format!("Auth={auth}")]);
    let header = format!("GoogleLogin auth={auth}");
    let with = [("authorization", header.as_str())];
    let answer = house.send("GET", "/reader/api/0/user-info", &with, "").await;
    let info = json(&answer);
    assert_eq!((&info["userId"], &info["userName"]), (&json!("1"), &json!("anna")));
    let token = house.send("GET", "/reader/api/0/token", &with, "").await;
    assert_eq!(token.text, auth);
    // The same under the prefix of FreshRSS.
    let path = "/api/greader.php/reader/api/0/user-info";
    assert_eq!(json(&house.send("GET", path, &with, "").await)["userName"], "anna");
    assert_eq!(house.send("GET", path, &[], "").await.status, 401);
    // Cookies are not accepted here.
    let cookie = format!("tidings_session={auth}");
    let answer = house.send("GET", "/reader/api/0/user-info", &[("cookie", &cookie)], "").await;
    assert_eq!(answer.status, 401);
}

#[tokio::test]
async fn a_token_is_its_own_secret_and_keeps_its_scope() {
    let house = house();
    let answer = login(&house, "Email=anna&Passwd=read-token&output=json").await;
    let text = "{\"Auth\":\"read-token\",\"LSID\":\"read-token\",\"SID\":\"read-token\"}";
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, text));
    let with = [("authorization", "GoogleLogin auth=read-token"), ("content-type", FORM)];
    for (path, form, says) in [
        ("edit-tag", "i=1&a=user/-/state/com.google/read", "this token may only read"),
        ("mark-all-as-read", "s=feed/1", "this token may only read"),
        ("subscription/edit", "ac=unsubscribe&s=feed/1", "this token may only read"),
        ("subscription/quickadd", "quickadd=https://x.example/", "this token may only read"),
        ("rename-tag", "s=user/-/label/daily&dest=user/-/label/x", "this token may only read"),
        ("disable-tag", "s=user/-/label/daily", "this token may only read"),
        ("subscription/import", "<opml/>", "this token may only read"),
    ] {
        let answer = house.send("POST", &format!("/reader/api/0/{path}"), &with, form).await;
        assert_eq!(answer.status, 403, "{path}");
        assert!(answer.text.starts_with(says), "{path}: {}", answer.text);
    }
    assert!(house.acts().is_empty());
    assert_eq!(house.state(), (vec![1, 2, 3, 4, 5], vec![]));
}

#[tokio::test]
async fn who_is_not_known_gets_nothing() {
    let house = house();
    for form in [
        "Email=anna&Passwd=wrong",
        "Email=nobody&Passwd=correct+horse",
        "Email=bert&Passwd=admin-token",
        "Email=anna",
        "",
    ] {
        let answer = login(&house, form).await;
        let said = (answer.status.as_u16(), answer.text.as_str());
        assert_eq!(said, (403, "Error=BadAuthentication\n"), "{form}");
    }
    let path = "/accounts/ClientLogin?Email=anna&Passwd=correct+horse";
    let answer = house.send("POST", path, &[("content-type", FORM)], "").await;
    assert_eq!(answer.status, 403, "a password in an address is not taken");
    let get = [
        "token",
        "user-info",
        "preference/list",
        "preference/stream/list",
        "subscription/list",
        "subscription/export",
        "subscribed?s=feed/1",
        "tag/list",
        "unread-count",
        "stream/contents",
        "stream/contents/feed/1",
        "stream/items/ids?s=feed/1",
        "stream/items/count?s=feed/1",
        "stream/items/contents?i=1",
    ];
    for path in get {
        for headers in [&[][..], &[("authorization", "GoogleLogin auth=wrong")]] {
            let answer = house.send("GET", &format!("/reader/api/0/{path}"), headers, "").await;
            assert_eq!(answer.status, 401, "{path}");
            let said = "wrong name, password or token\n";
            assert_eq!(answer.text, said);
        }
    }
    assert_eq!(house.send("GET", "/reader/atom/feed/1", &[], "").await.status, 401);
    for path in ["edit-tag", "mark-all-as-read", "subscription/edit", "subscription/import"] {
        let form = "i=1&s=feed/1&ac=unsubscribe&a=user/-/state/com.google/read&T=wrong";
        let headers = [("content-type", FORM)];
        let answer = house.send("POST", &format!("/reader/api/0/{path}"), &headers, form).await;
        assert_eq!(answer.status, 401, "{path}");
    }
}

#[tokio::test]
async fn who_guesses_must_wait() {
    let house = house();
    for _ in 0..5 {
        assert_eq!(login(&house, "Email=anna&Passwd=wrong").await.status, 403);
    }
    let answer = login(&house, "Email=anna&Passwd=wrong").await;
    assert_eq!(answer.status, 429);
    assert!(answer.header("retry-after").parse::<u64>().unwrap() >= 1);
}

#[tokio::test]
async fn while_there_are_no_accounts_any_name_will_do_but_no_other_site() {
    let house = empty(false);
    let answer = login(&house, "Email=x&Passwd=y").await;
    assert_eq!(answer.text, "SID=open\nLSID=open\nAuth=open\n");
    let with = [("authorization", "GoogleLogin auth=open"), ("content-type", FORM)];
    let answer = house.send("GET", "/reader/api/0/user-info", &with, "").await;
    assert_eq!(json(&answer)["userName"], "local");
    let path = "/reader/api/0/subscription/edit";
    let form = "ac=subscribe&s=feed/https://x.example/";
    let foreign = [("content-type", FORM), ("origin", "https://evil.test"), ("host", "localhost")];
    assert_eq!(house.send("POST", path, &foreign, form).await.status, 403);
    let foreign = [("content-type", FORM), ("sec-fetch-site", "cross-site")];
    assert_eq!(house.send("POST", path, &foreign, form).await.status, 403);
    assert!(house.acts().is_empty());
    assert_eq!(house.send("POST", path, &with, form).await.text, "OK");
    assert_eq!(house.acts().len(), 1);
}

#[tokio::test]
async fn feeds_are_subscriptions_and_tags_their_labels() {
    let house = house();
    let list = json(&get(&house, "subscription/list?output=json").await);
    let one = json!({
        "id": "feed/1",
        "title": "Feed 0 & Co",
        "categories": [
            {"id": "user/-/label/Tech & more", "label": "Tech & more"},
            {"id": "user/-/label/daily", "label": "daily"},
        ],
        "url": list["subscriptions"][0]["url"],
        "htmlUrl": "https://one.example/",
        "iconUrl": "",
        "sortid": "00000001",
        "firstitemmsec": "1700000000000",
    });
    assert_eq!(list["subscriptions"][0], one);
    let shown = list["subscriptions"][0]["url"].as_str().unwrap();
    assert!(!shown.contains("secret") && shown.starts_with("https://feed0.example/rss?token="));
    let second = &list["subscriptions"][1];
    assert_eq!(second["categories"], json!([{"id": "user/-/label/daily", "label": "daily"}]));
    assert_eq!(list["subscriptions"][2]["htmlUrl"], "", "no address that runs something");
    let tags = json(&get(&house, "tag/list?output=json").await);
    assert_eq!(
        tags,
        json!({"tags": [
            {"id": "user/-/state/com.google/starred"},
            {"id": "user/-/label/Tech & more", "type": "folder", "sortid": "80000002"},
            {"id": "user/-/label/daily", "type": "folder", "sortid": "80000003"},
            {"id": "user/-/label/query:red", "type": "tag"},
        ]})
    );
    let prefs = get(&house, "preference/stream/list?output=json").await.text;
    let ordered = |value: &str| json!([{"id": "subscription-ordering", "value": value}]);
    let expect = json!({"streamprefs": {
        "user/-/state/com.google/root": ordered("800000028000000300000003"),
        "user/-/label/Tech & more": ordered("00000001"),
        "user/-/label/daily": ordered("0000000100000002"),
    }});
    assert_eq!(serde_json::from_str::<Value>(&prefs).unwrap(), expect);
    assert_eq!(get(&house, "preference/list").await.text, "{\"prefs\":[]}");
    assert_eq!(get(&house, "subscribed?s=feed/2").await.text, "true");
    assert_eq!(get(&house, "subscribed?s=feed/9").await.text, "false");
}

#[tokio::test]
async fn subscriptions_are_edited_by_the_engine() {
    let house = house();
    let masked = json(&get(&house, "subscription/list").await)["subscriptions"][1]["url"].clone();
    let masked: String =
        url::form_urlencoded::byte_serialize(masked.as_str().unwrap().as_bytes()).collect();
    for (form, expect) in [
        (
            "ac=subscribe&s=feed%2Fhttps%3A%2F%2Fn.example%2F%3Fa%3D1&a=user/-/label/New&T=x",
            json!([{"kind": "add", "urls": ["https://n.example/?a=1"], "tags": ["New"],
                    "poll": true, "force": false}]),
        ),
        (
            "ac=subscribe&s=feed/https://m.example/&t=Mine",
            json!([
                {"kind": "add", "urls": ["https://m.example/"], "tags": [], "poll": true,
                 "force": false},
                {"kind": "title", "feed": "5", "title": "Mine"},
            ]),
        ),
        ("ac=unsubscribe&s=feed/3&i=null", json!([{"kind": "remove", "feed": "3"}])),
        (&format!("ac=unsubscribe&s=feed%2F{masked}"), json!([{"kind": "remove", "feed": "2"}])),
        (
            "ac=edit&s=feed/1&s=feed/2&a=user/-/label/A&r=user/7/label/daily&async=true",
            json!([{"kind": "tag", "feeds": ["1", "2"], "add": ["A"], "remove": ["daily"]}]),
        ),
        ("ac=edit&s=feed/1&t=T", json!([{"kind": "title", "feed": "1", "title": "T"}])),
    ] {
        let answer = post(&house, "subscription/edit", form).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "OK"), "{form}");
        assert_eq!(json!(house.acts()), expect, "{form}");
    }
    for (form, status, says) in [
        ("ac=subscribe", 400, "name a feed"),
        ("ac=subscribe&s=https://x.example/", 400, "a feed is feed/"),
        ("ac=subscribe&s=feed/nothing", 400, "no address"),
        ("ac=unsubscribe&s=feed/99", 404, "the feed does not exist"),
        ("ac=edit&s=feed/1&a=daily", 400, "a label is"),
        ("ac=dance&s=feed/1", 400, "ac must be"),
    ] {
        let answer = post(&house, "subscription/edit", form).await;
        assert_eq!(answer.status, status, "{form}: {}", answer.text);
        assert!(answer.text.starts_with(says), "{form}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_address_is_added_with_the_feed_that_it_names() {
    let house = house();
    let answer = post(&house, "subscription/quickadd", "quickadd=https%3A%2F%2Fn.example%2F").await;
    assert_eq!(
        json(&answer),
        json!({"numResults": 1, "query": "https://n.example/", "streamId": "feed/4",
               "streamName": "https://n.example/"})
    );
    assert_eq!(house.acts()[0]["poll"], true);
    let answer = post(&house, "subscription/quickadd", "quickadd=https://several.example/").await;
    let body = json(&answer);
    assert_eq!(body["numResults"], 0);
    assert!(body["error"].as_str().unwrap().contains("https://b.example/"), "{body}");
    assert_eq!(house.acts().len(), 1, "the engine keeps no page, so nothing is removed");
    let answer = post(&house, "subscription/quickadd", "quickadd=nothing").await;
    assert_eq!(json(&answer), json!({"numResults": 0, "query": "nothing", "error": "no address"}));
}

#[tokio::test]
async fn labels_get_other_names_or_none() {
    let house = house();
    for (path, form, expect) in [
        (
            "rename-tag",
            "s=user/-/label/daily&dest=user/-/label/weekly&T=x",
            json!([{"kind": "rename-tag", "tag": "daily", "to": "weekly"}]),
        ),
        ("disable-tag", "t=weekly", json!([{"kind": "rename-tag", "tag": "weekly", "to": null}])),
    ] {
        assert_eq!(post(&house, path, form).await.text, "OK", "{form}");
        assert_eq!(json!(house.acts()), expect);
    }
    for (path, form) in [
        ("rename-tag", "s=user/-/label/daily"),
        ("rename-tag", "dest=user/-/label/x"),
        ("disable-tag", ""),
        ("disable-tag", "s=user/-/label/query:red"),
    ] {
        assert_eq!(post(&house, path, form).await.status, 400, "{path} {form}");
    }
    assert!(house.acts().is_empty());
}

#[tokio::test]
async fn lists_go_out_and_come_in() {
    let house = house();
    let answer = get(&house, "subscription/export").await;
    assert!(answer.text.contains("text=\"Tech &amp; more\""), "{}", answer.text);
    assert!(!answer.text.contains("secret") && !answer.text.contains("query:red"));
    let list = "<opml version='2.0'><body><outline text='F'><outline text='One' \
                xmlUrl='https://o.example/' htmlUrl='https://o.example/page'/></outline></body>\
                </opml>";
    let path = "/reader/api/0/subscription/import?output=json";
    let headers = [ADMIN, ("content-type", "text/xml")];
    let answer = house.send("POST", path, &headers, list).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "OK: 1"));
    assert_eq!(
        json!(house.acts()),
        json!([{"kind": "import", "feeds": [{"url": "https://o.example/", "title": "One",
                "site": "https://o.example/page", "tags": ["F"]}]}])
    );
    assert_eq!(house.send("POST", path, &headers, "no list").await.status, 400);
    let huge = " ".repeat((8 << 20) + 1);
    assert_eq!(house.send("POST", path, &headers, &huge).await.status, 413);
}
