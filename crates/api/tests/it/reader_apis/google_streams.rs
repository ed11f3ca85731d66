//! Google Reader: entries, read and starred marks, and streams as Atom.

use serde_json::{Value, json};

use super::google::{ADMIN, get, post};
use super::{AppFixture, FORM, house, json};

const ALL: &str = "user/-/state/com.google/reading-list";
const READ: &str = "user/-/state/com.google/read";
const STARRED: &str = "user/-/state/com.google/starred";

fn long(number: i64) -> String {
    format!("tag:google.com,2005:reader/item/{number:016x}")
}

/// Returns the numbers of the entries in an answer.
fn numbers(body: &Value) -> Vec<i64> {
    let number = |item: &Value| {
        let id = item["id"].as_str().unwrap();
        let id = id.strip_prefix("tag:google.com,2005:reader/item/").unwrap();
        i64::from_str_radix(id, 16).unwrap()
    };
    body["items"].as_array().unwrap().iter().map(number).collect()
}

async fn ids(house: &AppFixture, query: &str) -> Vec<i64> {
    let body = json(&get(house, &format!("stream/items/ids?{query}")).await);
    let refs = body["itemRefs"].as_array().unwrap();
    refs.iter().map(|one| one["id"].as_str().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn an_entry_is_told_with_all_that_apps_read() {
    let house = house();
    let me = house.anna;
    house.store.star(me, &[feed::EntryId(2)], true, crate::fixture::T0).unwrap();
    house.store.mark_read(me, &[feed::EntryId(2)], true).unwrap();
    let body = json(&get(&house, "stream/contents/feed%2F1?output=json&n=1").await);
    let expect = json!({
        "direction": "ltr",
        "id": "feed/1",
        "title": "Feed 0 & Co",
        "updated": 1_700_003_600,
        "continuation": "1699996560000-2",
        "items": [{
            "id": long(2),
            "crawlTimeMsec": "1700000100000",
            "timestampUsec": "1700000100000000",
            "published": 1_699_996_560,
            "updated": 1_699_996_560,
            "title": "red second &",
            "author": "A. B",
            "summary": {
                "content": "<p>red second <a href=\"https://e.example/y\" \
                            rel=\"noopener noreferrer nofollow\">y</a></p>",
                "direction": "ltr",
            },
            "categories": [
                ALL, READ, STARRED,
                "user/-/label/Tech & more", "user/-/label/daily", "user/-/label/query:red",
            ],
            "origin": {
                "streamId": "feed/1",
                "title": "Feed 0 & Co",
                "htmlUrl": "https://one.example/",
            },
            "canonical": [{"href": "https://e.example/100/1"}],
            "alternate": [{"href": "https://e.example/100/1", "type": "text/html"}],
            "enclosure": [{"href": "https://e.example/a.mp3", "type": "audio/mpeg", "length": 5}],
        }],
    });
    assert_eq!(body, expect);
    // newsboat takes the first value of a summary as the text.
    let text = get(&house, "stream/contents/feed%2F1?n=1").await.text;
    assert!(text.contains("\"summary\":{\"content\":"), "{text}");
    let rest = json(&get(&house, "stream/contents/feed/1?n=1&c=1699996560000-2").await);
    assert_eq!(numbers(&rest), [1]);
    let rest = json(&get(&house, "stream/contents/feed/1?n=5&c=1699996560000-2").await);
    assert_eq!((numbers(&rest), rest.get("continuation")), (vec![1], None));
}

#[tokio::test]
async fn every_stream_and_every_filter_finds_its_entries() {
    let house = house();
    let me = house.anna;
    house.store.mark_read(me, &[feed::EntryId(1), feed::EntryId(3)], true).unwrap();
    house.store.star(me, &[feed::EntryId(3), feed::EntryId(5)], true, crate::fixture::T0).unwrap();
    let url = "https%3A%2F%2Ffeed1.example%2Frss%3Ftoken%3Dsecret%26x%3D1";
    for (query, expect) in [
        ("", vec![5, 4, 3, 2, 1]),
        ("s=user/-/state/com.google/reading-list", vec![5, 4, 3, 2, 1]),
        ("s=user/1234/state/com.google/reading-list&r=o", vec![1, 2, 3, 4, 5]),
        ("s=feed/2", vec![4, 3]),
        (&format!("s=feed/{url}"), vec![4, 3]),
        ("s=user/-/label/daily", vec![4, 3, 2, 1]),
        ("s=user/-/label/Tech%20%26%20more", vec![2, 1]),
        ("s=user/-/label/none", vec![]),
        ("s=user/-/label/query:red", vec![4, 2]),
        ("s=user/-/state/com.google/starred", vec![5, 3]),
        ("s=user/-/state/com.google/read", vec![3, 1]),
        ("s=user/-/state/com.google/kept-unread", vec![5, 4, 2]),
        ("s=user/-/state/com.google/broadcast", vec![]),
        (&format!("s={ALL}&xt={READ}"), vec![5, 4, 2]),
        (&format!("s={ALL}&it={READ}"), vec![3, 1]),
        (&format!("s={ALL}&xt={READ}&it={STARRED}"), vec![5]),
        (&format!("s=user/-/label/query:red&xt={STARRED}&r=o"), vec![2, 4]),
        ("n=2", vec![5, 4]),
        ("n=0", vec![5]),
        // By the time they were seen, ten minutes early; not by publication time.
        ("ot=1700001600", vec![5, 4, 3]),
        ("ot=1700001601", vec![5]),
        ("ot=1700002700", vec![]),
        ("nt=1700001000", vec![2, 1]),
        ("nt=1700001001", vec![4, 3, 2, 1]),
        ("n=99999999999", vec![5, 4, 3, 2, 1]),
    ] {
        assert_eq!(ids(&house, query).await, expect, "{query}");
        let contents = json(&get(&house, &format!("stream/contents?{query}")).await);
        assert_eq!(numbers(&contents), expect, "{query}");
    }
    for (query, status) in [
        ("s=feed/99", 404),
        ("s=user/-/label/query:none", 404),
        ("s=nonsense", 400),
        ("n=many", 400),
        ("n=-1", 400),
        ("c=x", 400),
        ("ot=x", 400),
        ("xt=feed/1", 400),
    ] {
        for path in ["stream/items/ids", "stream/contents", "stream/items/count"] {
            let answer = get(&house, &format!("{path}?{query}")).await;
            assert_eq!(answer.status, status, "{path}?{query}: {}", answer.text);
        }
    }
    assert_eq!(get(&house, "stream/items/count?s=feed/1").await.text, "2");
    let counted = get(&house, "stream/items/count?s=feed/1&a=true").await;
    assert_eq!(counted.text, "2#November 14, 2023");
}

#[tokio::test]
async fn pages_follow_each_other_without_gap_and_without_repeat() {
    let house = house();
    for order in ["", "&r=o"] {
        let (mut found, mut from) = (Vec::new(), String::new());
        loop {
            let query = format!("stream/items/ids?n=2{order}{from}");
            let body = json(&get(&house, &query).await);
            let refs = body["itemRefs"].as_array().unwrap();
            found.extend(refs.iter().map(|one| one["id"].as_str().unwrap().to_owned()));
            let Some(next) = body["continuation"].as_str() else { break };
            from = format!("&c={next}");
        }
        let expect = ["1", "2", "3", "4", "5"];
        let backwards: Vec<&str> = expect.iter().copied().rev().collect();
        assert_eq!(found, if order.is_empty() { backwards } else { expect.to_vec() });
    }
}

#[tokio::test]
async fn entries_are_found_by_every_form_of_their_number_also_without_a_header() {
    let house = house();
    let form = format!("i=1&i=0000000000000004&i={}&i=999&output=json", long(2));
    let expect = vec![1, 4, 2];
    let found = json(&post(&house, "stream/items/contents", &form).await);
    assert_eq!(numbers(&found), expect, "in the order asked; what is not kept is left out");
    let found = json(&get(&house, &format!("stream/items/contents?{form}")).await);
    assert_eq!(numbers(&found), expect);
    // Liferea sends its secret only in the body.
    let path = "/reader/api/0/stream/items/contents";
    let headers = [("content-type", FORM)];
    let body = format!("{form}&T=admin-token");
    assert_eq!(numbers(&json(&house.send("POST", path, &headers, &body).await)), expect);
    let wrong = format!("{form}&T=wrong");
    assert_eq!(house.send("POST", path, &headers, &wrong).await.status, 401);
    let in_address = format!("{path}?T=admin-token");
    assert_eq!(house.send("POST", &in_address, &headers, &form).await.status, 401);
    assert_eq!(post(&house, "stream/items/contents", "").await.status, 400);
    assert_eq!(post(&house, "stream/items/contents", "i=x").await.status, 400);
    let many = "i=1&".repeat(1001);
    assert_eq!(post(&house, "stream/items/contents", &many).await.status, 400);
    let huge = "i=1&".repeat(600_000);
    assert_eq!(post(&house, "stream/items/contents", &huge).await.status, 413);
}

#[tokio::test]
async fn entries_are_marked_and_starred_for_one_person() {
    let house = house();
    let state = |name: &str| format!("user/-/state/com.google/{name}");
    let (read, kept) = (state("read"), state("kept-unread"));
    let tracking = state("tracking-kept-unread");
    for (form, unread, starred) in [
        // The requests of newsboat.
        (format!("i={}&a={read}&r={kept}&ac=edit&T=x", long(1)), vec![2, 3, 4, 5], vec![]),
        (format!("i={}&r={read}&a={kept}&a={tracking}&T=x", long(1)), vec![1, 2, 3, 4, 5], vec![]),
        (format!("i=2&a={STARRED}&ac=edit&T=x"), vec![1, 2, 3, 4, 5], vec![2]),
        // The requests of Liferea, with many entries at once.
        (format!("i=3&i=4&s=feed%2F2&a={read}&ac=edit-tags&async=true"), vec![1, 2, 5], vec![2]),
        (format!("i=2&i=5&r={STARRED}&a={read}"), vec![1], vec![]),
        (format!("i=999&a={read}&a={STARRED}"), vec![1], vec![]),
    ] {
        let answer = post(&house, "edit-tag?client=liferea", &form).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "OK"), "{form}");
        assert_eq!(house.state(), (unread, starred), "{form}");
    }
    for form in [
        format!("a={read}"),
        format!("i=x&a={read}"),
        "i=1&a=user/-/label/query:red".to_owned(),
        "i=1&a=user/-/state/com.google/broadcast".to_owned(),
    ] {
        assert_eq!(post(&house, "edit-tag", &form).await.status, 400, "{form}");
    }
    assert_eq!(house.state().0, [1]);
    let bert = house.store.account("bert").unwrap().unwrap().id;
    assert_eq!(house.store.read_marks(bert).unwrap().n_unread(), 5);
}

#[tokio::test]
async fn a_stream_is_read_up_to_what_was_shown() {
    let check = async |form: &str, unread: &[i64]| {
        let house = house();
        let answer = post(&house, "mark-all-as-read", form).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "OK"), "{form}");
        assert_eq!(house.state().0, unread, "{form}");
    };
    check("s=feed/1&T=x", &[3, 4, 5]).await;
    check("s=user/-/label/daily", &[5]).await;
    check("s=user/-/label/query:red", &[1, 3, 5]).await;
    check(&format!("s={ALL}"), &[]).await;
    check(&format!("s={ALL}&ts=1700001000000000"), &[5]).await;
    check(&format!("s={ALL}&ts=1700000999999999"), &[3, 4, 5]).await;
    check(&format!("s={ALL}&ts=0"), &[1, 2, 3, 4, 5]).await;
    check("s=feed/1&ts=1", &[1, 2, 3, 4, 5]).await;
    let house = house();
    for (form, status) in [("", 400), ("s=feed/99", 404), ("s=feed/1&ts=x", 400)] {
        assert_eq!(post(&house, "mark-all-as-read", form).await.status, status, "{form}");
    }
}

#[tokio::test]
async fn unread_entries_are_counted() {
    let house = house();
    house.store.mark_read(house.anna, &[feed::EntryId(1), feed::EntryId(5)], true).unwrap();
    let body = json(&get(&house, "unread-count?output=json&all=true&client=liferea").await);
    let expect = json!({"max": 3, "unreadcounts": [
        {"id": "feed/1", "count": 1, "newestItemTimestampUsec": "1700000100000000"},
        {"id": "feed/2", "count": 2, "newestItemTimestampUsec": "1700001000000000"},
        {"id": "user/-/label/Tech & more", "count": 1,
         "newestItemTimestampUsec": "1700000100000000"},
        {"id": "user/-/label/daily", "count": 3, "newestItemTimestampUsec": "1700001000000000"},
        {"id": ALL, "count": 3, "newestItemTimestampUsec": "1700001000000000"},
    ]});
    assert_eq!(body, expect);
}

#[tokio::test]
async fn atom_tells_the_same_with_categories() {
    let house = house();
    house.store.mark_read(house.anna, &[feed::EntryId(2)], true).unwrap();
    let answer = house.send("GET", "/reader/atom/feed%2F1?n=20", &[ADMIN], "").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "application/atom+xml; charset=utf-8");
    let limits = parse::Limits::default();
    let doc = parse::document(answer.text.as_bytes(), None, None, &limits).unwrap();
    assert_eq!((doc.format, doc.warnings.len()), (parse::Format::Atom10, 0), "{}", answer.text);
    let ids: Vec<_> = doc.items.iter().map(|item| item.id.clone().unwrap()).collect();
    assert_eq!(ids, [long(2), long(1)]);
    let entries: Vec<&str> = answer.text.split("<entry>").skip(1).collect();
    let category = |name: &str| {
        format!(
            "<category term=\"user/-/state/com.google/{name}\" \
             scheme=\"http://www.google.com/reader/\" label=\"{name}\"/>"
        )
    };
    assert!(entries[0].contains(&category("read")) && !entries[0].contains(&category("fresh")));
    assert!(entries[1].contains(&category("fresh")) && !entries[1].contains(&category("read")));
    assert!(entries[0].contains("<title type=\"text\">red second &amp;</title>"));
    assert!(!answer.text.contains("<script") && !answer.text.contains("secret"));
    let answer = house.send("GET", "/reader/atom/user/-/label/daily?n=1&r=o", &[ADMIN], "").await;
    assert!(answer.text.contains(&long(1)), "{}", answer.text);
    assert!(answer.text.contains("<link rel=\"next\" href=\"?c=1699996500000-1\"/>"));
    let missing = house.send("GET", "/reader/atom/feed/99", &[ADMIN], "").await;
    assert_eq!(missing.status, 404);
}

#[tokio::test]
async fn labels_of_entries_belong_to_the_person() {
    let house = house();
    let label = "user/-/label/to%20read";
    let answer = post(&house, "edit-tag", &format!("i=1&i=4&a={label}&T=x")).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "OK"));
    let found = json(&get(&house, &format!("stream/items/ids?s={label}&n=9")).await);
    let ids: Vec<&str> =
        found["itemRefs"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids, ["4", "1"]);
    let found = json(&get(&house, &format!("stream/contents/{label}")).await);
    assert_eq!(found["title"], "to read");
    let categories = found["items"][0]["categories"].as_array().unwrap();
    assert!(categories.contains(&"user/-/label/to read".into()), "{categories:?}");
    let tags = json(&get(&house, "tag/list?output=json").await);
    let entry = serde_json::json!({"id": "user/-/label/to read", "type": "tag"});
    assert!(tags["tags"].as_array().unwrap().contains(&entry), "{tags}");
    // A folder of feeds with the same name stays a folder.
    post(&house, "edit-tag", "i=5&a=user/-/label/daily").await;
    let found = json(&get(&house, "stream/items/ids?s=user/-/label/daily&n=9").await);
    assert_eq!(found["itemRefs"].as_array().unwrap().len(), 4);
    // Reading everything with the label leaves the rest alone.
    let answer = post(&house, "mark-all-as-read", &format!("s={label}")).await;
    assert_eq!(answer.status.as_u16(), 200);
    assert_eq!(house.store.read_marks(house.anna).unwrap().n_unread(), 3);
    let renamed = format!("s={label}&dest=user/-/label/later");
    assert_eq!(post(&house, "rename-tag", &renamed).await.text, "OK");
    post(&house, "edit-tag", "i=4&r=user/-/label/later").await;
    let labels = house.store.labels(house.anna).unwrap();
    let names: Vec<(&str, u64)> =
        labels.iter().map(|row| (row.name.as_str(), row.n_entries)).collect();
    assert_eq!(names, [("daily", 1), ("later", 1)]);
    assert_eq!(post(&house, "disable-tag", "s=user/-/label/later").await.text, "OK");
    assert_eq!(house.store.labels(house.anna).unwrap().len(), 1);
    for odd in ["user/-/label/query:red", "user/-/label/%20"] {
        let answer = post(&house, "edit-tag", &format!("i=1&a={odd}")).await;
        assert_eq!(answer.status.as_u16(), 400, "{odd}");
    }
}
