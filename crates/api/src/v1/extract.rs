//! Extractors for requests: a JSON body, a number in the path, query parameters. Errors are
//! sentences. Unknown parameters are refused, because a typing error would silently widen the
//! answer.

use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header;
use axum::http::request::Parts;
use url::form_urlencoded;

use super::schema::{FromJson, JsonFields};
use crate::ServerContext;
use crate::v1::error::ApiError;

/// Enough for the largest statement and 10,000 ids.
const JSON_BYTES_MAX: usize = 1 << 20;
/// A subscription list of 5,000 feeds is about a megabyte.
const TEXT_BYTES_MAX: usize = 8 << 20;

/// A body of JSON.
pub struct JsonBody<T>(pub T);

impl<T: FromJson> FromRequest<ServerContext> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &ServerContext) -> Result<JsonBody<T>, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.map(|kind| kind.split(';').next().unwrap_or("").trim());
        // A form on another site cannot send this media type.
        if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
            return Err(ApiError::UnsupportedType("application/json"));
        }
        let body = to_bytes(request.into_body(), JSON_BYTES_MAX).await?;
        let read = || -> Result<T, String> {
            let value = serde_json::from_slice(&body).map_err(|why| why.to_string())?;
            let mut fields = JsonFields::of(value)?;
            let value = T::read(&mut fields)?;
            fields.end().map(|()| value)
        };
        read().map(JsonBody).map_err(|why| ApiError::Invalid(format!("the body: {why}")))
    }
}

/// A body of any text.
pub struct TextBody(pub Vec<u8>);

impl FromRequest<ServerContext> for TextBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &ServerContext) -> Result<TextBody, ApiError> {
        let body = to_bytes(request.into_body(), TEXT_BYTES_MAX).await?;
        Ok(TextBody(body.into()))
    }
}

/// The number in the path.
pub struct IdInPath(pub i64);

impl FromRequestParts<ServerContext> for IdInPath {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &ServerContext,
    ) -> Result<IdInPath, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let number = path.ok().and_then(|Path(text)| text.parse().ok()).filter(|n| *n >= 1);
        number.map(IdInPath).ok_or_else(|| {
            ApiError::Invalid(
                "the number in the path must be from 1 to 9223372036854775807".to_owned(),
            )
        })
    }
}

/// The name in the path.
pub struct NameInPath(pub String);

impl FromRequestParts<ServerContext> for NameInPath {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &ServerContext,
    ) -> Result<NameInPath, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(text)| NameInPath(text))
            .map_err(|_| ApiError::Invalid("the name in the path is not valid text".to_owned()))
    }
}

/// The query parameters of a request.
#[derive(Debug, Default)]
pub struct QueryParams(Vec<(String, String)>);

impl FromRequestParts<ServerContext> for QueryParams {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        _: &ServerContext,
    ) -> Result<QueryParams, ApiError> {
        let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes());
        Ok(QueryParams(pairs.into_owned().collect()))
    }
}

impl QueryParams {
    /// Takes the text of a parameter.
    pub fn text(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    /// Takes a number within bounds.
    pub fn number(
        &mut self,
        name: &str,
        bounds: std::ops::RangeInclusive<u32>,
        default: u32,
    ) -> Result<u32, ApiError> {
        let Some(text) = self.text(name) else { return Ok(default) };
        text.parse().ok().filter(|n| bounds.contains(n)).ok_or_else(|| {
            let (least, most) = bounds.into_inner();
            ApiError::Invalid(format!("{name} must be a number from {least} to {most}"))
        })
    }

    /// Takes a parameter that is parsed.
    pub fn parsed<T: std::str::FromStr>(
        &mut self,
        name: &str,
        what: &str,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let read = text.parse().map(Some);
        read.map_err(|_| ApiError::Invalid(format!("{name} is not a {what}")))
    }

    pub fn flag(&mut self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.text(name).as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(ApiError::Invalid(format!("{name} must be true or false"))),
        }
    }

    /// Returns an error if any parameter is left.
    pub fn end(self) -> Result<(), ApiError> {
        match self.0.into_iter().next() {
            None => Ok(()),
            Some((name, _)) => {
                let name: String = name.chars().take(40).collect();
                Err(ApiError::Invalid(format!("unknown or repeated parameter `{name}`")))
            }
        }
    }
}
