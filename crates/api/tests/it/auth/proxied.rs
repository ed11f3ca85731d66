//! Login by the header of a trusted proxy, and instances without passwords.

use std::sync::Arc;

use api::auth::{LoginRules, Logins, Proxies, ProxyLogin};
use api::{PeerAddress, ServerContext, router};
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use store::AccountRole;

use super::{Answered, House, T0, house};
use crate::fixture::live;

const PROXY: &str = "10.0.0.1";

fn behind_proxy(creates_accounts: bool) -> House {
    let house = house(None);
    let now = Arc::new(|| T0);
    let context = ServerContext::new(house.store.clone(), now, Arc::new(live), "1").unwrap();
    let from = Proxies::read(&[PROXY.to_owned()]).unwrap();
    let login = LoginRules {
        without_passwords: true,
        creates_accounts,
        proxy: ProxyLogin::new("Remote-User", from),
        provider: None,
    };
    let logins = Logins::new().unwrap().taking_passwords(false);
    let context = ServerContext { login: Arc::new(login), logins: Arc::new(logins), ..context };
    House { router: router(context), ..house }
}

impl House {
    async fn from(&self, peer: &str, path: &str, headers: &[(&str, &str)]) -> Answered {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        request.extensions_mut().insert(PeerAddress(peer.parse().unwrap()));
        self.ask(request).await
    }
}

#[tokio::test]
async fn only_the_listed_proxy_logs_somebody_in() {
    let house = behind_proxy(false);
    let anna = [("remote-user", "Anna")];
    let page = house.from(PROXY, "/account", &anna).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text.contains("<strong>anna</strong>"), "{}", page.text);
    for peer in ["127.0.0.1", "::1", "10.0.0.2", "203.0.113.9"] {
        for headers in [
            &anna[..],
            &[("remote-user", "anna"), ("x-forwarded-for", PROXY)],
            &[("remote-user", "anna"), ("forwarded", "for=10.0.0.1")],
        ] {
            let answered = house.from(peer, "/account", headers).await;
            assert_eq!(answered.status, StatusCode::SEE_OTHER, "{peer} {headers:?}");
            let answered = house.from(peer, "/api/v1/me", headers).await;
            assert_eq!(answered.status, StatusCode::UNAUTHORIZED, "{peer} {headers:?}");
        }
    }
    // Without a connection the peer is unknown.
    assert_eq!(house.get("/account", &anna).await.status, StatusCode::SEE_OTHER);
    // A proxy that passes on the header of the visitor sends two.
    let two = [("remote-user", "anna"), ("remote-user", "bert")];
    assert_eq!(house.from(PROXY, "/account", &two).await.status, StatusCode::FORBIDDEN);
    let nobody = house.from(PROXY, "/account", &[("remote-user", "nobody")]).await;
    assert_eq!(nobody.status, StatusCode::FORBIDDEN);
    assert!(nobody.text.contains("tidings user add nobody"), "{}", nobody.text);
    assert!(house.store.account("nobody").unwrap().is_none());
}

#[tokio::test]
async fn the_name_of_the_proxy_counts_more_than_an_old_session() {
    let house = behind_proxy(false);
    house.store.add_account("bert", "x", T0).unwrap().unwrap();
    let secret = "a session of anna";
    let (digest, ends) = (api::auth::digest(secret), T0 + std::time::Duration::from_secs(60));
    house.store.begin_session(house.anna, digest, T0, ends).unwrap();
    let cookie = format!("tidings_session={secret}");
    let page = house.from(PROXY, "/api/v1/me", &[("cookie", &cookie)]).await;
    assert!(page.text.contains("anna"), "{}", page.text);
    let both = [("cookie", cookie.as_str()), ("remote-user", "bert")];
    let page = house.from(PROXY, "/api/v1/me", &both).await;
    assert!(page.text.contains("bert"), "{}", page.text);
}

#[tokio::test]
async fn forms_of_people_behind_a_proxy_need_their_key() {
    let house = behind_proxy(false);
    let page = house.from(PROXY, "/account", &[("remote-user", "anna")]).await.text;
    let key = page.split("name=\"form_key\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    for (sent, status) in [("", StatusCode::FORBIDDEN), (key, StatusCode::OK)] {
        let body = format!("form_key={sent}&name=phone&scope=read");
        let mut request = Request::post("/account/tokens")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header("remote-user", "anna")
            .body(Body::from(body))
            .unwrap();
        request.extensions_mut().insert(PeerAddress(PROXY.parse().unwrap()));
        assert_eq!(house.ask(request).await.status, status);
    }
    assert_eq!(house.store.tokens(house.anna).unwrap().len(), 1);
}

#[tokio::test]
async fn people_of_the_proxy_get_an_account_if_the_operator_wants_that() {
    let house = behind_proxy(true);
    let new = house.from(PROXY, "/account", &[("remote-user", "Carla@example.org")]).await;
    assert_eq!(new.status, StatusCode::OK);
    let carla = house.store.account("carla@example.org").unwrap().unwrap();
    assert_eq!(carla.role, AccountRole::Reader);
    for name in ["", "a b", "x\u{7f}"] {
        let Ok(value) = axum::http::HeaderValue::from_str(name) else { continue };
        let sent = [("remote-user", value.to_str().unwrap_or("?"))];
        assert_eq!(house.from(PROXY, "/account", &sent).await.status, StatusCode::FORBIDDEN);
    }
    assert_eq!(house.store.accounts().unwrap().len(), 2);
}

#[tokio::test]
async fn without_passwords_nobody_logs_in_with_one_and_tokens_still_work() {
    let house = behind_proxy(false);
    let page = house.get("/login", &[]).await;
    assert!(!page.text.contains("type=\"password\""), "{}", page.text);
    let answered = house.post("/login", "name=anna&password=correct+horse", &[]).await;
    assert_eq!(answered.status, StatusCode::FORBIDDEN);
    assert!(!answered.headers.contains_key(header::SET_COOKIE));
    let answered =
        house.post("/accounts/ClientLogin", "Email=anna&Passwd=correct+horse", &[]).await;
    assert_eq!(answered.status, StatusCode::FORBIDDEN, "{}", answered.text);
    // echo -n 'anna:correct horse' | base64
    let basic = [("authorization", "Basic YW5uYTpjb3JyZWN0IGhvcnNl")];
    assert_eq!(house.get("/v1/me", &basic).await.status, StatusCode::UNAUTHORIZED);
    let fresh = api::auth::fresh().unwrap();
    let new = store::NewToken {
        account: house.anna,
        name: "phone".to_owned(),
        scope: store::TokenScope::Write,
        digest: fresh.digest,
        fever_digest: api::auth::fever_digest("anna", &fresh.secret),
    };
    house.store.add_token(&new, T0).unwrap().unwrap();
    let body = format!("Email=anna&Passwd={}", fresh.secret);
    assert_eq!(house.post("/accounts/ClientLogin", &body, &[]).await.status, StatusCode::OK);
    let bearer = format!("Bearer {}", fresh.secret);
    assert_eq!(house.get("/api/v1/me", &[("authorization", &bearer)]).await.status, 200);
}
