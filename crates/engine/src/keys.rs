//! The secrets of queries: the key of a secret link, and the key that signs webhooks. They come
//! from the system's random source only.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

/// As long as the digest that it keys. It cannot be guessed.
const SIGNING_BYTES: usize = 32;
/// Long enough that nobody finds a link by trying.
const LINK_BYTES: usize = 18;
/// The prefix of signing keys (standardwebhooks.com).
const PREFIX: &str = "whsec_";

/// Returns a key for a link: letters that need no escapes in a URL.
pub fn fresh() -> Result<String, getrandom::Error> {
    let mut bytes = [0; LINK_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Returns a signing key, as `whsec_…`.
pub fn fresh_signing() -> Result<String, getrandom::Error> {
    let mut bytes = [0; SIGNING_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{PREFIX}{}", STANDARD.encode(bytes)))
}

/// Returns the signature of a text under a key as it is written: `whsec_` and base64, or any text.
pub fn sign(key: &str, parts: &[&[u8]]) -> String {
    let decoded = key.strip_prefix(PREFIX).and_then(|text| STANDARD.decode(text).ok());
    let bytes = decoded.unwrap_or_else(|| key.as_bytes().to_vec());
    STANDARD.encode(digest(&bytes, parts))
}

/// Returns the signature of a pushed feed, as WebSub writes it.
pub fn hub_signature(secret: &str, body: &[u8]) -> String {
    let hex = digest(secret.as_bytes(), &[body]).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    format!("sha256={hex}")
}

/// Returns whether a body has the signature that only a holder of the secret can make, as WebSub
/// writes it (`method=hexadecimal`). The comparison takes constant time.
pub fn is_signed(secret: &str, signature: &str, body: &[u8]) -> bool {
    fn holds<M: Mac + KeyInit>(secret: &str, said: &[u8], body: &[u8]) -> bool {
        // HMAC takes keys of any length.
        let Ok(mut mac) = <M as KeyInit>::new_from_slice(secret.as_bytes()) else { return false };
        mac.update(body);
        mac.verify_slice(said).is_ok()
    }
    let Some((method, hex)) = signature.trim().split_once('=') else { return false };
    let Some(said) = bytes_of(hex) else { return false };
    match method.to_ascii_lowercase().as_str() {
        "sha1" => holds::<Hmac<Sha1>>(secret, &said, body),
        "sha256" => holds::<Hmac<Sha256>>(secret, &said, body),
        "sha384" => holds::<Hmac<Sha384>>(secret, &said, body),
        "sha512" => holds::<Hmac<Sha512>>(secret, &said, body),
        _ => false,
    }
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|n| u8::try_from(n).ok());
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    bytes.collect::<Option<Vec<u8>>>().filter(|_| rest.is_empty())
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
    fn signatures_of_every_method_are_checked_against_published_digests() {
        // RFC 2202, case 2, and RFC 4231, case 2.
        let (secret, body) = ("Jefe", b"what do ya want for nothing?");
        let signed = [
            "sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "sha384=af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
             8e2240ca5e69e2c78b3239ecfab21649",
            "SHA512=164B7A7BFCF819E2E395FBE73B56E0A387BD64222E831FD610270CD7EA250554\
             9758BF75C05A994A6D034F65F8F0E6FDCAEAB1A34D4A6B4B636E070A38BCE737",
        ];
        for signature in signed {
            assert!(is_signed(secret, signature, body), "{signature}");
            assert!(!is_signed(secret, signature, b"another body"), "{signature}");
            assert!(!is_signed("jefe", signature, body), "{signature}");
            assert!(!is_signed(secret, &signature[..signature.len() - 2], body), "{signature}");
        }
        for signature in [
            "",
            "sha256",
            "sha256=",
            "sha256=5b",
            "md5=750c783e6ab0b503eaa86e310a5db738",
            "sha1=zffcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            "sha1=ü",
        ] {
            assert!(!is_signed(secret, signature, body), "{signature}");
        }
    }

    #[test]
    fn no_two_keys_are_alike() {
        let keys: std::collections::HashSet<String> =
            (0..100).filter_map(|_| fresh().ok()).collect();
        assert_eq!(keys.len(), 100);
        assert!(keys.iter().all(|key| key.len() == 24));
    }
}
