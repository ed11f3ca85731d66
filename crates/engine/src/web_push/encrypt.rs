//! Encrypts a message for one browser: RFC 8291 with the coding `aes128gcm` of RFC 8188, in one
//! record. The primitives are those of `ring`.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom, SystemRandom};

/// The length of a record as the header declares it. The message is one record, and push services
/// take 4096 bytes at least.
const RECORD_BYTES: u32 = 4096;
/// The bytes of a text that fit: without the header, the end mark and the tag.
pub const TEXT_BYTES_MAX: usize = 3900;
/// An uncompressed point of P-256.
const KEY_BYTES: usize = 65;
const AUTH_BYTES: usize = 16;

/// The length of derived key material.
struct OutputLength(usize);

impl KeyType for OutputLength {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive(salt: &[u8], secret: &[u8], info: &[&[u8]], out: &mut [u8]) -> Option<()> {
    let key = Salt::new(HKDF_SHA256, salt).extract(secret);
    key.expand(info, OutputLength(out.len())).ok()?.fill(out).ok()
}

/// Returns the encrypted message. `None` if the keys of the browser are not valid or the text is
/// too long.
pub fn encrypt(p256dh: &[u8], auth: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    if p256dh.len() != KEY_BYTES || auth.len() != AUTH_BYTES || text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let chance = SystemRandom::new();
    let ours = EphemeralPrivateKey::generate(&ECDH_P256, &chance).ok()?;
    let our_key = ours.compute_public_key().ok()?;
    let theirs = UnparsedPublicKey::new(&ECDH_P256, p256dh);
    let mut secret = [0; 32];
    agree_ephemeral(ours, &theirs, |shared| {
        let info: [&[u8]; 3] = [b"WebPush: info\0", p256dh, our_key.as_ref()];
        derive(auth, shared, &info, &mut secret)
    })
    .ok()??;
    let mut salt = [0; 16];
    chance.fill(&mut salt).ok()?;
    let (mut key, mut nonce) = ([0; 16], [0; 12]);
    derive(&salt, &secret, &[b"Content-Encoding: aes128gcm\0"], &mut key)?;
    derive(&salt, &secret, &[b"Content-Encoding: nonce\0"], &mut nonce)?;
    let mut record = text.to_vec();
    // The mark of the last record.
    record.push(2);
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).ok()?);
    let nonce = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(nonce, Aad::empty(), &mut record).ok()?;
    let mut message = salt.to_vec();
    message.extend(RECORD_BYTES.to_be_bytes());
    message.push(u8::try_from(our_key.as_ref().len()).ok()?);
    message.extend(our_key.as_ref());
    message.extend(record);
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn browser() -> (EphemeralPrivateKey, Vec<u8>) {
        let key = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).unwrap();
        let public = key.compute_public_key().unwrap().as_ref().to_vec();
        (key, public)
    }

    /// Reads a message as a browser does.
    fn decrypt(key: EphemeralPrivateKey, p256dh: &[u8], auth: &[u8], message: &[u8]) -> Vec<u8> {
        let (salt, rest) = message.split_at(16);
        assert_eq!(&rest[..5], [0, 0, 16, 0, 65]);
        let (their_key, record) = rest[5..].split_at(65);
        let theirs = UnparsedPublicKey::new(&ECDH_P256, their_key);
        let mut secret = [0; 32];
        agree_ephemeral(key, &theirs, |shared| {
            let info: [&[u8]; 3] = [b"WebPush: info\0", p256dh, their_key];
            derive(auth, shared, &info, &mut secret).unwrap();
        })
        .unwrap();
        let (mut key, mut nonce) = ([0; 16], [0; 12]);
        derive(salt, &secret, &[b"Content-Encoding: aes128gcm\0"], &mut key).unwrap();
        derive(salt, &secret, &[b"Content-Encoding: nonce\0"], &mut nonce).unwrap();
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
        let mut record = record.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        let plain = key.open_in_place(nonce, Aad::empty(), &mut record).unwrap();
        let (end, text) = plain.split_last().unwrap();
        assert_eq!(*end, 2);
        text.to_vec()
    }

    #[test]
    fn the_browser_reads_what_was_sent_and_each_message_has_its_own_key() {
        let (key, public) = browser();
        let auth = [7; 16];
        let message = encrypt(&public, &auth, "Grüße".as_bytes()).unwrap();
        let again = encrypt(&public, &auth, "Grüße".as_bytes()).unwrap();
        assert_ne!(message[..86], again[..86]);
        assert_eq!(decrypt(key, &public, &auth, &message), "Grüße".as_bytes());
    }

    #[test]
    fn keys_that_are_not_valid_and_long_texts_are_refused() {
        let (_, public) = browser();
        let auth = [7; 16];
        assert!(encrypt(&public[1..], &auth, b"x").is_none());
        assert!(encrypt(&public, &auth[1..], b"x").is_none());
        assert!(encrypt(&[4; 65], &auth, b"x").is_none(), "the point is not on the curve");
        assert!(encrypt(&public, &auth, &[0; TEXT_BYTES_MAX + 1]).is_none());
        let longest = encrypt(&public, &auth, &[0; TEXT_BYTES_MAX]).unwrap();
        assert!(longest.len() <= 4096, "{}", longest.len());
    }
}
