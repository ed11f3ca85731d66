//! The choice of the light: a cookie that a page without scripts can set too.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};

use super::frame::{LIGHT_COOKIE, Light};
use crate::form::Signed;
use crate::http::paths::local_target;

/// A year: nobody wants to choose again.
const LASTS: u32 = 365 * 86_400;

/// Keeps the choice and leads back to where it was made.
pub async fn choose(form: Signed) -> Response {
    let light = Light::from_word(form.text("light"));
    let (value, lasts) = match light {
        Light::System => ("", 0),
        chosen => (chosen.word(), LASTS),
    };
    let cookie = format!("{LIGHT_COOKIE}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={lasts}");
    // Words of our own.
    let cookie = HeaderValue::try_from(cookie).unwrap_or(HeaderValue::from_static(""));
    let to = local_target(form.text("back"));
    ([(header::SET_COOKIE, cookie)], Redirect::to(&to)).into_response()
}
