//! A login under way. It is kept in a signed cookie of the browser that began it, so that any
//! process can end it and strangers fill no memory.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use feed::Time;
use serde::{Deserialize, Serialize};

use crate::auth::secret;

/// The time that a person has to log in at the provider.
pub const LIFE: Duration = Duration::from_secs(600);

/// A login under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginAttemptCookie {
    /// Ties the answer to this browser.
    pub state: String,
    /// Ties the statement of the provider to this login.
    pub nonce: String,
    /// The secret of PKCE. Nobody else can use the code.
    pub verifier: String,
    /// The page to show at the end.
    pub back: String,
    pub begun_at: Time,
}

/// The fields of the cookie.
#[derive(Deserialize, Serialize)]
struct AttemptFields {
    s: String,
    n: String,
    v: String,
    b: String,
    t: i64,
}

impl LoginAttemptCookie {
    /// The life of the cookie.
    pub const LIFE: Duration = LIFE;

    pub fn has_expired(&self, now: Time) -> bool {
        // A clock that jumps back does not make it last longer.
        now < self.begun_at || now.since(self.begun_at) > LIFE
    }

    /// Writes the value of the cookie.
    pub fn signed(&self, key: &str) -> String {
        let fields = AttemptFields {
            s: self.state.clone(),
            n: self.nonce.clone(),
            v: self.verifier.clone(),
            b: self.back.clone(),
            t: self.begun_at.millis(),
        };
        // A struct of texts can always be written.
        let json = serde_json::to_vec(&fields).unwrap_or_default();
        let text = URL_SAFE_NO_PAD.encode(json);
        let signature = sign(key, &text);
        format!("{text}.{signature}")
    }

    /// Reads the value of a cookie that was signed with the same key.
    pub fn read(value: &str, key: &str) -> Option<LoginAttemptCookie> {
        let (text, signature) = value.split_once('.')?;
        if !secret::agree(&sign(key, text), signature) {
            return None;
        }
        let fields: AttemptFields =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        Some(LoginAttemptCookie {
            state: fields.s,
            nonce: fields.n,
            verifier: fields.v,
            back: fields.b,
            begun_at: Time::from_millis(fields.t),
        })
    }
}

fn sign(key: &str, text: &str) -> String {
    secret::keyed(key.as_bytes(), format!("login {text}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_signed_with_the_same_key_is_read() {
        let attempt = LoginAttemptCookie {
            state: "s".to_owned(),
            nonce: "n".to_owned(),
            verifier: "v".to_owned(),
            back: "/feeds?a=b".to_owned(),
            begun_at: Time::from_secs(100),
        };
        let value = attempt.signed("key");
        assert_eq!(LoginAttemptCookie::read(&value, "key"), Some(attempt.clone()));
        assert_eq!(LoginAttemptCookie::read(&value, "other"), None);
        let (text, signature) = value.split_once('.').unwrap();
        let forged = format!("{}.{signature}", text.replacen('e', "f", 1));
        assert_eq!(LoginAttemptCookie::read(&forged, "key"), None);
        assert_eq!(LoginAttemptCookie::read("", "key"), None);
        let at = |secs| attempt.has_expired(Time::from_secs(secs));
        assert_eq!([at(99), at(100), at(700), at(701)], [true, false, false, true]);
    }
}
