//! Access: sessions, tokens, form keys, and guesses of passwords.

mod proxied;
mod roles;
mod strangers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use api::auth::{digest, fever_digest, hash_password};
use api::{ServerContext, router};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use feed::Time;
use store::{AccountId, NewToken, OpenMode, Store, TokenScope};
use tower::ServiceExt;

use crate::fixture::live;

pub const T0: Time = Time::from_secs(1_700_000_000);

pub struct House {
    pub store: Store,
    pub router: Router,
    anna: AccountId,
    later: Arc<AtomicU64>,
    folder: tempfile::TempDir,
}

pub fn house(public_url: Option<&str>) -> House {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let hashed = hash_password("correct horse").unwrap();
    let anna = store.add_account("anna", &hashed, T0).unwrap().unwrap();
    let later = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&later);
    let now = move || T0 + Duration::from_secs(clock.load(Ordering::Relaxed));
    let context = ServerContext::new(store.clone(), Arc::new(now), Arc::new(live), "1").unwrap();
    let public_url = public_url.map(|url| url.parse().unwrap());
    let router = router(ServerContext { public_url, ..context });
    House { store, router, anna, later, folder }
}

pub struct Answered {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl House {
    pub async fn ask(&self, request: Request<Body>) -> Answered {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, 1 << 20).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Answered { status: parts.status, headers: parts.headers, text }
    }

    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answered {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.ask(request.body(Body::empty()).unwrap()).await
    }

    pub async fn post(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Answered {
        let mut request =
            Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.ask(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    async fn login(&self, password: &str) -> Answered {
        self.post("/login", &format!("name=Anna&password={password}&to=/metrics"), &[]).await
    }
}

fn cookie(answered: &Answered) -> String {
    let set = answered.headers[header::SET_COOKIE].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn with_an_account_everything_needs_a_login_but_what_is_public() {
    let house = house(None);
    for path in ["/", "/feed/1", "/nowhere"] {
        let answered = house.get(path, &[]).await;
        assert_eq!(answered.status, StatusCode::SEE_OTHER, "{path}");
        let to = answered.headers[header::LOCATION].to_str().unwrap();
        assert!(to.starts_with("/login?to=%2F"), "{to}");
    }
    for path in ["/api/v1/entries", "/api/v1/entries/stream", "/api/openapi.json", "/metrics"] {
        let answered = house.get(path, &[]).await;
        assert_eq!(answered.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    let answered = house.post("/api/v1/entries/1/relevance", "{}", &[]).await;
    assert_eq!(answered.status, StatusCode::UNAUTHORIZED);
    for path in ["/healthz", "/readyz", "/style.css", "/login"] {
        assert!(house.get(path, &[]).await.status.is_success(), "{path}");
    }
    assert_eq!(house.get("/feeds/none.atom", &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_login_begins_a_session_and_a_logout_ends_it() {
    let house = house(None);
    let planted = "tidings_session=planted";
    let body = "name=ANNA&password=correct+horse&to=%2Fmetrics";
    let answered = house.post("/login", body, &[("cookie", planted)]).await;
    assert_eq!(answered.status, StatusCode::SEE_OTHER);
    assert_eq!(answered.headers[header::LOCATION], "/metrics");
    let set = answered.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(set.contains("; HttpOnly; SameSite=Lax; Max-Age=2592000"), "{set}");
    let session = cookie(&answered);
    assert_ne!(session, planted, "a session that was planted is worth nothing");
    let with = [("cookie", session.as_str())];
    assert_eq!(house.get("/metrics", &with).await.status, StatusCode::OK);
    assert_eq!(house.get("/metrics", &[("cookie", planted)]).await.status, 401);
    // Without the form key of the session nothing is changed.
    let answered = house.post("/logout", "", &with).await;
    assert_eq!(answered.status, StatusCode::FORBIDDEN);
    assert_eq!(house.get("/metrics", &with).await.status, StatusCode::OK);
    let page = house.get("/", &with).await.text;
    let key = page.split("name=\"form_key\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let answered = house.post("/logout", &format!("form_key={key}"), &with).await;
    assert_eq!(answered.status, StatusCode::SEE_OTHER);
    assert!(answered.headers[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(house.get("/metrics", &with).await.status, 401);
}

#[tokio::test]
async fn a_session_ends_after_a_month() {
    let house = house(None);
    let session = cookie(&house.login("correct+horse").await);
    let with = [("cookie", session.as_str())];
    house.later.store(29 * 86_400, Ordering::Relaxed);
    assert_eq!(house.get("/metrics", &with).await.status, StatusCode::OK);
    house.later.store(31 * 86_400, Ordering::Relaxed);
    assert_eq!(house.get("/metrics", &with).await.status, 401);
}

#[tokio::test]
async fn over_tls_the_cookie_is_for_tls_and_this_host_only() {
    let house = house(Some("https://news.example/"));
    let answered = house.login("correct+horse").await;
    let set = answered.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(set.starts_with("__Host-tidings_session="), "{set}");
    assert!(set.ends_with("; Secure") && set.contains("Path=/;") && !set.contains("Domain"));
}

#[tokio::test]
async fn over_tls_no_other_cookie_stands_for_the_session() {
    let house = house(Some("https://news.example/"));
    let session = cookie(&house.login("correct+horse").await);
    // An older cookie, or one that another host of the same domain set.
    let both = format!("tidings_session=old; {session}");
    assert_eq!(house.get("/metrics", &[("cookie", &both)]).await.status, StatusCode::OK);
    let plain = session.replace("__Host-", "");
    assert_eq!(house.get("/metrics", &[("cookie", &plain)]).await.status, 401);
}

#[tokio::test]
async fn who_guesses_must_wait_and_cannot_tell_names_apart() {
    let house = house(None);
    for name in ["anna", "nobody"] {
        let body = format!("name={name}&password=wrong+one");
        for _ in 0..5 {
            let answered = house.post("/login", &body, &[]).await;
            assert_eq!(answered.status, StatusCode::UNAUTHORIZED);
            assert!(answered.text.contains("Wrong name or password"));
        }
        assert_eq!(house.post("/login", &body, &[]).await.status, 429);
    }
    assert_eq!(house.login("correct+horse").await.status, 429, "the right one waits too");
    house.later.store(2, Ordering::Relaxed);
    assert_eq!(house.login("correct+horse").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn what_another_site_sends_is_not_done() {
    let house = house(None);
    let body = "name=anna&password=correct+horse";
    let foreign: [&[(&str, &str)]; 3] = [
        &[("sec-fetch-site", "cross-site")],
        &[("origin", "https://evil.test"), ("host", "localhost")],
        &[("origin", "null")],
    ];
    for headers in foreign {
        let answered = house.post("/login", body, headers).await;
        assert_eq!(answered.status, StatusCode::FORBIDDEN, "{headers:?}");
        assert!(answered.headers.get(header::SET_COOKIE).is_none());
    }
}

#[tokio::test]
async fn a_token_opens_the_api_until_it_is_taken_back() {
    let house = house(None);
    let new = NewToken {
        account: house.anna,
        name: "script".to_owned(),
        scope: TokenScope::Read,
        digest: digest("the secret"),
        fever_digest: fever_digest("anna", "the secret"),
    };
    let row = house.store.add_token(&new, T0).unwrap().unwrap();
    let with = [("authorization", "Bearer the secret")];
    assert_eq!(house.get("/api/v1/entries", &with).await.status, StatusCode::OK);
    assert_eq!(house.store.tokens(house.anna).unwrap()[0].used_at, Some(T0));
    let wrong = [("authorization", "Bearer the secre")];
    assert_eq!(house.get("/api/v1/entries", &wrong).await.status, 401);
    house.store.revoke_token(house.anna, row.id).unwrap();
    assert_eq!(house.get("/api/v1/entries", &with).await.status, 401);
}

impl House {
    pub fn token(&self, scope: TokenScope, secret: &str) {
        let new = NewToken {
            account: self.anna,
            name: secret.to_owned(),
            scope,
            digest: digest(secret),
            fever_digest: fever_digest("anna", secret),
        };
        self.store.add_token(&new, T0).unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_token_begins_no_session_of_the_page_which_would_reach_further() {
    let house = house(None);
    house.token(TokenScope::Read, "looks+only");
    house.token(TokenScope::Admin, "may+do+all");
    for token in ["looks%2Bonly", "may%2Bdo%2Ball"] {
        let answered = house.login(token).await;
        assert_eq!(answered.status, StatusCode::UNAUTHORIZED, "{token}");
        assert!(answered.headers.get(header::SET_COOKIE).is_none());
    }
}

#[tokio::test]
async fn a_token_is_not_the_old_password() {
    let house = house(None);
    house.token(TokenScope::Admin, "may+do+all");
    let session = cookie(&house.login("correct+horse").await);
    let with = [("cookie", session.as_str())];
    let key = form_key(&house.get("/account", &with).await.text);
    let body = format!("form_key={key}&old=may%2Bdo%2Ball&new=battery+staple");
    let answered = house.post("/account/password", &body, &with).await;
    assert_eq!(answered.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(house.login("battery+staple").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn many_guesses_at_once_are_no_more_than_one_after_the_other() {
    let house = house(None);
    let guesses = (0..40).map(|_| house.login("wrong+one"));
    let answers = futures_util::future::join_all(guesses).await;
    let tried = answers.iter().filter(|answer| answer.status == StatusCode::UNAUTHORIZED).count();
    // Two checks run at once, so one may still be running when the fifth has failed.
    assert!((5..=6).contains(&tried), "{tried} passwords were tried");
}

#[tokio::test]
async fn who_holds_a_token_does_not_wait_for_those_who_guess() {
    let house = house(None);
    house.token(TokenScope::Read, "looks");
    // echo -n anna:looks | base64
    let app = [("authorization", "Basic YW5uYTpsb29rcw==")];
    for _ in 0..6 {
        house.login("wrong+one").await;
    }
    assert_eq!(house.get("/v1/me", &app).await.status, StatusCode::OK);
    assert_eq!(house.login("correct+horse").await.status, 429, "the guesses still count");
    assert_eq!(house.store.tokens(house.anna).unwrap()[0].used_at, Some(T0), "its use is noted");
}

#[tokio::test]
async fn a_login_leads_only_to_our_own_pages() {
    let house = house(None);
    let body = "name=anna&password=correct+horse&to=https%3A%2F%2Fevil.test%2F";
    let answered = house.post("/login", body, &[]).await;
    assert_eq!(answered.headers[header::LOCATION], "/");
    let page = house.get("/login?to=//evil.test", &[]).await.text;
    assert!(page.contains("name=\"to\" value=\"/\""), "{page}");
}

#[tokio::test]
async fn without_an_account_only_this_machine_is_let_in() {
    let house = house(None);
    house.store.remove_account(house.anna).unwrap();
    assert_eq!(house.get("/metrics", &[("host", "localhost:8080")]).await.status, StatusCode::OK);
    for host in ["news.example", "localhost.evil.test", "127.0.0.1.nip.io:8080"] {
        let answered = house.get("/", &[("host", host)]).await;
        assert_eq!(answered.status, StatusCode::MISDIRECTED_REQUEST, "{host}");
        assert!(answered.text.contains("tidings user add NAME"));
        assert_eq!(house.get("/healthz", &[("host", host)]).await.status, StatusCode::OK);
    }
    let context =
        ServerContext::new(house.store.clone(), Arc::new(|| T0), Arc::new(live), "1").unwrap();
    let open = House { router: router(ServerContext { loopback: false, ..context }), ..house };
    // The last account was removed while the server is reachable from elsewhere.
    let answered = open.get("/", &[("host", "localhost")]).await;
    assert_eq!(answered.status, StatusCode::MISDIRECTED_REQUEST);
}

/// Returns a field of a page's first form.
fn form_key(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"form_key\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_token_is_made_on_the_page_shown_once_and_taken_back() {
    let house = house(None);
    let session = cookie(&house.login("correct+horse").await);
    let with = [("cookie", session.as_str())];
    let key = form_key(&house.get("/account", &with).await.text);
    let body = format!("form_key={key}&name=phone&scope=read");
    let made = house.post("/account/tokens", &body, &with).await.text;
    let (_, rest) = made.split_once("<code>").unwrap();
    let token = rest.split('<').next().unwrap();
    let bearer = format!("Bearer {token}");
    let by_token = [("authorization", bearer.as_str())];
    assert_eq!(house.get("/metrics", &by_token).await.status, StatusCode::OK);
    let again = house.get("/account", &with).await.text;
    assert!(again.contains("phone") && !again.contains(token), "it is shown once");
    // The token may only read.
    for path in ["/marks", "/feeds", "/account/tokens", "/budget"] {
        let answered = house.post(path, "read=1&url=x", &by_token).await;
        assert_eq!(answered.status, StatusCode::FORBIDDEN, "{path}");
    }
    let (_, rest) = again.split_once("name=\"token\" value=\"").unwrap();
    let number = rest.split('"').next().unwrap();
    let body = format!("form_key={key}&token={number}");
    house.post("/account/tokens/revoke", &body, &with).await;
    assert_eq!(house.get("/metrics", &by_token).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_password_is_changed_by_whoever_knows_the_old_one() {
    let house = house(None);
    let session = cookie(&house.login("correct+horse").await);
    let with = [("cookie", session.as_str())];
    let key = form_key(&house.get("/account", &with).await.text);
    let change = |old: &str, new: &str| format!("form_key={key}&old={old}&new={new}");
    for (old, new) in [("wrong+horse", "battery+staple"), ("correct+horse", "short")] {
        let answered = house.post("/account/password", &change(old, new), &with).await;
        assert_eq!(answered.status, StatusCode::UNPROCESSABLE_ENTITY, "{old} {new}");
    }
    let body = change("correct+horse", "battery+staple");
    let answered = house.post("/account/password", &body, &with).await;
    assert_eq!(answered.status, StatusCode::OK, "{}", answered.text);
    assert_eq!(house.login("battery+staple").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test(start_paused = true)]
async fn an_open_stream_ends_with_what_opened_it() {
    let house = house(None);
    house.token(TokenScope::Read, "looks");
    let request = Request::get("/api/v1/entries/stream").header("authorization", "Bearer looks");
    let response = house.router.clone().oneshot(request.body(Body::empty()).unwrap());
    let body = response.await.unwrap().into_body();
    let token = house.store.tokens(house.anna).unwrap()[0].id;
    house.store.revoke_token(house.anna, token).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(600), to_bytes(body, 1 << 20)).await;
    let text = String::from_utf8(ended.expect("it ends").unwrap().to_vec()).unwrap();
    assert!(text.starts_with("event: start"), "{text}");
}
