//! Passwords, hashed with argon2id (19 MiB, two passes, as OWASP advises). A name without an
//! account costs as much time as a wrong password.

use std::sync::{LazyLock, Mutex, PoisonError};

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use subtle::ConstantTimeEq;

/// Shorter passwords are easy to guess. NIST advises a minimum length and no other rule.
const CHARS_MIN: usize = 8;
/// Longer passwords only cost CPU time.
pub const BYTES_MAX: usize = 1024;
/// Buffers that are kept: as many as passwords are checked at once.
const SPARE_MAX: usize = 2;

/// Why a password was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    #[error("the password is too short; use 8 characters or more")]
    Short,
    #[error("the password is too long; use at most 1024 bytes")]
    Long,
    #[error("the password could not be hashed")]
    NotHashed,
}

/// Returns the hash that is stored for a password.
pub fn hash(password: &str) -> Result<String, WeakPassword> {
    check(password)?;
    hashed(password.as_bytes()).ok_or(WeakPassword::NotHashed)
}

fn hashed(password: &[u8]) -> Option<String> {
    let (argon2, salt) = (Argon2::default(), Salt::generate());
    let params = argon2.params();
    let n_bytes = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
    let hash = PasswordHash {
        algorithm: Algorithm::default().ident(),
        version: Some(Version::default().into()),
        params: ParamsString::try_from(params).ok()?,
        hash: Some(output(&argon2, password, &salt, n_bytes)?),
        salt: Some(salt),
    };
    Some(hash.to_string())
}

fn output(argon2: &Argon2<'_>, password: &[u8], salt: &Salt, n_bytes: usize) -> Option<Output> {
    static SPARE: SpareBuffers = SpareBuffers(Mutex::new(Vec::new()));
    let mut bytes = vec![0; n_bytes];
    let n_blocks = argon2.params().block_count();
    let done = SPARE.lend(n_blocks, |memory| {
        argon2.hash_password_into_with_memory(password, salt.as_ref(), &mut bytes, memory)
    });
    done.ok().and_then(|()| Output::new(&bytes).ok())
}

/// Buffers of finished checks, for the next ones. glibc before 2.38 does not reuse aligned memory
/// after it is freed. Without this pool every guess makes the process 19 MB larger.
struct SpareBuffers(Mutex<Vec<Vec<Block>>>);

impl SpareBuffers {
    fn lend<T>(&self, n_blocks: usize, run: impl FnOnce(&mut [Block]) -> T) -> T {
        // A panic of the last user leaves the list of buffers valid.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut memory = lock().pop().unwrap_or_default();
        memory.resize(n_blocks, Block::new());
        let ended = run(&mut memory);
        let mut spare = lock();
        if spare.len() < SPARE_MAX {
            spare.push(memory);
        }
        ended
    }
}

/// Whether a password is long enough and not too long.
pub fn check(password: &str) -> Result<(), WeakPassword> {
    if password.chars().count() < CHARS_MIN {
        Err(WeakPassword::Short)
    } else if password.len() > BYTES_MAX {
        Err(WeakPassword::Long)
    } else {
        Ok(())
    }
}

/// Whether a password matches a hash. Without a hash the answer is false, after the same time.
pub fn is(password: &str, hashed: Option<&str>) -> bool {
    static NOBODY: LazyLock<String> = LazyLock::new(|| hash("nobody has this").unwrap_or_default());
    let Ok(parsed) = PasswordHash::new(hashed.unwrap_or(&NOBODY)) else { return false };
    password.len() <= BYTES_MAX && fits(password.as_bytes(), &parsed) && hashed.is_some()
}

fn fits(password: &[u8], parsed: &PasswordHash) -> bool {
    let (Some(salt), Some(expected)) = (&parsed.salt, &parsed.hash) else { return false };
    let version = parsed.version.map_or(Ok(Version::default()), Version::try_from);
    let algorithm = Algorithm::try_from(parsed.algorithm.as_str());
    let (Ok(algorithm), Ok(version), Ok(params)) = (algorithm, version, Params::try_from(parsed))
    else {
        return false;
    };
    let found = output(&Argon2::new(algorithm, version, params), password, salt, expected.len());
    found.is_some_and(|found| found.as_bytes().ct_eq(expected.as_bytes()).into())
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
    fn the_memory_of_a_check_serves_the_next_one() {
        let spare = SpareBuffers(Mutex::new(Vec::new()));
        let address = |memory: &mut [Block]| memory.as_ptr() as usize;
        let first = spare.lend(100, address);
        assert_eq!(spare.lend(100, address), first);
        let nested = |memory: &mut [Block]| {
            let inner = spare.lend(100, |_| spare.lend(100, |_| spare.lend(100, address)));
            (address(memory), inner)
        };
        let (outer, inner) = spare.lend(100, nested);
        assert!(outer == first && inner != first, "nobody is lent what is in use");
        assert_eq!(spare.0.lock().unwrap().len(), SPARE_MAX);
    }

    #[test]
    fn a_hash_of_the_library_itself_fits() {
        let hash = "$argon2id$v=19$m=16,t=2,p=1$c29tZXNhbHQ$";
        assert!(!is("password", Some(hash)), "a hash without its end fits nothing");
        use argon2::password_hash::PasswordHasher;
        let theirs = Argon2::default().hash_password(b"correct horse").unwrap().to_string();
        assert!(is("correct horse", Some(&theirs)) && !is("correct horsf", Some(&theirs)));
    }

    #[test]
    fn too_short_and_too_long_are_refused() {
        assert_eq!(hash("seven77"), Err(WeakPassword::Short));
        assert_eq!(hash(&"x".repeat(1025)), Err(WeakPassword::Long));
        assert_eq!(check("ä".repeat(8).as_str()), Ok(()));
    }
}
