//! Parameters of a request by an app: those of the address, then those of the body. The body is a
//! form, or the multipart form that some apps send. Files are not read.

use axum::body::{Bytes, to_bytes};
use axum::extract::Request;
use axum::http::header;

use super::error::ReaderApiError;
use crate::http::pairs::{self, FormPairs, TooManyFields};

/// Marks for ten thousand entries with the longest ids.
pub const BYTES_MAX: usize = 2 << 20;
/// The same number of entries, each with a second field.
const FIELDS_MAX: usize = 20_000;

/// Limits on what is read of a request.
#[derive(Clone, Copy, Debug)]
pub struct ParamLimits {
    bytes: usize,
    fields: usize,
}

impl ParamLimits {
    /// For clients that have been identified.
    pub const KNOWN: ParamLimits = ParamLimits { bytes: BYTES_MAX, fields: FIELDS_MAX };
    /// For unknown clients.
    pub const STRANGER: ParamLimits =
        ParamLimits { bytes: pairs::STRANGER_BYTES_MAX, fields: pairs::STRANGER_FIELDS_MAX };
    /// For clients that send their secret in the body, together with the long ids of a thousand
    /// entries.
    pub const PROOF_IN_BODY: ParamLimits = ParamLimits { bytes: 64 << 10, fields: 1200 };
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppParams {
    address: FormPairs,
    body: FormPairs,
}

impl AppParams {
    pub fn of_address(
        query: Option<&str>,
        limits: ParamLimits,
    ) -> Result<AppParams, TooManyFields> {
        let address = pairs::read(query.unwrap_or("").as_bytes(), limits.fields)?;
        Ok(AppParams { address, body: Vec::new() })
    }

    /// Reads a request to its end.
    pub async fn read(request: Request, limits: ParamLimits) -> Result<AppParams, ReaderApiError> {
        let mut params = AppParams::of_address(request.uri().query(), limits)?;
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
        let body = whole(request, limits.bytes).await?;
        params.body = match boundary(&kind) {
            Some(boundary) => parts(&body, boundary, limits.fields),
            // Some apps send a form without its media type.
            None if kind.is_empty() || kind.starts_with("application/x-www-form-urlencoded") => {
                pairs::read_long(body, limits.fields).await?
            }
            None => Vec::new(),
        };
        Ok(params)
    }

    /// Returns the first value of a name that is not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        let both = self.address.iter().chain(&self.body);
        both.filter(|(field, _)| field == name)
            .map(|(_, value)| value.as_str())
            .find(|value| !value.is_empty())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        let both = self.address.iter().chain(&self.body);
        both.filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// Returns a value of the body only: addresses end up in logs and links.
    pub fn in_body(&self, name: &str) -> Option<&str> {
        self.body.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, ReaderApiError> {
        let read = |text: &str| text.parse();
        let wrong =
            |_| ReaderApiError::bad_request(format!("{name} is not a number, or too large"));
        self.text(name).map(read).transpose().map_err(wrong)
    }
}

/// Returns the whole body, if it is not too long.
pub async fn whole(request: Request, bytes_max: usize) -> Result<Bytes, ReaderApiError> {
    Ok(to_bytes(request.into_body(), bytes_max).await?)
}

fn boundary(kind: &str) -> Option<&str> {
    let rest = kind.strip_prefix("multipart/form-data")?;
    Some(rest.split_once("boundary=")?.1.split(';').next()?.trim().trim_matches('"'))
}

/// Returns the texts of a multipart body, up to the limit.
fn parts(body: &[u8], boundary: &str, fields_max: usize) -> FormPairs {
    let text = String::from_utf8_lossy(body);
    let fence = format!("--{boundary}");
    let read = |part: &str| {
        let (head, value) = part.split_once("\r\n\r\n")?;
        let name = head.split_once(" name=\"")?.1.split('"').next()?;
        Some((name.to_owned(), value.strip_suffix("\r\n").unwrap_or(value).to_owned()))
    };
    text.split(fence.as_str()).filter_map(read).take(fields_max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_as_a_form_is() {
        let kind = "multipart/form-data; boundary=\"x-y\"";
        let body = "--x-y\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nabc\r\n\
                    --x-y\r\nContent-Disposition: form-data; name=\"mark\"\r\n\
                    Content-Type: text/plain\r\n\r\ntwo\r\nlines\r\n--x-y--\r\n";
        let read = parts(body.as_bytes(), boundary(kind).unwrap(), 9);
        let own = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(read, [own("api_key", "abc"), own("mark", "two\r\nlines")]);
        assert_eq!(boundary("application/x-www-form-urlencoded"), None);
    }

    #[test]
    fn the_address_comes_before_the_body_and_empty_values_are_none() {
        let mut params =
            AppParams::of_address(Some("n=&i=1&i=2&x=%2F"), ParamLimits::KNOWN).unwrap();
        params.body = pairs::read(b"i=3&n=5", 9).unwrap();
        assert_eq!(params.all("i").collect::<Vec<_>>(), ["1", "2", "3"]);
        assert_eq!((params.text("n"), params.text("x")), (Some("5"), Some("/")));
        assert_eq!(params.in_body("x"), None);
        assert_eq!(params.number::<u32>("n").unwrap(), Some(5));
        assert!(params.number::<u32>("x").is_err() && params.has("n") && !params.has("z"));
    }
}
