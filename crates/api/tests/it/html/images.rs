//! The proxy of pictures: what it fetches, for whom, and what it refuses.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::{Images, ServerContext, router, sanitise};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use store::{OpenMode, Store};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tower::ServiceExt;
use url::Url;

use crate::fixture::{T0, live};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nand the rest of it";

/// A server that answers every request with the same bytes and stores the requests.
struct Gallery {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Gallery {
    async fn new(answer: impl Into<Vec<u8>>) -> Gallery {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, answer) = (listener.local_addr().unwrap().port(), answer.into());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heads = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = vec![0; 4096];
                let n = stream.read(&mut head).await.unwrap_or(0);
                heads.lock().unwrap().push(String::from_utf8_lossy(&head[..n]).into_owned());
                // A client that refuses a body closes the connection in the middle of it.
                let _ = stream.write_all(&answer).await;
            }
        });
        Gallery { port, asked }
    }

    /// A response with a picture.
    async fn showing(content_type: &str, body: &[u8]) -> Gallery {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
             Set-Cookie: spy=1\r\nConnection: close\r\n\r\n",
            body.len()
        );
        Gallery::new([head.as_bytes(), body].concat()).await
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/a.png?x=1&y=2", self.port)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

struct Site {
    images: Arc<Images>,
    router: Router,
    store: Store,
    _folder: TempDir,
}

fn site(allow_private: bool) -> Site {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let images = Arc::new(proxy(&store, allow_private));
    let context = ServerContext::new(store.clone(), Arc::new(|| T0), Arc::new(live), "1").unwrap();
    let router = router(ServerContext { images: Some(Arc::clone(&images)), ..context });
    Site { images, router, store, _folder: folder }
}

fn proxy(store: &Store, allow_private: bool) -> Images {
    let settings = fetch::Settings { allow_private, ..fetch::Settings::new("https://e.org/") };
    let fetcher = fetch::Fetcher::new(engine::picture_settings(settings)).unwrap();
    let gaps = engine::Gaps { default: Duration::from_secs(2), by_domain: HashMap::new() };
    let errands = engine::Errands::alone(fetcher, gaps);
    let fetch = move |url| {
        let errands = errands.clone();
        Box::pin(async move { errands.picture(url).await }) as Pin<Box<_>>
    };
    Images::new(store, Arc::new(fetch)).unwrap()
}

impl Site {
    async fn get(&self, path: &str) -> (StatusCode, HeaderMap, Vec<u8>) {
        let request = Request::get(path).header("cookie", "session=s3cret");
        let request = request.header("referer", "http://localhost/feed/7");
        let request = request.body(Body::empty()).unwrap();
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let bytes = to_bytes(body, 1 << 24).await.unwrap();
        (parts.status, parts.headers, bytes.to_vec())
    }

    /// Requests a picture of a page through the proxy.
    async fn picture(&self, url: &str) -> (StatusCode, HeaderMap, Vec<u8>) {
        self.get(&self.images.address(url).unwrap()).await
    }
}

#[tokio::test]
async fn a_picture_passes_and_nothing_of_the_reader_goes_out() {
    let gallery = Gallery::showing("text/html", PNG).await;
    let (status, headers, bytes) = site(true).picture(&gallery.url()).await;
    assert_eq!((status, bytes.as_slice()), (StatusCode::OK, PNG));
    assert_eq!(headers["content-type"], "image/png", "by its bytes, not by what the server says");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert!(headers["cache-control"].to_str().unwrap().contains("max-age=604800"));
    assert!(headers.get("set-cookie").is_none());
    let asked = gallery.asked().concat().to_lowercase();
    assert!(asked.starts_with("get /a.png?x=1&y=2 "), "{asked}");
    assert!(!asked.contains("cookie") && !asked.contains("referer"), "{asked}");
}

#[tokio::test]
async fn a_picture_in_the_own_network_is_refused_and_not_asked_for() {
    let gallery = Gallery::showing("image/png", PNG).await;
    let site = site(false);
    let local = format!("http://localhost:{}/", gallery.port);
    for url in [gallery.url(), local, "http://169.254.169.254/latest/".to_owned()] {
        let (status, _, bytes) = site.picture(&url).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{url}");
        assert!(!bytes.starts_with(PNG));
    }
    assert_eq!(gallery.asked(), [""; 0]);
}

#[tokio::test]
async fn only_addresses_that_we_wrote_are_fetched() {
    let gallery = Gallery::showing("image/png", PNG).await;
    let site = site(true);
    let good = site.images.address(&gallery.url()).unwrap();
    let (query, signature) = good.rsplit_once("&s=").unwrap();
    let turned: String = signature.chars().rev().collect();
    let elsewhere = good.replace("a.png", "b.png");
    let other_key = proxy(&self::site(true).store, true).address(&gallery.url()).unwrap();
    for forged in [
        format!("{query}&s={turned}"),
        format!("{query}&s="),
        format!("{query}&s={}", &signature[..8]),
        format!("{query}&s=%00%ff"),
        elsewhere,
        other_key,
    ] {
        assert_eq!(site.get(&forged).await.0, StatusCode::FORBIDDEN, "{forged}");
    }
    for incomplete in [query, "/image", "/image?s=x", "/image?u=a&u=b&s=x"] {
        assert_eq!(site.get(incomplete).await.0, StatusCode::BAD_REQUEST, "{incomplete}");
    }
    assert_eq!(gallery.asked(), [""; 0]);
    assert_eq!(site.get(&good).await.0, StatusCode::OK);
}

#[tokio::test]
async fn what_is_no_picture_is_not_passed_on_whatever_it_is_called() {
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    for (kind, body) in [
        ("image/png", b"<html><script>alert(1)</script>".as_slice()),
        ("image/svg+xml", svg),
        ("image/png", svg),
        ("image/png", b""),
    ] {
        let gallery = Gallery::showing(kind, body).await;
        let (status, headers, bytes) = site(true).picture(&gallery.url()).await;
        assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind}");
        assert!(!headers["content-type"].to_str().unwrap().starts_with("image/"));
        assert!(!String::from_utf8_lossy(&bytes).contains('<'));
    }
}

#[tokio::test]
async fn a_picture_that_is_too_large_is_cut_off_whether_it_says_so_or_not() {
    let huge = [PNG, &[0; 6_000_000]].concat();
    let silent = [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", huge.as_slice()].concat();
    for gallery in [Gallery::showing("image/png", &huge).await, Gallery::new(silent).await] {
        let (status, headers, bytes) = site(true).picture(&gallery.url()).await;
        assert_eq!(status, StatusCode::BAD_GATEWAY);
        assert!(bytes.len() < 100);
        assert_eq!(headers["cache-control"], "private, max-age=300", "not asked for at once again");
    }
}

#[tokio::test]
async fn redirects_are_followed_and_failures_are_told() {
    let gallery = Gallery::showing("image/png", PNG).await;
    let moved = |to: &str| {
        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes()
    };
    let first = Gallery::new(moved(&gallery.url())).await;
    let site = site(true);
    assert_eq!(site.picture(&first.url()).await.2, PNG);
    let nowhere = Gallery::new(moved("file:///etc/passwd")).await;
    assert_eq!(site.picture(&nowhere.url()).await.0, StatusCode::BAD_GATEWAY);
    let missing = Gallery::new("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(site.picture(&missing.url()).await.0, StatusCode::BAD_GATEWAY);
    let counted: Vec<u64> = site.images.tally().iter().map(|(_, n)| *n).collect();
    assert_eq!(counted, [1, 0, 2]);
}

#[tokio::test]
async fn pages_show_pictures_through_the_proxy_or_not_at_all() {
    let site = site(false);
    let base = Url::parse("https://example.org/blog/").unwrap();
    let dirty = "<p>a<img src='p.png?a=1&amp;b=2' srcset='https://spy.example/2x 2x' alt='foo src='\
                 onerror='x'><img src='mailto:x'><img src='https://t.example/p' width=1 height=1>";
    let shown = on_page(dirty, &base, Some(&site.images));
    let address = site.images.address("https://example.org/blog/p.png?a=1&b=2").unwrap();
    let escaped = address.replace('&', "&amp;");
    let expected = format!(
        "<p>a<img loading=\"lazy\" src=\"{escaped}\" alt=\"foo src=\"><img loading=\"lazy\"></p>"
    );
    assert_eq!(shown, expected);
    let hidden = on_page(dirty, &base, None);
    let expected = "<p>a<img loading=\"lazy\" alt=\"foo src=\"><img loading=\"lazy\"></p>";
    assert_eq!(hidden, expected);
    let secret = site.images.address("https://me:pw@example.org/a.png#x").unwrap();
    assert!(!secret.contains("pw") && !secret.contains("me%3A"), "{secret}");
    assert_eq!(site.images.address("data:image/png;base64,AA=="), None);
}

#[tokio::test]
async fn addresses_outlive_a_restart_and_pictures_can_be_turned_off() {
    let site = site(true);
    let url = "https://example.org/a.png";
    assert_eq!(proxy(&site.store, true).address(url), site.images.address(url));
    let context =
        ServerContext::new(site.store.clone(), Arc::new(|| T0), Arc::new(live), "1").unwrap();
    let address = site.images.address(url).unwrap();
    let answer = crate::get(&router(context), &address, &[]).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

fn on_page(dirty: &str, base: &Url, images: Option<&Images>) -> String {
    let context = sanitise::PageTextContext {
        base: Some(base),
        original: None,
        images,
        prefix: "e1-",
        play: None,
    };
    sanitise::page_text(dirty, &context).html
}
