//! Tests of the checks on an ID token, with keys made here.

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use super::*;

const NOW: i64 = 1_700_000_000;

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

struct Signer {
    pair: EcdsaKeyPair,
    kid: &'static str,
}

impl Signer {
    fn new(kid: &'static str) -> Signer {
        let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        Signer { pair: EcdsaKeyPair::from_pkcs8(kind, document.as_ref(), &random).unwrap(), kid }
    }

    fn key(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let (x, y) = (encode(&point[1..33]), encode(&point[33..]));
        json!({"kty": "EC", "crv": "P-256", "kid": self.kid, "use": "sig", "x": x, "y": y})
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", encode(signature))
    }
}

fn keys(list: &[Value]) -> KeySet {
    serde_json::from_value(json!({"keys": list})).unwrap()
}

fn claims() -> Value {
    json!({
        "iss": "https://login.example.org",
        "sub": "248289761001",
        "aud": "tidings",
        "exp": NOW + 300,
        "iat": NOW - 5,
        "nonce": "n-0S6",
        "preferred_username": "anna",
    })
}

fn check(token: &str, keys: &KeySet) -> Result<IdClaims, &'static str> {
    let expected = IdExpectation {
        issuer: "https://login.example.org",
        client_id: "tidings",
        nonce: "n-0S6",
        now: Time::from_secs(NOW),
    };
    verify(token, keys, &expected)
}

#[test]
fn a_signed_statement_names_its_subject() {
    let signer = Signer::new("one");
    let token = signer.token(&json!({"alg": "ES256", "kid": "one"}), &claims());
    let said = check(&token, &keys(&[Signer::new("two").key(), signer.key()])).unwrap();
    assert_eq!((said.subject.as_str(), said.user_name.as_deref()), ("248289761001", Some("anna")));
    let without_kid = signer.token(&json!({"alg": "ES256"}), &claims());
    assert!(check(&without_kid, &keys(&[Signer::new("two").key(), signer.key()])).is_ok());
}

#[test]
fn a_statement_with_another_signature_is_refused() {
    let (signer, other) = (Signer::new("one"), Signer::new("one"));
    let list = keys(&[signer.key()]);
    let header = json!({"alg": "ES256", "kid": "one"});
    assert_eq!(check(&other.token(&header, &claims()), &list), Err("its signature is wrong"));
    let unknown = Signer::new("three").token(&json!({"alg": "ES256", "kid": "three"}), &claims());
    assert_eq!(check(&unknown, &list), Err(UNKNOWN_KEY));
    // The claims of one token under the signature of another.
    let good = signer.token(&header, &claims());
    let mut forged = claims();
    forged["sub"] = "1".into();
    let parts: Vec<&str> = good.split('.').collect();
    let mixed = format!("{}.{}.{}", parts[0], encode(forged.to_string()), parts[2]);
    assert_eq!(check(&mixed, &list), Err("its signature is wrong"));
    for alg in ["none", "HS256", "ES512", ""] {
        let token = signer.token(&json!({"alg": alg, "kid": "one"}), &claims());
        assert!(check(&token, &list).is_err(), "{alg}");
    }
    let unsigned =
        format!("{}.{}.", encode(json!({"alg": "none"}).to_string()), encode(claims().to_string()));
    assert!(check(&unsigned, &list).is_err());
    let extended = signer.token(&json!({"alg": "ES256", "crit": ["x"], "x": 1}), &claims());
    assert_eq!(check(&extended, &list), Err("it needs an extension"));
    for text in ["", ".", "..", "a.b.c", "a"] {
        assert!(check(text, &list).is_err(), "{text}");
    }
}

#[test]
fn a_key_for_another_use_or_algorithm_does_not_count() {
    let signer = Signer::new("one");
    let token = signer.token(&json!({"alg": "ES256", "kid": "one"}), &claims());
    for (name, value) in [("use", "enc"), ("alg", "ES384"), ("crv", "P-384"), ("kty", "RSA")] {
        let mut key = signer.key();
        key[name] = value.into();
        assert_eq!(check(&token, &keys(&[key])), Err(UNKNOWN_KEY), "{name} {value}");
    }
}

#[test]
fn every_claim_is_checked() {
    let signer = Signer::new("one");
    let list = keys(&[signer.key()]);
    let with = |name: &str, value: Value| {
        let mut claims = claims();
        match value {
            Value::Null => {
                claims.as_object_mut().unwrap().remove(name);
            }
            value => claims[name] = value,
        }
        check(&signer.token(&json!({"alg": "ES256"}), &claims), &list)
    };
    for (name, value) in [
        ("iss", json!("https://evil.example.org")),
        ("iss", json!("https://login.example.org/")),
        ("aud", json!("other")),
        ("aud", json!(["other"])),
        ("aud", json!(["tidings", "other"])),
        ("azp", json!("other")),
        ("exp", json!(NOW - 61)),
        ("exp", Value::Null),
        ("iat", json!(NOW + 62)),
        ("iat", json!(NOW - 662)),
        ("nbf", json!(NOW + 62)),
        ("nonce", json!("another")),
        ("nonce", Value::Null),
        ("sub", json!("")),
        ("sub", json!("x".repeat(256))),
        ("sub", Value::Null),
    ] {
        assert!(with(name, value.clone()).is_err(), "{name} {value}");
    }
    // Clocks may differ by a minute.
    for (name, value) in [
        ("exp", json!(NOW - 59)),
        ("iat", json!(NOW + 59)),
        ("nbf", json!(NOW + 59)),
        ("aud", json!(["tidings"])),
        ("azp", json!("tidings")),
    ] {
        assert!(with(name, value.clone()).is_ok(), "{name} {value}");
    }
}

#[test]
fn signatures_of_ed25519_are_checked_too() {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
    let x = encode(pair.public_key().as_ref());
    let list = keys(&[json!({"kty": "OKP", "crv": "Ed25519", "x": x})]);
    let signed =
        format!("{}.{}", encode(json!({"alg": "EdDSA"}).to_string()), encode(claims().to_string()));
    let token = format!("{signed}.{}", encode(pair.sign(signed.as_bytes())));
    assert!(check(&token, &list).is_ok());
    assert!(check(&format!("{signed}.{}", encode([0; 64])), &list).is_err());
}
