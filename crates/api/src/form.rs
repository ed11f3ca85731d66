//! Forms of our own pages. A form must carry the key that the page contains. Pages of other sites
//! do not know this key, so they cannot send forms in the name of the visitor (CSRF).

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::ServerContext;
use crate::auth::{self, Person};
use crate::http::pairs::{self, TooManyFields};
use crate::http::server;

/// A file in a form: a subscription list of 5,000 feeds is about a megabyte.
const FILE_BYTES_MAX: usize = 8 << 20;
/// A form without a file. The largest one holds the statements of the query editor.
const BYTES_MAX: usize = 2 << 20;
/// The longest form is a list of entries, with a field for each entry.
const FIELDS_MAX: usize = 2000;
/// Our forms with a file have fewer fields.
const PARTS_MAX: usize = 16;

/// The field with the key.
pub const FIELD: &str = "form_key";

/// A form from one of our pages. Its fields are bytes, because a field can be a file.
#[derive(Clone, Debug, Default)]
pub struct SignedForm(Vec<(String, Vec<u8>)>);

impl SignedForm {
    /// Returns the text of a field; empty if it was not sent.
    pub fn text(&self, name: &str) -> &str {
        std::str::from_utf8(self.bytes(name)).unwrap_or("")
    }

    /// Returns the bytes of a field: a file or a text.
    pub fn bytes(&self, name: &str) -> &[u8] {
        self.0.iter().find(|(field, _)| field == name).map_or(&[], |(_, value)| value)
    }

    /// Returns all values of a field that was sent several times.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        let values = self.0.iter().filter(move |(field, _)| field == name);
        values.filter_map(|(_, value)| std::str::from_utf8(value).ok())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(field, _)| field == name)
    }
}

impl FromRequest<ServerContext> for SignedForm {
    type Rejection = Response;

    async fn from_request(request: Request, _: &ServerContext) -> Result<SignedForm, Response> {
        let person = request.extensions().get::<Person>().cloned();
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
        let kind = kind.unwrap_or_default();
        let stranger = person.is_none();
        let form = if kind.starts_with("application/x-www-form-urlencoded") {
            read_urlencoded(request, stranger).await?
        } else if kind.starts_with("multipart/form-data") && !stranger {
            read_multipart(request).await?
        } else {
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send a form.\n").into_response());
        };
        // Before the login there is no key.
        let expected = person.and_then(|person| person.form_key);
        if expected.is_some_and(|key| !auth::agree(&key, form.text(FIELD))) {
            let text = "This form has expired. Go back, reload the page and try again.\n";
            return Err((StatusCode::FORBIDDEN, text).into_response());
        }
        Ok(form)
    }
}

async fn read_body(body: Body, bytes_max: usize) -> Result<Bytes, Response> {
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

/// Reads a form without files. Before the login only the small login form is allowed.
async fn read_urlencoded(request: Request, stranger: bool) -> Result<SignedForm, Response> {
    let (bytes_max, fields_max) = if stranger {
        (pairs::STRANGER_BYTES_MAX, pairs::STRANGER_FIELDS_MAX)
    } else {
        (BYTES_MAX, FIELDS_MAX)
    };
    let body = read_body(request.into_body(), bytes_max).await?;
    let pairs = pairs::read_long(body, fields_max).await.map_err(|TooManyFields| {
        let text = format!("The form has more than {fields_max} fields.\n");
        (StatusCode::PAYLOAD_TOO_LARGE, text).into_response()
    })?;
    Ok(SignedForm(pairs.into_iter().map(|(name, value)| (name, value.into_bytes())).collect()))
}

/// Reads a form with a file.
async fn read_multipart(request: Request) -> Result<SignedForm, Response> {
    let (head, body) = request.into_parts();
    // Read the whole body first, because the limit applies to all parts together.
    let body = read_body(body, FILE_BYTES_MAX).await?;
    let mut request = Request::from_parts(head, body.into());
    // The framework's own limit is lower than ours.
    DefaultBodyLimit::disable().apply(&mut request);
    let unreadable = || (StatusCode::BAD_REQUEST, "This form cannot be read.\n").into_response();
    let mut multipart = Multipart::from_request(request, &()).await.map_err(|_| unreadable())?;
    let mut fields = Vec::new();
    while let Some(field) = multipart.next_field().await.map_err(|_| unreadable())? {
        if fields.len() >= PARTS_MAX {
            return Err(unreadable());
        }
        let name = field.name().unwrap_or_default().to_owned();
        fields.push((name, field.bytes().await.map_err(|_| unreadable())?.to_vec()));
    }
    Ok(SignedForm(fields))
}
