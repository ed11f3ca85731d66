//! Forms of our own pages. Whoever sends one must carry the key that the page gave them: another
//! site's page cannot know it.

use axum::body::{Bytes, to_bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use url::form_urlencoded;

use crate::auth::{self, Person};
use crate::{Context, server};

/// A subscription list of some thousand feeds is a megabyte.
const BYTES_MAX: usize = 8 << 20;

/// The name of the field with the key.
pub const FIELD: &str = "form_key";

/// A form that came from our own page. Fields of a form with files are bytes.
#[derive(Clone, Debug, Default)]
pub struct Signed(Vec<(String, Vec<u8>)>);

impl Signed {
    /// A field's text; empty where it was not sent.
    pub fn text(&self, name: &str) -> &str {
        std::str::from_utf8(self.bytes(name)).unwrap_or("")
    }

    /// A field as it was sent: a file, or its text.
    pub fn bytes(&self, name: &str) -> &[u8] {
        self.0.iter().find(|(field, _)| field == name).map_or(&[], |(_, value)| value)
    }

    /// Every value of a field that may be sent several times.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        let values = self.0.iter().filter(move |(field, _)| field == name);
        values.filter_map(|(_, value)| std::str::from_utf8(value).ok())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(field, _)| field == name)
    }
}

impl FromRequest<Context> for Signed {
    type Rejection = Response;

    async fn from_request(request: Request, _: &Context) -> Result<Signed, Response> {
        let person = request.extensions().get::<Person>().cloned();
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
        let kind = kind.unwrap_or_default();
        let form = if kind.starts_with("application/x-www-form-urlencoded") {
            written(request).await?
        } else if kind.starts_with("multipart/form-data") {
            parts(request).await?
        } else {
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send a form.\n").into_response());
        };
        // Whoever logs in has no key yet.
        let expected = person.and_then(|person| person.form_key);
        if expected.is_some_and(|key| !auth::agree(&key, form.text(FIELD))) {
            let text = "This form has expired. Go back, reload the page and try again.\n";
            return Err((StatusCode::FORBIDDEN, text).into_response());
        }
        Ok(form)
    }
}

fn not_read(error: &axum::Error) -> Response {
    let (status, text) = if server::is_cut(error) {
        (StatusCode::REQUEST_TIMEOUT, "The form took too long to arrive. Try again.\n")
    } else {
        let text = "The form is larger than 8 MB. To import a larger list, use the command \
                    tidings import FILE on the server.\n";
        (StatusCode::PAYLOAD_TOO_LARGE, text)
    };
    (status, text).into_response()
}

async fn written(request: Request) -> Result<Signed, Response> {
    let body: Bytes = to_bytes(request.into_body(), BYTES_MAX).await.map_err(|e| not_read(&e))?;
    let pairs = form_urlencoded::parse(&body).into_owned();
    Ok(Signed(pairs.map(|(name, value)| (name, value.into_bytes())).collect()))
}

/// A form with a file in it.
async fn parts(request: Request) -> Result<Signed, Response> {
    let (head, body) = request.into_parts();
    // Read whole first: the limit is for all parts together.
    let body = to_bytes(body, BYTES_MAX).await.map_err(|e| not_read(&e))?;
    let mut request = Request::from_parts(head, body.into());
    // That limit was ours; the framework's own is lower.
    DefaultBodyLimit::disable().apply(&mut request);
    let odd = || (StatusCode::BAD_REQUEST, "This form cannot be read.\n").into_response();
    let mut multipart = Multipart::from_request(request, &()).await.map_err(|_| odd())?;
    let mut fields = Vec::new();
    while let Some(field) = multipart.next_field().await.map_err(|_| odd())? {
        let name = field.name().unwrap_or_default().to_owned();
        fields.push((name, field.bytes().await.map_err(|_| odd())?.to_vec()));
    }
    Ok(Signed(fields))
}
