//! miniflux: entries, read and starred marks.

use serde_json::json;

use super::miniflux::{TOKEN, get, ids, says, send};
use super::{house, json};

#[tokio::test]
async fn an_entry_is_told_with_all_that_clients_read() {
    let house = house();
    house.store.star(house.anna, &[feed::EntryId(2)], true, crate::fixture::T0).unwrap();
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
            "id": 2000, "user_id": 1, "entry_id": 2, "url": "https://e.example/a.mp3",
            "mime_type": "audio/mpeg", "size": 5, "media_progression": 0,
        }],
        "feed": null,
    });
    assert_eq!(entry, expect);
    for path in ["feeds/1/entries/2", "categories/2/entries/2"] {
        assert_eq!(json(&get(&house, path).await)["id"], 2, "{path}");
    }
    for path in ["entries/99", "entries/x", "feeds/2/entries/2", "categories/3/entries/2"] {
        says(&get(&house, path).await, 404, "the entry does not exist");
    }
}

#[tokio::test]
async fn every_filter_finds_its_entries() {
    let house = house();
    house.store.mark_read(house.anna, &[feed::EntryId(1), feed::EntryId(3)], true).unwrap();
    let stars = [feed::EntryId(3), feed::EntryId(5)];
    house.store.star(house.anna, &stars, true, crate::fixture::T0).unwrap();
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
    // The engine fills the index. A search without words works without it.
    for (query, expect) in [
        ("search=FEED+TAGGED+daily", vec![1, 2, 3, 4]),
        ("search=FEED+TAGGED+daily&direction=desc&status=unread", vec![4, 2]),
        ("search=FEED+TAGGED+daily&limit=1&offset=1", vec![2]),
        ("search=FEED+TAGGED+daily&feed_id=2", vec![3, 4]),
    ] {
        assert_eq!(ids(&house, &format!("entries?{query}")).await, expect, "{query}");
    }
    let newsboat = "feeds/2/entries?order=published_at&direction=desc";
    assert_eq!(ids(&house, newsboat).await, [4, 3]);
    says(&get(&house, "feeds/99/entries").await, 404, "the feed does not exist");
    for query in [
        "limit=x",
        "limit=-1",
        "offset=-1",
        "status=x",
        "starred=x",
        "order=title",
        "search=a+AND",
        "direction=up",
        "after=x",
        "feed_id=x",
    ] {
        assert_eq!(get(&house, &format!("entries?{query}")).await.status, 400, "{query}");
    }
    says(&get(&house, "entries?category_id=99").await, 404, "the category does not exist");
}

#[tokio::test]
async fn entries_are_marked_and_starred_for_one_person() {
    let house = house();
    for (body, unread, starred) in [
        (json!({"status": "read", "entry_ids": [1, 2, 999]}), vec![3, 4, 5], vec![]),
        (json!({"status": "unread", "entry_ids": [2]}), vec![2, 3, 4, 5], vec![]),
        (json!({"starred": true, "entry_ids": [4, 999]}), vec![2, 3, 4, 5], vec![4]),
    ] {
        // newsboat sends JSON with the media type of a form.
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
    says(
        &send(&house, "PUT", "entries/99/bookmark", json!(null)).await,
        404,
        "the entry does not exist",
    );
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
    says(&house.send("PUT", "/v1/entries", &[TOKEN], &huge).await, 413, "too large");
    assert_eq!(send(&house, "PUT", "users/1/mark-all-as-read", json!(null)).await.status, 204);
    assert_eq!(house.state().0, Vec::<i64>::new());
    says(&send(&house, "PUT", "users/2/mark-all-as-read", json!(null)).await, 404, "user");
}
