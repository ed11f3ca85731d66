//! Limits for clients without an account: bytes that are read, checks that run, and memory.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use api::PeerAddress;
use api::auth::Proxies;
use api::{ServerContext, router};
use axum::body::{Body, Bytes};
use axum::http::{Request, StatusCode, header};
use feed::FeedUrl;
use futures_util::{StreamExt, future, stream};
use store::{NewFeed, TokenScope};

use crate::auth::{Answered, House, T0, house};
use crate::fixture::live;

const FORM: &str = "application/x-www-form-urlencoded";
/// The bytes that are read of a stranger's body, and the size of the last piece.
const BYTES_MAX: usize = 16 << 10;
const PIECE: usize = 4 << 10;

/// Returns every path of the router, as the sources name them.
fn paths() -> BTreeSet<String> {
    let sources = [
        ("", include_str!("../../../src/routes.rs")),
        ("", include_str!("../../../src/page.rs")),
        ("/reader/api/0", include_str!("../../../src/reader_apis/google.rs")),
        ("", include_str!("../../../src/reader_apis/google.rs")),
        ("/api/greader.php", include_str!("../../../src/reader_apis/google.rs")),
        ("/v1", include_str!("../../../src/reader_apis/miniflux.rs")),
        ("", include_str!("../../../src/reader_apis/fever.rs")),
        ("", include_str!("../../../src/v1.rs")),
    ];
    let named = sources.iter().flat_map(|(start, text)| {
        let routes = text.split(".route(\"").skip(1);
        let paths = routes.map(|rest| rest.split('\u{22}').next().unwrap());
        paths.map(move |path| format!("{start}{path}"))
    });
    let described = api::api_routes().into_iter().map(|(_, path, _)| format!("/api/v1{path}"));
    let filled = |path: String| {
        let parts = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
        parts.collect::<Vec<_>>().join("/")
    };
    named.chain(described).map(filled).collect()
}

#[tokio::test]
async fn no_route_reads_more_of_a_strangers_body_than_a_login_needs() {
    let house = house(None);
    let paths = paths();
    assert!(paths.len() > 100, "{} routes were found", paths.len());
    for path in ["/login", "/websub/hub", "/websub/callback/1", "/fever/", "/v1/feeds", "/import"] {
        assert!(paths.contains(path), "{path} is not among them");
    }
    for path in &paths {
        for (method, kind) in [
            ("POST", FORM),
            ("POST", "multipart/form-data; boundary=x"),
            ("POST", "application/json"),
            ("PUT", "text/x-opml"),
            ("GET", FORM),
            ("DELETE", ""),
        ] {
            let taken = Arc::new(AtomicUsize::new(0));
            let counts = Arc::clone(&taken);
            let pieces = stream::repeat_with(move || {
                counts.fetch_add(PIECE, Ordering::Relaxed);
                Ok::<_, std::io::Error>(Bytes::from("a&".repeat(PIECE / 2)))
            });
            let body = Body::from_stream(pieces.take((64 << 20) / PIECE));
            let request = Request::builder().method(method).uri(path);
            let request = request.header(header::CONTENT_TYPE, kind).body(body).unwrap();
            let answered = house.ask(request).await;
            let read = taken.load(Ordering::Relaxed);
            // Liferea sends its secret in the body, together with up to a thousand entries.
            let most = if path.contains("/reader/") { 64 << 10 } else { BYTES_MAX };
            assert!(read <= most + PIECE, "{method} {path} ({kind}) read {read} bytes");
            let reads = matches!(answered.status.as_u16(), 200 | 304) && method == "GET";
            let refused = answered.status.is_client_error() || answered.status.is_redirection();
            assert!(reads || refused, "{method} {path} ({kind}): {}", answered.status);
        }
    }
}

#[tokio::test]
async fn a_form_of_many_fields_is_refused_before_it_is_taken_apart() {
    let house = house(None);
    let many = "a&".repeat((BYTES_MAX - 2) / 2);
    for path in ["/login", "/accounts/ClientLogin", "/fever/?api", "/reader/api/0/edit-tag"] {
        let answered = house.post(path, &many, &[]).await;
        assert_eq!(answered.status, StatusCode::PAYLOAD_TOO_LARGE, "{path}");
        let long = format!("{path}{}{many}", if path.contains('?') { '&' } else { '?' });
        let answered = house.post(&long, "", &[]).await;
        assert!(answered.status.is_client_error(), "{path}: {}", answered.status);
    }
}

impl House {
    /// Logs in from an address, as the server would pass it on.
    async fn login_from(&self, address: &str, name: &str, password: &str) -> Answered {
        let body = format!("name={name}&password={password}");
        let mut request = Request::post("/login").header(header::CONTENT_TYPE, FORM);
        let address = match address.split_once(" for ") {
            Some((proxy, client)) => {
                request = request.header("x-forwarded-for", client);
                proxy
            }
            None => address,
        };
        let peer = PeerAddress(address.parse::<IpAddr>().unwrap());
        self.ask(request.extension(peer).body(Body::from(body)).unwrap()).await
    }
}

#[tokio::test]
async fn who_guesses_locks_nobody_out_elsewhere() {
    let house = house(None);
    for _ in 0..5 {
        let answered = house.login_from("2001:db8:1:2::1", "anna", "wrong").await;
        assert_eq!(answered.status, StatusCode::UNAUTHORIZED);
    }
    // All addresses of a customer's network count as one client.
    let answered = house.login_from("2001:db8:1:2:ffff::9", "anna", "correct+horse").await;
    assert_eq!(answered.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answered.headers[header::RETRY_AFTER], "1");
    for elsewhere in ["203.0.113.7", "2001:db8:1:3::1"] {
        let answered = house.login_from(elsewhere, "anna", "correct+horse").await;
        assert_eq!(answered.status, StatusCode::SEE_OTHER, "{elsewhere}");
    }
}

#[tokio::test]
async fn behind_a_proxy_guesses_are_counted_by_the_clients_address() {
    let mut house = house(None);
    let trusted = Proxies::read(&["127.0.0.1".to_owned()]).unwrap();
    let context =
        ServerContext::new(house.store.clone(), Arc::new(|| T0), Arc::new(live), "1").unwrap();
    house.router = router(ServerContext { proxies: Arc::new(trusted), ..context });
    for n in 0..5 {
        // The client's own claims come before the address that the proxy adds.
        let from = format!("127.0.0.1 for 192.0.2.{n}, 203.0.113.7");
        assert_eq!(house.login_from(&from, "anna", "wrong").await.status, 401);
    }
    let guesser = house.login_from("127.0.0.1 for 203.0.113.7", "anna", "wrong").await;
    assert_eq!(guesser.status, StatusCode::TOO_MANY_REQUESTS);
    let owner = house.login_from("127.0.0.1 for 198.51.100.1", "anna", "correct+horse").await;
    assert_eq!(owner.status, StatusCode::SEE_OTHER);
    // Only one of our proxies can name the address of a client.
    for n in 0..5 {
        let from = format!("198.51.100.9 for 192.0.2.{n}");
        assert_eq!(house.login_from(&from, "anna", "wrong").await.status, 401);
    }
    let guesser = house.login_from("198.51.100.9 for 192.0.2.9", "anna", "wrong").await;
    assert_eq!(guesser.status, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn what_is_too_long_to_be_a_name_or_a_password_is_not_counted() {
    let house = house(None);
    let long = "%C3%A4".repeat(1024);
    for (name, password) in [(long.as_str(), "wrong"), ("anna", long.as_str())] {
        for _ in 0..8 {
            let answered = house.login_from("203.0.113.7", name, password).await;
            assert_eq!(answered.status, StatusCode::UNAUTHORIZED);
        }
    }
    let answered = house.login_from("203.0.113.7", "anna", "correct+horse").await;
    assert_eq!(answered.status, StatusCode::SEE_OTHER, "nothing was counted");
}

#[tokio::test]
async fn hundreds_of_guesses_at_once_are_sent_away_and_delay_no_login() {
    let house = house(None);
    house.token(TokenScope::Read, "looks");
    let names: Vec<String> = (0..300).map(|n| format!("name{n}")).collect();
    let guesses = names.iter().map(|name| house.login_from("203.0.113.7", name, "wrong"));
    let owner = house.login_from("198.51.100.1", "anna", "correct+horse");
    let app = [("authorization", "Bearer looks")];
    let token = house.get("/api/v1/feeds", &app);
    let (guesses, owner, token) = future::join3(future::join_all(guesses), owner, token).await;
    assert_eq!(owner.status, StatusCode::SEE_OTHER);
    assert_eq!(token.status, StatusCode::OK);
    let busy: Vec<_> = guesses.iter().filter(|answered| answered.status == 503).collect();
    assert!(busy.len() > 30, "{} of 300 were sent away", busy.len());
    assert!(busy.iter().all(|answered| answered.headers[header::RETRY_AFTER] == "2"));
    let others = guesses.len() - busy.len();
    let checked = guesses.iter().filter(|answered| answered.status == 401).count();
    assert_eq!(checked, others, "every other guess was checked");
}

#[tokio::test]
async fn no_address_carries_what_proves_who_asks() {
    let house = house(None);
    house.token(TokenScope::Admin, "all");
    let secrets = "T=all&token=all&auth=all&Auth=all&api_key=all&access_token=all&SID=all\
                   &X-Auth-Token=all&Authorization=Bearer+all&Email=anna&Passwd=all\
                   &name=anna&password=correct+horse&tidings_session=all";
    let fever = "9f3a4b79101e39090baeaa7fb3364fbe";
    for (method, path) in [
        ("POST", "/reader/api/0/subscription/import"),
        ("POST", "/reader/api/0/edit-tag"),
        ("GET", "/reader/api/0/token"),
        ("POST", "/accounts/ClientLogin"),
        ("GET", "/v1/me"),
        ("POST", "/v1/import"),
        ("GET", "/api/v1/feeds"),
        ("POST", "/api/v1/opml"),
        ("GET", "/metrics"),
        ("POST", "/login"),
        ("GET", "/fever/"),
        ("POST", "/fever/"),
    ] {
        let uri = format!("{path}?api&{secrets}&api_key={fever}");
        let request = Request::builder().method(method).uri(&uri).header("content-type", FORM);
        let answered = house.ask(request.body(Body::empty()).unwrap()).await;
        let known = match path {
            "/fever/" => !answered.text.contains("\"auth\":0"),
            _ => !matches!(answered.status.as_u16(), 401 | 403),
        };
        assert!(!known, "{method} {path}: {} {}", answered.status, answered.text);
    }
}

#[tokio::test]
async fn no_spelling_of_a_path_leads_past_the_gate() {
    let house = house(None);
    for path in paths() {
        let plain = house.get(&path, &[]).await.status;
        for spelled in [format!("/{path}"), path.replace('/', "//"), format!("//{path}//")] {
            let answered = house.get(&spelled, &[]).await;
            let public = answered.status.is_success();
            assert!(!public || plain.is_success(), "{spelled}: {}", answered.status);
        }
    }
    for path in [
        "//healthz/../metrics",
        "/healthz//../metrics",
        "//login/../api/v1/feeds",
        "/feeds//../metrics",
        "//websub//..//metrics",
        "/./metrics",
        "/%2fmetrics",
        "//%2e%2e/metrics",
        "/login;/../metrics",
        "//style.css/../metrics",
        "/reader/atom/../../metrics",
        "/reader/atom//../../api/v1/feeds",
    ] {
        let answered = house.get(path, &[]).await;
        assert!(!answered.status.is_success(), "{path}: {}", answered.status);
    }
    let foreign = [("sec-fetch-site", "cross-site")];
    for path in ["//login", "///login", "/feeds", "//import", "//marks//all", "//v1//import"] {
        let answered = house.post(path, "name=anna&password=correct+horse", &foreign).await;
        assert_eq!(answered.status, StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn an_address_with_a_slash_at_its_end_works_for_every_app() {
    let house = house(None);
    house.token(TokenScope::Admin, "all");
    let url = FeedUrl::parse("https://a.example//x").unwrap();
    let feed = NewFeed { url, title: None, site: None, tags: vec![] };
    house.store.subscribe(house.anna, &[feed], T0).unwrap();
    let google = ("authorization", "GoogleLogin auth=all");
    for (path, proof) in [
        ("//v1/feeds", ("x-auth-token", "all")),
        ("//v1/me/", ("x-auth-token", "all")),
        ("//reader/api/0/subscription/list", google),
        ("/reader/api/0//tag/list?output=json", google),
        ("//reader/api/0/stream/contents/feed/https://a.example//x?n=1", google),
        ("/api/greader.php//reader/api/0/user-info", google),
        ("//api/v1/feeds", ("authorization", "Bearer all")),
        ("/api/v1//feeds/", ("authorization", "Bearer all")),
    ] {
        let plain = path.replacen("//", "/", 1);
        let (answered, same) = (house.get(path, &[proof]).await, house.get(&plain, &[proof]).await);
        assert_eq!((answered.status, &answered.text), (same.status, &same.text), "{path}");
        assert_eq!(answered.status, 200, "{path}: {}", answered.text);
    }
    let body = "Email=anna&Passwd=all";
    assert_eq!(house.post("//accounts/ClientLogin", body, &[]).await.status, StatusCode::OK);
    // echo -n anna:all | md5sum
    for path in ["//fever/?api", "/fever//?api", "/fever?api"] {
        let answered = house.post(path, "api_key=9f3a4b79101e39090baeaa7fb3364fbe", &[]).await;
        assert!(answered.text.contains("\"auth\":1"), "{path}: {}", answered.text);
    }
}
