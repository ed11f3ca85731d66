//! The check before every route: finds the person behind a request, or refuses it. Reader apps
//! identify themselves at their own routes. Public routes stay open to everybody.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use store::StoreError;
use url::form_urlencoded;

use crate::ServerContext;
use crate::auth::Person;
use crate::blocking::run_blocking;
use crate::http::guard;
use crate::http::server::PeerAddress;
use crate::page::{Visitor, store_error};
use crate::session::{self, Visit};
use crate::v1::ApiError;

/// Routes that need no account, or identify the client themselves.
const PUBLIC: [&str; 5] = ["/login", "/login/provider", "/login/provider/back", "/image", "/fever"];
/// Routes with the same answer for everybody. They do not ask the store, so that a page keeps its
/// stylesheet and a probe its answer while the store fails.
const SAME_FOR_ALL: [&str; 15] = [
    "/healthz",
    "/readyz",
    "/style.css",
    "/script.js",
    "/player.js",
    "/app.js",
    "/offline.js",
    "/icon.svg",
    "/manifest.webmanifest",
    "/service-worker.js",
    "/offline",
    "/icons/app/192.png",
    "/icons/app/512.png",
    "/icons/app/maskable-192.png",
    "/icons/app/maskable-512.png",
];
/// Prefixes of public routes. None of these routes reads cookies.
const PUBLIC_BELOW: [&str; 8] = [
    "/feeds/",
    "/websub/",
    "/rsscloud/",
    "/accounts/",
    "/reader/",
    "/api/greader.php/",
    "/v1/",
    "/fever/",
];

/// Finds the person behind a request and adds them to its extensions.
pub async fn gate(
    State(context): State<ServerContext>,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path().to_owned();
    if is_safe(request.method()) && SAME_FOR_ALL.contains(&path.as_str()) {
        return next.run(request).await;
    }
    let below = PUBLIC_BELOW.iter().any(|start| path.starts_with(start))
        || is_safe(request.method()) && is_published(&context, &path);
    // Hubs, subscribers and reader apps are programs. They do not send the headers that a browser
    // adds to a request from another site.
    if !is_safe(request.method()) && is_foreign(request.headers()) {
        return foreign();
    }
    let peer = request.extensions().get::<PeerAddress>().map(|PeerAddress(peer)| *peer);
    let client = peer.map(|peer| context.proxies.client_address(peer, request.headers()));
    if let Some(client) = client {
        request.extensions_mut().insert(client);
    }
    let has_accounts = {
        let store = context.store.clone();
        match run_blocking(move || store.has_accounts()).await {
            Ok(has_accounts) => has_accounts,
            Err(error) => return unanswered(&context, &request, error),
        }
    };
    let mut proxied = None;
    let person = if has_accounts {
        proxied = context.login.proxied_name(peer, request.headers());
        let visit = Visit { client, proxied_name: proxied.clone() };
        session::identify(&context, request.headers(), &visit).await
    } else {
        let here = context.loopback && guard::names_this_machine(&request);
        Ok(here.then(|| Person::local(context.logins.form_key())))
    };
    match person {
        Ok(Some(person)) => {
            request.extensions_mut().insert(person);
        }
        Ok(None) if below || PUBLIC.contains(&path.as_str()) => {}
        Ok(None) if has_accounts => match proxied {
            Some(name) => return unknown_to_us(&request, &name),
            None => return stranger(&request),
        },
        Ok(None) => return elsewhere(),
        Err(error) => return unanswered(&context, &request, error),
    }
    next.run(request).await
}

/// Returns whether the operator shows this page to everybody.
fn is_published(context: &ServerContext, path: &str) -> bool {
    context.population.is_published && (path == "/population" || path.starts_with("/population/"))
}

/// The answer while the store fails: a page for people, JSON for programs.
fn unanswered(context: &ServerContext, request: &Request, error: StoreError) -> Response {
    if is_for_programs(request.uri().path()) {
        return ApiError::Store(error).into_response();
    }
    let visitor = Visitor::of(request.method(), request.uri(), request.headers(), None);
    store_error(context, visitor, &error)
}

fn is_for_programs(path: &str) -> bool {
    path.starts_with("/api/")
        || matches!(path, "/metrics" | "/image" | "/fever")
        || PUBLIC_BELOW.iter().any(|start| path.starts_with(start))
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a browser says that another site sent this request. Programs send no such header, and
/// their requests carry no cookie or a form key.
fn is_foreign(headers: &HeaderMap) -> bool {
    let text = |name: header::HeaderName| headers.get(name).map(|v| v.to_str().unwrap_or(""));
    if let Some(site) = text(header::HeaderName::from_static("sec-fetch-site")) {
        return !matches!(site, "same-origin" | "none");
    }
    let Some(origin) = text(header::ORIGIN) else { return false };
    let host = text(header::HOST).unwrap_or("");
    origin.split_once("://").is_none_or(|(_, authority)| !authority.eq_ignore_ascii_case(host))
}

fn foreign() -> Response {
    let text = "Nothing was changed: another site sent this request. Open the page itself.\n";
    (StatusCode::FORBIDDEN, text).into_response()
}

/// The answer to a request under a foreign host name. Another site must not read this page through
/// a name that points here (DNS rebinding), and a proxy must not open it to the world.
fn elsewhere() -> Response {
    let text = "Without an account this page answers on this machine only: open it as \
                http://localhost or http://127.0.0.1 with its port, or create an account: \
                tidings user add NAME\n";
    (StatusCode::MISDIRECTED_REQUEST, text).into_response()
}

/// The answer to a person whom the proxy knows and we do not.
fn unknown_to_us(request: &Request, name: &str) -> Response {
    if is_for_programs(request.uri().path()) {
        return ApiError::Unauthenticated.into_response();
    }
    let text = match name {
        "" => "The proxy in front of this server did not send exactly one valid name.\n".to_owned(),
        name => format!(
            "You are logged in as {name}, but this account does not exist here. Ask the person who \
             runs this server to create it: tidings user add {name}\n"
        ),
    };
    (StatusCode::FORBIDDEN, text).into_response()
}

/// The answer to an unknown client: people are sent to the login page, programs get an error.
fn stranger(request: &Request) -> Response {
    if is_for_programs(request.uri().path()) {
        return ApiError::Unauthenticated.into_response();
    }
    let wanted = request.uri().path_and_query().map_or("/", |p| p.as_str());
    let query: String = form_urlencoded::Serializer::new(String::new())
        .append_pair("to", if is_safe(request.method()) { wanted } else { "/" })
        .finish();
    Redirect::to(&format!("/login?{query}")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap())).collect()
    }

    #[test]
    fn a_request_from_another_site_is_foreign() {
        for pairs in [
            &[("sec-fetch-site", "cross-site")][..],
            &[("sec-fetch-site", "same-site")],
            &[("origin", "https://evil.test"), ("host", "localhost:8080")],
            &[("origin", "null"), ("host", "localhost:8080")],
            &[("origin", "http://localhost:9999"), ("host", "localhost:8080")],
            &[("origin", "http://localhost:8080.evil.test"), ("host", "localhost:8080")],
        ] {
            assert!(is_foreign(&sent(pairs)), "{pairs:?}");
        }
        for pairs in [
            &[("sec-fetch-site", "same-origin")][..],
            &[("sec-fetch-site", "none")],
            &[("origin", "http://localhost:8080"), ("host", "localhost:8080")],
            &[("host", "localhost:8080")],
        ] {
            assert!(!is_foreign(&sent(pairs)), "{pairs:?}");
        }
    }
}
