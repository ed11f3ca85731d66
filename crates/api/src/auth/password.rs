//! Passwords, hashed with argon2id (19 MiB, two passes: what OWASP advises). A name without an
//! account costs as much time as one with a wrong password.

use std::sync::LazyLock;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

/// Shorter ones are guessed; NIST's advice is a length and nothing else.
const CHARS_MIN: usize = 8;
/// Longer ones only keep the machine busy.
pub const BYTES_MAX: usize = 1024;

/// Why a password was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    #[error("the password is too short; use 8 characters or more")]
    Short,
    #[error("the password is too long; use at most 1024 bytes")]
    Long,
    #[error("the password could not be hashed")]
    NotHashed,
}

/// A password as it is kept.
pub fn hash(password: &str) -> Result<String, WeakPassword> {
    check(password)?;
    let hashed = Argon2::default().hash_password(password.as_bytes());
    hashed.map(|hash| hash.to_string()).map_err(|_| WeakPassword::NotHashed)
}

/// Whether a password could be taken.
pub fn check(password: &str) -> Result<(), WeakPassword> {
    if password.chars().count() < CHARS_MIN {
        Err(WeakPassword::Short)
    } else if password.len() > BYTES_MAX {
        Err(WeakPassword::Long)
    } else {
        Ok(())
    }
}

/// Whether it is the password that was hashed; without a hash, nothing is, as slowly.
pub fn is(password: &str, hashed: Option<&str>) -> bool {
    static NOBODY: LazyLock<String> = LazyLock::new(|| hash("nobody has this").unwrap_or_default());
    let Ok(parsed) = PasswordHash::new(hashed.unwrap_or(&NOBODY)) else { return false };
    let password = password.as_bytes();
    let right =
        password.len() <= BYTES_MAX && Argon2::default().verify_password(password, &parsed).is_ok();
    right && hashed.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_password_itself_fits_its_hash() {
        let hashed = hash("correct horse").unwrap();
        assert!(hashed.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hashed}");
        assert!(is("correct horse", Some(&hashed)));
        assert!(!is("correct horsf", Some(&hashed)));
        assert!(!is("", Some(&hashed)));
        assert!(!is("nobody has this", None));
        assert!(!is("x", Some("no hash at all")));
        assert_ne!(hash("correct horse").unwrap(), hashed, "each has a salt of its own");
    }

    #[test]
    fn too_short_and_too_long_are_refused() {
        assert_eq!(hash("seven77"), Err(WeakPassword::Short));
        assert_eq!(hash(&"x".repeat(1025)), Err(WeakPassword::Long));
        assert_eq!(check("ä".repeat(8).as_str()), Ok(()));
    }
}
