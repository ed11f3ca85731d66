//! Secrets from the system's random source. Only their digests are stored, and they are compared in
//! constant time.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha2::{Digest as _, Sha256};
use store::Digest;
use subtle::ConstantTimeEq;

/// 2^192 values cannot be guessed.
const BYTES: usize = 24;

/// A new secret: the text for its holder, and the digest that is stored.
#[derive(Clone, Debug)]
pub struct NewSecret {
    pub secret: String,
    pub digest: Digest,
}

pub fn fresh() -> Result<NewSecret, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    let secret = URL_SAFE_NO_PAD.encode(bytes);
    let digest = digest(&secret);
    Ok(NewSecret { secret, digest })
}

/// Returns the digest that is stored for a secret. It needs no salt, because secrets are random.
pub fn digest(secret: &str) -> Digest {
    Sha256::digest(secret.as_bytes()).into()
}

/// Returns the digest that is stored for a Fever key. Fever's clients make the key from a name and
/// a token.
pub fn fever_digest(name: &str, token: &str) -> Digest {
    let key = Md5::digest(format!("{name}:{token}").as_bytes());
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    digest(&hex)
}

/// Returns the key that protects the forms of one session. Only the session's owner can know it.
pub fn form_key(session: &[u8]) -> String {
    keyed(session, b"form")
}

/// Signs a text with a key.
pub fn keyed(key: &[u8], text: &[u8]) -> String {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    mac.update(text);
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// Whether two texts are equal, compared in constant time.
pub fn agree(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_are_alike_and_none_is_its_digest() {
        let (a, b) = (fresh().unwrap(), fresh().unwrap());
        assert_ne!(a.secret, b.secret);
        assert_eq!(digest(&a.secret), a.digest);
        assert_eq!(a.secret.len(), 32);
    }

    #[test]
    fn fevers_key_is_the_md5_of_name_and_token_in_small_letters() {
        // echo -n 'anna:secret' | md5sum
        assert_eq!(fever_digest("anna", "secret"), digest("b8cf310cd392550c534812a2fcd36db2"));
    }

    #[test]
    fn texts_agree_only_if_they_are_the_same() {
        assert!(agree("abc", "abc"));
        assert!(!agree("abc", "abd"));
        assert!(!agree("abc", "ab"));
        assert!(!agree("", "a"));
    }
}
