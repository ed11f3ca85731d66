//! The devices that get notifications. A browser subscribes with the key of this server and sends
//! the address at its push service.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use feed::FeedUrl;
use store::{NewPushDevice, PushDeviceId, PushDeviceRow};

use super::{AccountResult, page};
use crate::ServerContext;
use crate::auth;
use crate::blocking::run_blocking;
use crate::page::frame::OwnForm;
use crate::page::notice::{notice, store_error};
use crate::words::{DisplayTime, LocalNow, sentence};

/// The addresses of the push services of browsers have 100 to 500 bytes.
const ENDPOINT_BYTES_MAX: usize = 1000;
/// An uncompressed point of P-256, and the secret of RFC 8291.
const KEY_BYTES: usize = 65;
const AUTH_BYTES: usize = 16;
const REFUSED: &str = "Could not switch notifications on";

pub struct DeviceTableRow {
    pub id: i64,
    pub name: String,
    pub created: DisplayTime,
    pub sent: Option<DisplayTime>,
    pub error: Option<String>,
}

pub fn row(row: PushDeviceRow, now: LocalNow) -> DeviceTableRow {
    DeviceTableRow {
        id: row.id.0,
        name: row.name,
        created: DisplayTime::new(row.created_at, now),
        sent: row.sent_at.map(|at| DisplayTime::new(at, now)),
        error: row.error.as_deref().map(sentence),
    }
}

/// Stores the browser that sends this form.
pub async fn add_device(
    State(context): State<ServerContext>,
    headers: HeaderMap,
    sent: OwnForm,
) -> Response {
    let OwnForm { visitor, form, session } = sent;
    let decode = |name: &str, n_bytes| {
        let text = form.text(name).trim_end_matches('=');
        URL_SAFE_NO_PAD.decode(text).ok().filter(|bytes| bytes.len() == n_bytes)
    };
    let endpoint = push_address(form.text("endpoint"));
    let keys = decode("p256dh", KEY_BYTES).zip(decode("auth", AUTH_BYTES));
    let (Some(endpoint), Some((p256dh, secret))) = (endpoint, keys) else {
        let text = "The browser sent an address or a key that is not valid. Reload the page and \
                    try again.";
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return notice(&context, visitor, status, REFUSED, text.to_owned());
    };
    let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    let name = auth::device_name(agent.unwrap_or_default());
    let new = NewPushDevice { session, endpoint, p256dh, auth: secret, name };
    let (store, account, now) = (context.store.clone(), visitor.account(), (context.now)());
    match run_blocking(move || store.put_push_device(account, &new, now)).await {
        Ok(true) => {
            let result = AccountResult::of("This device gets notifications of your rules.");
            page(&context, visitor, session, result).await
        }
        Ok(false) => {
            let text = "You have too many devices. Remove one first.".to_owned();
            notice(&context, visitor, StatusCode::CONFLICT, REFUSED, text)
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

pub async fn remove_device(State(context): State<ServerContext>, sent: OwnForm) -> Response {
    let OwnForm { visitor, form, session } = sent;
    let device = PushDeviceId(form.text("device").parse().unwrap_or(0));
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || store.remove_push_device(account, device)).await {
        Ok(_) => {
            let result = AccountResult::of("The device gets no notifications any more.");
            page(&context, visitor, session, result).await
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Returns the address of a push service, if it can be one: a web address without a login. When it
/// is sent, the guard of requests refuses addresses that are not public.
fn push_address(text: &str) -> Option<String> {
    let url = FeedUrl::parse(text).ok().filter(|_| text.len() <= ENDPOINT_BYTES_MAX)?;
    let is_plain = url.url().username().is_empty() && url.url().password().is_none();
    is_plain.then(|| url.url().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_push_services_are_plain_web_addresses() {
        let plain = "https://push.example/send/a:b_c";
        assert_eq!(push_address(plain).as_deref(), Some(plain));
        for odd in ["ftp://a.example/", "https://u:p@a.example/", "x", "data:,x", ""] {
            assert!(push_address(odd).is_none(), "{odd}");
        }
        assert!(push_address(&format!("https://a.example/{}", "x".repeat(1000))).is_none());
    }
}
