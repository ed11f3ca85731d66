//! The key of this instance at push services (RFC 8292), which the store keeps. A browser
//! subscribes with its public half; each request carries a token that it has signed.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use feed::Time;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;
use store::{Store, StoreError};
use url::Url;

/// The setting with the private key, as PKCS #8 in base64.
const SETTING: &str = "web push key";
/// The longest life of a token is 24 hours; half of it leaves room for clocks that differ.
const TOKEN_LIFE: Duration = Duration::from_secs(12 * 3600);

/// The key pair of this instance.
pub struct VapidKey(EcdsaKeyPair);

impl VapidKey {
    /// Reads the key, and makes it the first time. `None` if it cannot be read or made.
    pub fn of(store: &Store) -> Result<Option<VapidKey>, StoreError> {
        let chance = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &chance);
        let Ok(made) = made else { return Ok(None) };
        let stored = store.shared_setting(SETTING, &STANDARD.encode(made.as_ref()))?;
        let Ok(bytes) = STANDARD.decode(stored) else { return Ok(None) };
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        Ok(EcdsaKeyPair::from_pkcs8(algorithm, &bytes, &chance).ok().map(VapidKey))
    }

    /// Returns the public key as browsers take it.
    pub fn public(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref())
    }

    /// Returns the header that proves to a push service who sends.
    pub fn authorization(&self, endpoint: &Url, contact: &str, now: Time) -> Option<String> {
        let head = json!({"typ": "JWT", "alg": "ES256"});
        let claims = json!({
            "aud": endpoint.origin().ascii_serialization(),
            "exp": (now + TOKEN_LIFE).secs(),
            "sub": contact,
        });
        let parts = [head, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let signed = parts.join(".");
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        let signature = URL_SAFE_NO_PAD.encode(signature.as_ref());
        Some(format!("vapid t={signed}.{signature}, k={}", self.public()))
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use store::OpenMode;

    use super::*;

    #[test]
    fn the_key_stays_the_same_and_its_tokens_can_be_checked() {
        let folder = tempfile::tempdir().unwrap();
        let location = store::testing::location(folder.path());
        let store = Store::open(location, OpenMode::ReadWrite).unwrap();
        let key = VapidKey::of(&store).unwrap().unwrap();
        assert_eq!(key.public(), VapidKey::of(&store).unwrap().unwrap().public());
        let url = Url::parse("https://push.example:8443/send/abc").unwrap();
        let now = Time::from_secs(1_700_000_000);
        let header = key.authorization(&url, "mailto:a@example.org", now).unwrap();
        let (token, public) = header.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(public))
            .verify(signed.as_bytes(), &decode(signature))
            .unwrap();
        let claims: serde_json::Value =
            serde_json::from_slice(&decode(signed.split_once('.').unwrap().1)).unwrap();
        assert_eq!(claims["aud"], "https://push.example:8443");
        assert_eq!(claims["exp"], 1_700_000_000 + 43_200);
    }
}
