//! Forms of our own pages. Whoever sends one must carry the key that the page gave them: another
//! site's page cannot know it.

use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use url::form_urlencoded;

use crate::Context;
use crate::auth::{self, Person};

/// A subscription list of some thousand feeds is a megabyte.
const BYTES_MAX: usize = 8 << 20;

/// The name of the field with the key.
pub const FIELD: &str = "form_key";

/// A form that came from our own page.
#[derive(Clone, Debug, Default)]
pub struct Signed(Vec<(String, String)>);

impl Signed {
    /// A field's text; empty where it was not sent.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// Every value of a field that may be sent several times.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(field, _)| field == name)
    }
}

impl FromRequest<Context> for Signed {
    type Rejection = Response;

    async fn from_request(request: Request, _: &Context) -> Result<Signed, Response> {
        let person = request.extensions().get::<Person>().cloned();
        let is_form = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
        if !is_form {
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send a form.\n").into_response());
        }
        let body: Bytes = to_bytes(request.into_body(), BYTES_MAX).await.map_err(|_| {
            (StatusCode::PAYLOAD_TOO_LARGE, "That is too much for one form.\n").into_response()
        })?;
        let form = Signed(form_urlencoded::parse(&body).into_owned().collect());
        // Whoever logs in has no key yet.
        let expected = person.and_then(|person| person.form_key);
        if expected.is_some_and(|key| !auth::agree(&key, form.text(FIELD))) {
            let text = "This form is too old or came from elsewhere. Go back, load the page \
                        again and repeat what you did.\n";
            return Err((StatusCode::FORBIDDEN, text).into_response());
        }
        Ok(form)
    }
}
