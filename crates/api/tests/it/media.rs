//! Sound, video and pictures of entries: the player, its policy, positions and galleries.

use std::sync::Arc;

use api::{Images, ServerContext, router};
use axum::body::Body;
use axum::http::Request;
use feed::{Chapter, Enclosure, EntryId, Item, ItemMedia, Thumbnail, Transcript};
use fetch::Fetched;
use serde_json::{Value, json};
use store::AccountId;

use crate::fixture::Fixture;
use crate::reading::{post, text};
use crate::{Answer, asked, get};

const VIDEO: &str = "https://www.youtube.com/watch?v=dQw4w9WgXcQ";

fn file(url: &str, kind: &str) -> Enclosure {
    Enclosure { url: url.to_owned(), mime_type: Some(kind.to_owned()), ..Enclosure::default() }
}

fn item(title: &str, content: &str) -> Item {
    Item {
        id: Some(title.to_owned()),
        title: Some(title.to_owned()),
        link: Some("https://e.org/page".to_owned()),
        content: Some(content.to_owned()),
        ..Item::default()
    }
}

/// Entries: 1 an episode, 2 a video of a channel, 3 a gallery, 4 a text with a frame.
fn shelf() -> Fixture {
    let shelf = Fixture::new(true);
    let sound = Enclosure {
        length: Some(61_000_000),
        duration: Some(3723),
        ..file("https://pod.example/1.mp3", "audio/mpeg")
    };
    let episode = Item {
        enclosures: vec![sound, file("https://pod.example/notes.pdf", "application/pdf")],
        media: ItemMedia {
            duration: Some(3723),
            image: Some("https://pod.example/cover.jpg".to_owned()),
            chapters: vec![Chapter {
                start_ms: 630_000,
                title: "The <b>point</b>".to_owned(),
                ..Chapter::default()
            }],
            chapters_url: Some("https://pod.example/chapters.json".to_owned()),
            transcripts: vec![Transcript {
                url: "https://pod.example/t.vtt".to_owned(),
                mime_type: Some("text/vtt".to_owned()),
                language: Some("en".to_owned()),
            }],
            ..ItemMedia::default()
        },
        ..item("Episode", "<p>Notes</p>")
    };
    let video = Item {
        link: Some(VIDEO.to_owned()),
        media: ItemMedia {
            thumbnails: vec![Thumbnail {
                url: "https://i.example/still.jpg".to_owned(),
                ..Thumbnail::default()
            }],
            ..ItemMedia::default()
        },
        ..item("Video", "")
    };
    let gallery = Item {
        enclosures: ["a-300x200.jpg", "b.jpg", "c.jpg"]
            .map(|name| file(&format!("https://p.example/{name}"), "image/jpeg"))
            .into(),
        ..item("Gallery", "<p>See <img src='https://p.example/a.jpg' alt=A></p>")
    };
    let frame = "<p>Look:</p><iframe src='https://player.vimeo.com/video/76979871'></iframe>";
    let items = vec![episode, video, gallery, item("Frame", frame)];
    shelf.see_items("https://e.org/f", items, 10);
    with_files(shelf)
}

/// Adds a proxy whose files are texts.
fn with_files(shelf: Fixture) -> Fixture {
    let fetch = |url: url::Url| {
        let bytes = match url.path() {
            "/chapters.json" => {
                br#"{"chapters": [{"startTime": 61, "title": "From the file"}]}"#.to_vec()
            }
            "/t.vtt" => b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello there\n".to_vec(),
            _ => b"\x89PNG\r\n\x1a\n".to_vec(),
        };
        let body = Fetched::Body {
            bytes,
            content_type: None,
            validators: feed::Validators::default(),
            partial: false,
        };
        Box::pin(async move { Some(body) }) as std::pin::Pin<Box<_>>
    };
    let images = Images::new(&shelf.store, Arc::new(fetch)).unwrap();
    let context = ServerContext { images: Some(Arc::new(images)), ..shelf.context.clone() };
    Fixture { router: router(context.clone()), context, ..shelf }
}

fn policy(answer: &Answer) -> &str {
    answer.header("content-security-policy")
}

#[tokio::test]
async fn an_episode_is_played_on_a_page_of_its_own() {
    let shelf = shelf();
    let entry = get(&shelf.router, "/entry/1", &[]).await;
    assert!(!policy(&entry).contains("media-src") && !policy(&entry).contains("https:"));
    assert!(!entry.text.contains("<audio"), "nothing plays on the page of the entry");
    for part in ["href=\"/play/1?file=0\"", "1 h 2 min, 61.0 MB", "notes.pdf", "1 min to read"] {
        assert!(entry.text.contains(part), "{part}: {}", entry.text);
    }
    assert!(entry.text.contains("%2Fcover.jpg"), "the cover, through the proxy");
    let play = get(&shelf.router, "/play/1?file=0", &[]).await;
    assert_eq!(play.status, 200);
    assert!(policy(&play).contains("media-src 'self' https:"), "{}", policy(&play));
    assert!(!policy(&play).contains("frame-src"));
    for part in [
        "<audio controls preload=\"none\" src=\"https://pod.example/1.mp3\"",
        "<b>pod.example</b>",
        "data-start=\"630\"",
        "<bdi>The point</bdi>",
        "/play/1/transcript?n=0",
        "10:30",
    ] {
        assert!(play.text.contains(part), "{part}: {}", play.text);
    }
    for path in ["/play/1?file=1", "/play/1?file=9", "/play/1", "/play/99?file=0", "/play/x"] {
        assert_eq!(get(&shelf.router, path, &[]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn chapters_and_transcripts_come_through_us() {
    let shelf = shelf();
    assert!(text(&shelf, "/play/1/chapters").await.contains("<bdi>From the file</bdi>"));
    assert!(text(&shelf, "/play/1/transcript?n=0").await.contains("<bdi>Hello there</bdi>"));
    let captions = get(&shelf.router, "/play/1/captions?n=0", &[]).await;
    assert_eq!(captions.header("content-type"), "text/vtt; charset=utf-8");
    assert!(captions.text.contains("00:00:01.000 --> 00:00:11.000\nHello there"));
    for path in ["/play/1/transcript?n=1", "/play/2/chapters", "/play/9/captions"] {
        assert_eq!(get(&shelf.router, path, &[]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_video_is_a_still_until_somebody_clicks() {
    let shelf = shelf();
    let entry = get(&shelf.router, "/entry/2", &[]).await;
    assert!(!entry.text.contains("<iframe") && !policy(&entry).contains("frame-src"));
    assert!(entry.text.contains("class=\"embed\" href=\"/play/2?own=1\""), "{}", entry.text);
    assert!(entry.text.contains("still.jpg"));
    let play = get(&shelf.router, "/play/2?own=1", &[]).await;
    assert!(policy(&play).ends_with("frame-src https://www.youtube-nocookie.com"));
    assert!(!policy(&play).contains("media-src"));
    for part in [
        "src=\"https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ\"",
        "referrerpolicy=\"strict-origin\"",
        "sandbox=\"allow-scripts allow-same-origin allow-popups\"",
    ] {
        assert!(play.text.contains(part), "{part}: {}", play.text);
    }
    let frame = text(&shelf, "/entry/4").await;
    let link = "href=\"/play/4?text=feed&amp;embed=0\"";
    assert!(frame.contains(link) && frame.contains("Video on Vimeo"), "{frame}");
    let play = get(&shelf.router, "/play/4?text=feed&embed=0", &[]).await;
    assert!(policy(&play).ends_with("frame-src https://player.vimeo.com"), "{}", policy(&play));
    assert!(play.text.contains("76979871?dnt=1"));
    for path in ["/play/4?text=feed&embed=1", "/play/4?text=article&embed=9", "/play/1?own=1"] {
        assert_eq!(get(&shelf.router, path, &[]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_gallery_shows_no_picture_twice() {
    let shelf = shelf();
    let page = text(&shelf, "/entry/3").await;
    let (text_part, gallery) = page.split_once("<ul class=\"gallery\">").unwrap();
    assert!(text_part.contains("%2Fa.jpg"));
    assert!(gallery.contains("b.jpg") && gallery.contains("c.jpg"), "{gallery}");
    assert!(!gallery.contains("a-300x200"), "the text shows it already");
}

async fn api(shelf: &Fixture, method: &str, path: &str, body: Value) -> Answer {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/json");
    asked(&shelf.router, request, &[], Body::from(body.to_string())).await
}

#[tokio::test]
async fn the_position_survives_devices() {
    let shelf = shelf();
    let url = "https://pod.example/1.mp3";
    let path = "/api/v1/entries/1/position";
    let sent = json!({"enclosure": url, "seconds": 90.5, "duration": 3723});
    assert_eq!(api(&shelf, "PUT", path, sent).await.status, 204);
    let kept: Value = serde_json::from_str(&text(&shelf, path).await).unwrap();
    assert_eq!(kept["positions"][0]["seconds"], 90.5);
    assert_eq!(kept["positions"][0]["finished"], false);
    assert!(text(&shelf, "/play/1?file=0").await.contains("data-position=\"90\""));
    assert!(text(&shelf, "/entry/1").await.contains("continue at 1:30"));
    for (body, status) in [
        (json!({"enclosure": "https://other/", "seconds": 1}), 400),
        (json!({"enclosure": url, "seconds": -1}), 400),
        (json!({"enclosure": url}), 400),
    ] {
        assert_eq!(api(&shelf, "PUT", path, body.clone()).await.status, status, "{body}");
    }
    let missing = json!({"enclosure": url, "seconds": 1});
    assert_eq!(api(&shelf, "PUT", "/api/v1/entries/9/position", missing).await.status, 404);
    // The page of the player keeps it by a form.
    let fields = [("enclosure", url), ("seconds", "3700"), ("duration", "3723")];
    assert_eq!(post(&shelf, "/play/1/position", &fields).await.status, 204);
    assert!(text(&shelf, "/entry/1").await.contains("finished"));
    assert!(text(&shelf, "/play/1?file=0").await.contains("data-position=\"0\""));
    for seconds in ["x", "-1", "NaN", "inf", ""] {
        let fields = [("enclosure", url), ("seconds", seconds)];
        assert_eq!(post(&shelf, "/play/1/position", &fields).await.status, 422, "{seconds}");
    }
    // The player of a stream knows no end.
    let fields = [("enclosure", url), ("seconds", "120"), ("duration", "Infinity")];
    assert_eq!(post(&shelf, "/play/1/position", &fields).await.status, 204);
    assert!(text(&shelf, "/entry/1").await.contains("continue at 2:00"));
}

#[tokio::test]
async fn a_position_belongs_to_a_file_of_an_entry_that_the_person_sees() {
    let shelf = shelf();
    for (path, enclosure) in [
        ("/play/1/position", "https://elsewhere.example/1.mp3"),
        ("/play/4/position", "https://pod.example/1.mp3"),
        ("/play/99/position", "https://pod.example/1.mp3"),
    ] {
        let fields = [("enclosure", enclosure), ("seconds", "1")];
        assert_eq!(post(&shelf, path, &fields).await.status, 404, "{path} {enclosure}");
    }
    for entry in [1, 4] {
        let kept = shelf.store.playback_positions(AccountId::LOCAL, EntryId(entry)).unwrap();
        assert_eq!(kept, [], "nothing of it is stored");
    }
}

#[tokio::test]
async fn miniflux_apps_see_and_set_the_position() {
    let shelf = shelf();
    let entry: Value = serde_json::from_str(&text(&shelf, "/v1/entries/1").await).unwrap();
    let sound = &entry["enclosures"][0];
    assert_eq!((&sound["id"], &sound["media_progression"]), (&json!(1000), &json!(0)));
    let sent = json!({"media_progression": 75});
    assert_eq!(api(&shelf, "PUT", "/v1/enclosures/1000", sent.clone()).await.status, 204);
    let one: Value = serde_json::from_str(&text(&shelf, "/v1/enclosures/1000").await).unwrap();
    assert_eq!(one["media_progression"], 75);
    assert_eq!(one["url"], "https://pod.example/1.mp3");
    let entry: Value = serde_json::from_str(&text(&shelf, "/v1/entries/1").await).unwrap();
    assert_eq!(entry["enclosures"][0]["media_progression"], 75);
    assert_eq!(api(&shelf, "PUT", "/v1/enclosures/1007", sent).await.status, 404);
    let bad = json!({"media_progression": -5});
    assert_eq!(api(&shelf, "PUT", "/v1/enclosures/1000", bad).await.status, 400);
}

#[tokio::test]
async fn recordings_come_through_us_if_the_operator_says_so() {
    let shelf = shelf();
    let fetch = |url: url::Url, wanted: std::ops::Range<u64>| {
        assert_eq!(url.as_str(), "https://pod.example/1.mp3");
        let bytes = if wanted.start == 0 { b"ID3 sound".to_vec() } else { b"more".to_vec() };
        let part = fetch::FilePart {
            bytes,
            content_type: Some("audio/mpeg".to_owned()),
            from: wanted.start,
            total: Some(61_000_000),
        };
        Box::pin(async move { Some(fetch::PartOutcome::Part(part)) }) as std::pin::Pin<Box<_>>
    };
    let images = shelf.context.images.clone().unwrap();
    let media = Some(Arc::new(api::MediaProxy::new(images, Arc::new(fetch))));
    let routes = router(ServerContext { media, ..shelf.context.clone() });
    let play = get(&routes, "/play/1?file=0", &[]).await;
    assert!(policy(&play).ends_with("media-src 'self'"), "{}", policy(&play));
    assert!(play.text.contains("does not see who plays it"), "{}", play.text);
    let (_, rest) = play.text.split_once("<audio controls preload=\"none\" src=\"").unwrap();
    let address = rest.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
    let part = get(&routes, &address, &[("range", "bytes=5-")]).await;
    assert_eq!((part.status.as_u16(), part.text.as_str()), (206, "more"));
    assert_eq!(part.header("content-range"), "bytes 5-8/61000000");
    assert_eq!(get(&routes, &address, &[]).await.status, 416, "a player asks for a range");
    let forged = address.replace("1.mp3", "2.mp3");
    assert_eq!(get(&routes, &forged, &[("range", "bytes=0-")]).await.status, 403);
    let as_picture = address.replace("/media?", "/image?");
    assert_eq!(get(&routes, &as_picture, &[]).await.status, 403, "a signature is for one path");
    assert_eq!(get(&shelf.router, &address, &[("range", "bytes=0-")]).await.status, 404);
}
