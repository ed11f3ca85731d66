//! Forms of our own pages. Whoever sends one must carry the key that the page gave them: another
//! site's page cannot know it.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::Context;
use crate::auth::{self, Person};
use crate::http::pairs::{self, TooManyFields};
use crate::http::server;

/// A file in a form: a subscription list of 5,000 feeds is about a megabyte.
const FILE_BYTES_MAX: usize = 8 << 20;
/// A form without a file. The largest holds the statements of the query editor.
const BYTES_MAX: usize = 2 << 20;
/// A list of entries is the longest form, with a field for each.
const FIELDS_MAX: usize = 2000;
/// No form of ours with a file has as many.
const PARTS_MAX: usize = 16;

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
        let stranger = person.is_none();
        let form = if kind.starts_with("application/x-www-form-urlencoded") {
            written(request, stranger).await?
        } else if kind.starts_with("multipart/form-data") && !stranger {
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

async fn whole(body: Body, bytes_max: usize) -> Result<Bytes, Response> {
    to_bytes(body, bytes_max).await.map_err(|error| {
        if server::is_cut(&error) {
            let text = "The form took too long to arrive. Try again.\n";
            return (StatusCode::REQUEST_TIMEOUT, text).into_response();
        }
        too_large(bytes_max)
    })
}

fn too_large(bytes_max: usize) -> Response {
    let text = format!(
        "The form is larger than {} KB. To import a larger list, use the command \
         tidings import FILE on the server.\n",
        bytes_max >> 10
    );
    (StatusCode::PAYLOAD_TOO_LARGE, text).into_response()
}

/// Somebody who has not logged in sends a name, a password and where they want to go.
async fn written(request: Request, stranger: bool) -> Result<Signed, Response> {
    let (bytes_max, fields_max) = if stranger {
        (pairs::STRANGER_BYTES_MAX, pairs::STRANGER_FIELDS_MAX)
    } else {
        (BYTES_MAX, FIELDS_MAX)
    };
    let body = whole(request.into_body(), bytes_max).await?;
    let pairs = pairs::read_long(body, fields_max).await.map_err(|TooManyFields| {
        let text = format!("The form has more than {fields_max} fields.\n");
        (StatusCode::PAYLOAD_TOO_LARGE, text).into_response()
    })?;
    Ok(Signed(pairs.into_iter().map(|(name, value)| (name, value.into_bytes())).collect()))
}

/// A form with a file in it.
async fn parts(request: Request) -> Result<Signed, Response> {
    let (head, body) = request.into_parts();
    // Read whole first: the limit is for all parts together.
    let body = whole(body, FILE_BYTES_MAX).await?;
    let mut request = Request::from_parts(head, body.into());
    // That limit was ours; the framework's own is lower.
    DefaultBodyLimit::disable().apply(&mut request);
    let odd = || (StatusCode::BAD_REQUEST, "This form cannot be read.\n").into_response();
    let mut multipart = Multipart::from_request(request, &()).await.map_err(|_| odd())?;
    let mut fields = Vec::new();
    while let Some(field) = multipart.next_field().await.map_err(|_| odd())? {
        if fields.len() >= PARTS_MAX {
            return Err(odd());
        }
        let name = field.name().unwrap_or_default().to_owned();
        fields.push((name, field.bytes().await.map_err(|_| odd())?.to_vec()));
    }
    Ok(Signed(fields))
}
