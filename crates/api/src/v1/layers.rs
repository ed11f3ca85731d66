//! Layers around every answer of the API: the rate limit, and ETags, by which a client with the
//! same bytes gets a 304.

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::ServerContext;
use crate::auth::Person;
use crate::http::etag;
use crate::rate_limit::{BURST, RateLimit};
use crate::v1::error::ApiError;
use crate::words::ceil_secs;

/// Larger answers are sent without an ETag.
const TAGGED_BYTES_MAX: usize = 32 << 20;

/// Counts a request against the account's rate limit, or refuses it.
pub async fn limited(
    State(context): State<ServerContext>,
    request: Request,
    next: Next,
) -> Response {
    let Some(person) = request.extensions().get::<Person>() else {
        return ApiError::Unauthenticated.into_response();
    };
    let left = context.rates.take(person.account, (context.now)());
    let mut response = match left.wait {
        Some(wait) => ApiError::RateLimited(wait).into_response(),
        None => next.run(request).await,
    };
    add_headers(response.headers_mut(), left);
    response
}

fn add_headers(headers: &mut HeaderMap, left: RateLimit) {
    let mut put = |name: &'static str, value: u64| {
        headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
    };
    put("ratelimit-limit", BURST.into());
    put("ratelimit-remaining", left.requests.into());
    put("ratelimit-reset", ceil_secs(left.full_in));
}

/// Adds an ETag to answers of GET and HEAD, and answers 304 to a client that has the same bytes.
pub async fn tagged(request: Request, next: Next) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let request_headers = request.headers().clone();
    let response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    // An event stream never ends.
    let whole = kind.is_some_and(|kind| !kind.starts_with("text/event-stream"));
    let bytes_max = response.body().size_hint().upper().unwrap_or(u64::MAX);
    let small = usize::try_from(bytes_max).is_ok_and(|bytes| bytes <= TAGGED_BYTES_MAX);
    if !reads || !whole || !small || response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, TAGGED_BYTES_MAX).await else {
        // Its length is known, and it is in our own memory.
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let tag = etag::tag(&bytes);
    if let Ok(value) = HeaderValue::from_str(&tag) {
        parts.headers.insert(header::ETAG, value);
    }
    // The client may store it, but must revalidate it.
    let keep = HeaderValue::from_static("private, no-cache");
    parts.headers.insert(header::CACHE_CONTROL, keep);
    if etag::is_known(&request_headers, &tag) == Some(true) {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_TYPE);
        parts.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(parts, Body::empty());
    }
    Response::from_parts(parts, Body::from(bytes))
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn an_answer_too_large_for_a_tag_is_sent_all_the_same() {
        let text = ([(header::CONTENT_TYPE, "text/x-opml")], "x".repeat(TAGGED_BYTES_MAX + 1));
        let routes = Router::new()
            .route("/list", get(async move || text))
            .layer(axum::middleware::from_fn(tagged));
        let request_headers = Request::get("/list").body(Body::empty()).unwrap();
        let response = routes.oneshot(request_headers).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert!(response.headers().get(header::ETAG).is_none());
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        assert_eq!(body.len(), TAGGED_BYTES_MAX + 1);
    }
}
