//! The pairs of a form or of what stands behind a `?`, read up to a limit of fields. Two bytes
//! become a pair of 48, so the bytes that are taken do not bound the memory by themselves.

use url::form_urlencoded;

/// What is read before anybody has proven who they are: a name, a password or a token and an
/// address. It is parsed where it is read, which takes some microseconds.
pub const STRANGER_BYTES_MAX: usize = 16 << 10;
pub const STRANGER_FIELDS_MAX: usize = 64;
/// What is larger is parsed on a thread that may be slow.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// A form has more fields than are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyFields;

pub type FormPairs = Vec<(String, String)>;

/// Reads pairs, or refuses them before any is made.
pub fn read(bytes: &[u8], fields_max: usize) -> Result<FormPairs, TooManyFields> {
    if bytes.iter().filter(|byte| **byte == b'&').count() >= fields_max {
        return Err(TooManyFields);
    }
    Ok(form_urlencoded::parse(bytes).into_owned().collect())
}

/// The same for what may be long.
pub async fn read_long(
    bytes: impl AsRef<[u8]> + Send + 'static,
    fields_max: usize,
) -> Result<FormPairs, TooManyFields> {
    if bytes.as_ref().len() <= INLINE_BYTES_MAX {
        return read(bytes.as_ref(), fields_max);
    }
    let read = tokio::task::spawn_blocking(move || read(bytes.as_ref(), fields_max));
    // Joining fails only where the runtime ends; then nobody is answered.
    read.await.unwrap_or(Err(TooManyFields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_fields_than_the_limit_are_refused_and_empty_ones_count() {
        assert_eq!(read(b"a=1&b=%20", 2).map(|pairs| pairs.len()), Ok(2));
        assert_eq!(read(b"a&b&c", 2), Err(TooManyFields));
        assert_eq!(read(b"&&", 2), Err(TooManyFields));
        assert_eq!(read(b"", 1), Ok(Vec::new()));
    }

    #[tokio::test]
    async fn long_forms_are_read_as_short_ones_are() {
        let long = "a=1&".repeat(100_000);
        assert_eq!(read_long(long.clone(), 200_000).await.map(|pairs| pairs.len()), Ok(100_000));
        assert_eq!(read_long(long, 1000).await, Err(TooManyFields));
    }
}
