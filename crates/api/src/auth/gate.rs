//! The gate before every route: says who asks, or sends them away. Reader apps prove themselves
//! at their own routes; what is public stays so.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use store::StoreError;
use url::form_urlencoded;

use super::{Peer, Person, login};
use crate::blocking::run_blocking;
use crate::page::{Visitor, failed};
use crate::v1::ApiError;
use crate::{Context, guard};

/// Routes that need nobody, or find out themselves who asks.
const PUBLIC: [&str; 3] = ["/login", "/image", "/fever"];
/// The same for everybody, whoever asks: where the store does not answer, a page still has its
/// sheet and a probe its answer.
const FOR_EVERYBODY: [&str; 5] = ["/healthz", "/readyz", "/style.css", "/script.js", "/icon.svg"];
/// Public with all below them. None of these looks at cookies.
const PUBLIC_BELOW: [&str; 7] =
    ["/feeds/", "/websub/", "/accounts/", "/reader/", "/api/greader.php/", "/v1/", "/fever/"];

/// Finds out who asks and puts them beside the request.
pub async fn gate(State(context): State<Context>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    if is_safe(request.method()) && FOR_EVERYBODY.contains(&path.as_str()) {
        return next.run(request).await;
    }
    let below = PUBLIC_BELOW.iter().any(|start| path.starts_with(start));
    // Hubs, subscribers and reader apps are programs. None of them sends what a browser adds to a
    // request of another site.
    if !is_safe(request.method()) && is_foreign(request.headers()) {
        return foreign();
    }
    if let Some(Peer(peer)) = request.extensions().get::<Peer>() {
        let place = context.proxies.place(*peer, request.headers());
        request.extensions_mut().insert(place);
    }
    let has_accounts = {
        let store = context.store.clone();
        match run_blocking(move || store.has_accounts()).await {
            Ok(has_accounts) => has_accounts,
            Err(error) => return unanswered(&context, &request, error),
        }
    };
    let person = if has_accounts {
        identify(&context, request.headers()).await
    } else {
        let here = context.loopback && guard::names_us(&request);
        Ok(here.then(|| Person::local(context.logins.form_key())))
    };
    match person {
        Ok(Some(person)) => {
            request.extensions_mut().insert(person);
        }
        Ok(None) if below || PUBLIC.contains(&path.as_str()) => {}
        Ok(None) if has_accounts => return stranger(&request),
        Ok(None) => return elsewhere(),
        Err(error) => return unanswered(&context, &request, error),
    }
    next.run(request).await
}

/// Nobody knows who asks: people are told so on a page, programs as they expect it.
fn unanswered(context: &Context, request: &Request, error: StoreError) -> Response {
    if is_for_programs(request.uri().path()) {
        return ApiError::Store(error).into_response();
    }
    let visitor = Visitor::of(request.method(), request.uri(), request.headers(), None);
    failed(context, visitor, &error)
}

fn is_for_programs(path: &str) -> bool {
    path.starts_with("/api/")
        || matches!(path, "/metrics" | "/image" | "/fever")
        || PUBLIC_BELOW.iter().any(|start| path.starts_with(start))
}

/// Whether somebody is still let in who began something long: sessions end, tokens are taken
/// back, and with the first account nobody is the one person at this machine any more.
pub async fn is_still(
    context: &Context,
    headers: &HeaderMap,
    person: &Person,
) -> Result<bool, StoreError> {
    if person.name.is_none() {
        let store = context.store.clone();
        return Ok(!run_blocking(move || store.has_accounts()).await?);
    }
    let found = identify(context, headers).await?;
    Ok(found.is_some_and(|found| found.account == person.account))
}

async fn identify(context: &Context, headers: &HeaderMap) -> Result<Option<Person>, StoreError> {
    let (store, now) = (&context.store, (context.now)());
    if let Some(token) = bearer(headers) {
        return context.logins.by_token(store, token, now).await;
    }
    match login::session(context, headers) {
        Some(session) => context.logins.by_session(store, session, now).await,
        None => Ok(None),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, token) = value.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a browser says that another site sent this. Programs say nothing; what they send
/// carries no cookie, or a form's key.
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

/// A page elsewhere must not read this one through a name that it made point here, and a proxy
/// must not open it to the world.
fn elsewhere() -> Response {
    let text = "Without an account this page answers on this machine only: open it as \
                http://localhost or http://127.0.0.1 with its port, or make an account: \
                tidings user add NAME\n";
    (StatusCode::MISDIRECTED_REQUEST, text).into_response()
}

/// People are shown where to log in, programs are told.
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
    fn what_another_site_sends_is_foreign() {
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

    #[test]
    fn a_token_stands_behind_the_word_bearer() {
        assert_eq!(bearer(&sent(&[("authorization", "Bearer abc")])), Some("abc"));
        assert_eq!(bearer(&sent(&[("authorization", "bearer  abc ")])), Some("abc"));
        assert_eq!(bearer(&sent(&[("authorization", "Basic abc")])), None);
        assert_eq!(bearer(&sent(&[])), None);
    }
}
