//! Checks the ID token: the signed statement of the provider about a person (a JWT). The signature
//! needs a public key of the provider. Unsigned tokens and shared keys are refused.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use feed::Time;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::auth::secret::agree;

const TOKEN_BYTES_MAX: usize = 64 << 10;
/// Clocks differ by so much at most.
const SKEW: Duration = Duration::from_secs(60);
/// A statement is made for this login, so it is not older.
const AGE_MAX: Duration = Duration::from_secs(600);
/// The limit of OpenID Connect.
const SUBJECT_BYTES_MAX: usize = 255;
/// Keys of one provider that are tried.
const KEYS_MAX: usize = 50;

/// The error for a token with a key that is not in the list.
pub const UNKNOWN_KEY: &str = "its key is unknown";

/// The keys of a provider (RFC 7517). Those of unknown kinds are ignored.
#[derive(Debug, Deserialize)]
pub struct KeySet {
    keys: Vec<ProviderKey>,
}

#[derive(Debug, Deserialize)]
struct ProviderKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    r#use: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The values that a statement must have.
#[derive(Clone, Copy, Debug)]
pub struct IdExpectation<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    pub nonce: &'a str,
    pub now: Time,
}

/// The statement of the provider about a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdClaims {
    /// The person's number at this issuer.
    pub subject: String,
    /// The name that the person uses there. Others may have had it before.
    pub user_name: Option<String>,
}

#[derive(Deserialize)]
struct TokenHeader {
    alg: String,
    kid: Option<String>,
    crit: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct TokenClaims {
    iss: String,
    sub: String,
    aud: Audience,
    azp: Option<String>,
    exp: f64,
    iat: f64,
    nbf: Option<f64>,
    nonce: Option<String>,
    preferred_username: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// Checks signature and claims of an ID token.
pub fn verify(
    token: &str,
    keys: &KeySet,
    expected: &IdExpectation<'_>,
) -> Result<IdClaims, &'static str> {
    if token.len() > TOKEN_BYTES_MAX {
        return Err("it is too long");
    }
    let (signed, signature) = token.rsplit_once('.').ok_or("it is not a signed token")?;
    let (header, claims) = signed.split_once('.').ok_or("it is not a signed token")?;
    let header: TokenHeader = part(header)?;
    if header.crit.is_some() {
        return Err("it needs an extension");
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "it is not a signed token")?;
    check_signature(&header, keys, signed.as_bytes(), &signature)?;
    let claims: TokenClaims = part(claims)?;
    check_claims(&claims, expected)?;
    Ok(IdClaims { subject: claims.sub, user_name: claims.preferred_username })
}

fn part<T: DeserializeOwned>(text: &str) -> Result<T, &'static str> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| "it is not a signed token")?;
    serde_json::from_slice(&bytes).map_err(|_| "a claim is missing or has another form")
}

/// The kinds of signature. All need a public key.
enum SignatureKind {
    Rsa(&'static signature::RsaParameters),
    /// The curve, and the algorithm.
    Curve(&'static str, &'static dyn VerificationAlgorithm),
}

fn kind(alg: &str) -> Option<SignatureKind> {
    use SignatureKind::{Curve, Rsa};
    Some(match alg {
        "RS256" => Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
        "RS384" => Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
        "RS512" => Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
        "PS256" => Rsa(&signature::RSA_PSS_2048_8192_SHA256),
        "PS384" => Rsa(&signature::RSA_PSS_2048_8192_SHA384),
        "PS512" => Rsa(&signature::RSA_PSS_2048_8192_SHA512),
        "ES256" => Curve("P-256", &signature::ECDSA_P256_SHA256_FIXED),
        "ES384" => Curve("P-384", &signature::ECDSA_P384_SHA384_FIXED),
        "EdDSA" | "Ed25519" => Curve("Ed25519", &signature::ED25519),
        _ => return None,
    })
}

fn check_signature(
    header: &TokenHeader,
    keys: &KeySet,
    signed: &[u8],
    signature: &[u8],
) -> Result<(), &'static str> {
    let kind = kind(&header.alg).ok_or("it is not signed with a public key that we know")?;
    let fits = |key: &&ProviderKey| {
        key.r#use.as_deref().is_none_or(|word| word == "sig")
            && key.alg.as_deref().is_none_or(|alg| alg == header.alg)
            && (header.kid.is_none() || key.kid == header.kid)
    };
    let mut has_key = false;
    for key in keys.keys.iter().filter(fits).take(KEYS_MAX) {
        if let Some(is_valid) = is_signed_by(key, &kind, signed, signature) {
            has_key = true;
            if is_valid {
                return Ok(());
            }
        }
    }
    Err(if has_key { "its signature is wrong" } else { UNKNOWN_KEY })
}

/// Whether a key made a signature; `None` if the key is of another kind.
fn is_signed_by(
    key: &ProviderKey,
    kind: &SignatureKind,
    signed: &[u8],
    signature: &[u8],
) -> Option<bool> {
    let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
    match kind {
        SignatureKind::Rsa(parameters) => {
            let (n, e) = (bytes(&key.n)?, bytes(&key.e)?);
            let public = RsaPublicKeyComponents { n, e };
            (key.kty == "RSA").then(|| public.verify(parameters, signed, signature).is_ok())
        }
        SignatureKind::Curve(curve, algorithm) => {
            if key.crv.as_deref() != Some(curve) {
                return None;
            }
            let point = match key.kty.as_str() {
                "EC" => [vec![4], bytes(&key.x)?, bytes(&key.y)?].concat(),
                "OKP" => bytes(&key.x)?,
                _ => return None,
            };
            let public = UnparsedPublicKey::new(*algorithm, point);
            Some(public.verify(signed, signature).is_ok())
        }
    }
}

fn check_claims(claims: &TokenClaims, expected: &IdExpectation<'_>) -> Result<(), &'static str> {
    if claims.iss != expected.issuer {
        return Err("it names another issuer");
    }
    let audiences = match &claims.aud {
        Audience::One(one) => std::slice::from_ref(one),
        Audience::Many(many) => many.as_slice(),
    };
    if !audiences.iter().any(|one| one == expected.client_id) {
        return Err("it is meant for another program");
    }
    let party = claims.azp.as_deref();
    if party.is_some_and(|party| party != expected.client_id)
        || (audiences.len() > 1 && party.is_none())
    {
        return Err("it was made for another program");
    }
    #[expect(clippy::cast_precision_loss, reason = "milliseconds need 41 bits")]
    let now = expected.now.millis() as f64 / 1000.0;
    let skew = SKEW.as_secs_f64();
    // Written so that a value that is not a number fails.
    let holds = claims.exp + skew > now
        && claims.iat - skew <= now
        && claims.iat + AGE_MAX.as_secs_f64() + skew > now
        && claims.nbf.is_none_or(|from| from - skew <= now);
    if !holds {
        return Err("it does not hold now; check the clock of this machine");
    }
    if !claims.nonce.as_deref().is_some_and(|nonce| agree(nonce, expected.nonce)) {
        return Err("it belongs to another login");
    }
    if claims.sub.is_empty() || claims.sub.len() > SUBJECT_BYTES_MAX {
        return Err("it names no valid subject");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
