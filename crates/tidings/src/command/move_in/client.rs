//! Requests to the other reader: one at a time, in turn, with the pace of every request. A server
//! that asks us to wait is asked again later.

use std::time::Duration;

use engine::{Errands, Gaps};
use feed::RequestSettings;
use fetch::{Fetched, Fetcher};
use serde::de::DeserializeOwned;
use url::Url;

use crate::config::Config;
use crate::error::{CliError, failed, input_error};

/// A page of 200 entries with their texts.
const BODY_BYTES_MAX: usize = 32_000_000;
/// The answer to a login is a few lines.
const LOGIN_BYTES_MAX: usize = 64 * 1024;
/// Waits for a busy server, and how often.
const BUSY_WAIT: Duration = Duration::from_secs(20);
const BUSY_TRIES: usize = 6;

/// Asks one server, with the credentials of one person.
pub struct ReaderClient {
    errands: Errands,
    base: Url,
    pub own: RequestSettings,
}

impl ReaderClient {
    /// `base` is the address below which the API lies.
    pub fn new(config: &Config, mut base: Url) -> Result<ReaderClient, CliError> {
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let fetch = fetch::Settings { body_bytes_max: BODY_BYTES_MAX, ..config.fetch.clone() };
        let gaps: Gaps = config.engine.gaps.clone();
        let errands = Errands::alone(Fetcher::new(fetch)?, gaps);
        let mut own = RequestSettings::default();
        own.headers.push(("accept".to_owned(), "application/json".to_owned()));
        Ok(ReaderClient { errands, base, own })
    }

    /// Returns an address of the API.
    fn at(&self, path: &str, query: &[(&str, &str)]) -> Result<Url, CliError> {
        let mut url =
            self.base.join(path).map_err(|error| input_error(format!("{path}: {error}")))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    /// Requests JSON.
    pub async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<T, CliError> {
        let url = self.at(path, query)?;
        for _ in 0..BUSY_TRIES {
            let answer = self.errands.call(&url, &self.own).await.ok_or_else(ended)?;
            if is_busy(&answer) {
                tokio::time::sleep(BUSY_WAIT).await;
                continue;
            }
            let bytes = body(&url, answer)?;
            return serde_json::from_slice(&bytes).map_err(|error| {
                failed(format!("{}: the answer is not what the API promises: {error}", shown(&url)))
            });
        }
        Err(failed(format!(
            "{} asks us to wait; run the same command later, it continues where it stopped",
            shown(&url)
        )))
    }

    /// Sends a form and returns the text of the answer.
    pub async fn form(&self, path: &str, fields: &[(&str, &str)]) -> Result<String, CliError> {
        let url = self.at(path, &[])?;
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        let sent = form.finish().into_bytes();
        let answer = self.errands.send_form(&url, sent, LOGIN_BYTES_MAX).await;
        let bytes = body(&url, answer.ok_or_else(ended)?)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn ended() -> CliError {
    failed("the program ends".to_owned())
}

fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    feed::mask_secrets(&url)
}

fn is_busy(answer: &Fetched) -> bool {
    match answer {
        Fetched::Refused { status } => *status == 429,
        Fetched::Failed(failure) => failure.kind == fetch::FailureKind::Status(503),
        _ => false,
    }
}

fn body(url: &Url, answer: Fetched) -> Result<Vec<u8>, CliError> {
    let place = shown(url);
    Err(match answer {
        Fetched::Body { bytes, .. } => return Ok(bytes),
        Fetched::Refused { status: 401 | 403 } => {
            input_error(format!("{place} refused the login; check --user and --secret"))
        }
        Fetched::Refused { status } => failed(format!("{place} answered {status}")),
        Fetched::Moved { to, .. } => {
            let to = shown(&to);
            input_error(format!("{place} redirects to {to}; give that server's address"))
        }
        Fetched::Blocked { reason } => input_error(reason),
        Fetched::Failed(failure) => failed(format!("{place}: {failure}")),
        Fetched::Gone | Fetched::NotModified { .. } => {
            failed(format!("{place} gave no answer; is this the address of its API?"))
        }
    })
}
