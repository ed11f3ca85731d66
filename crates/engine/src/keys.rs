//! Secrets that queries are given: the key of a secret link and the key that signs webhooks. They
//! come from the system's source of chance and nowhere else.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// As long as the digest that it keys; nobody guesses it.
const SIGNING_BYTES: usize = 32;
/// Long enough that nobody finds a link by trying.
const LINK_BYTES: usize = 18;
/// How signing keys are written (standardwebhooks.com).
const PREFIX: &str = "whsec_";

/// A key for a link: letters that stand in a URL as they are.
pub fn fresh() -> Result<String, getrandom::Error> {
    let mut bytes = [0; LINK_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// A key that signs, as `whsec_…`.
pub fn fresh_signing() -> Result<String, getrandom::Error> {
    let mut bytes = [0; SIGNING_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{PREFIX}{}", STANDARD.encode(bytes)))
}

/// The signature of a text under a key as it is written: `whsec_` and base64, or any text.
pub fn sign(key: &str, parts: &[&[u8]]) -> String {
    let decoded = key.strip_prefix(PREFIX).and_then(|text| STANDARD.decode(text).ok());
    let bytes = decoded.unwrap_or_else(|| key.as_bytes().to_vec());
    STANDARD.encode(digest(&bytes, parts))
}

/// The signature of a pushed feed, as WebSub writes it.
pub fn hub_signature(secret: &str, body: &[u8]) -> String {
    let hex = digest(secret.as_bytes(), &[body]).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    format!("sha256={hex}")
}

fn digest(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_published_example() {
        // standard-webhooks, spec and reference libraries.
        let key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let body = br#"{"test": 2432232314}"#;
        let signed = sign(key, &[b"msg_p5jXN8AQM9LWM0D4loKWxJek", b".", b"1614265330", b".", body]);
        assert_eq!(signed, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn digests_are_those_of_rfc_4231() {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let case_two = digest(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(
            hex(&case_two),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let case_six =
            digest(&[0xaa; 131], &[b"Test Using Larger Than Block-Size Key - Hash Key First"]);
        assert_eq!(
            hex(&case_six),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn pushes_are_signed_in_hexadecimal() {
        let signed = hub_signature("Jefe", b"what do ya want for nothing?");
        assert!(signed.starts_with("sha256=5bdcc146bf60754e"), "{signed}");
    }

    #[test]
    fn no_two_keys_are_alike() {
        let keys: std::collections::HashSet<String> =
            (0..100).filter_map(|_| fresh().ok()).collect();
        assert_eq!(keys.len(), 100);
        assert!(keys.iter().all(|key| key.len() == 24));
    }
}
