//! Fields of a form or of a query string, read up to a limit. Two bytes become a pair of 48 bytes,
//! so a limit on bytes alone does not bound the memory.

use url::form_urlencoded;

/// Limits for clients that have not logged in: enough for a name, a password or token, and an
/// address. So little is parsed at once, which takes microseconds.
pub const STRANGER_BYTES_MAX: usize = 16 << 10;
pub const STRANGER_FIELDS_MAX: usize = 64;
/// Larger bodies are parsed on a blocking thread.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// A form has more fields than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyFields;

pub type FormPairs = Vec<(String, String)>;

/// Reads pairs, or refuses all of them if there are too many.
pub fn read(bytes: &[u8], fields_max: usize) -> Result<FormPairs, TooManyFields> {
    if bytes.iter().filter(|byte| **byte == b'&').count() >= fields_max {
        return Err(TooManyFields);
    }
    Ok(form_urlencoded::parse(bytes).into_owned().collect())
}

/// Reads pairs of a body that may be long.
pub async fn read_long(
    bytes: impl AsRef<[u8]> + Send + 'static,
    fields_max: usize,
) -> Result<FormPairs, TooManyFields> {
    if bytes.as_ref().len() <= INLINE_BYTES_MAX {
        return read(bytes.as_ref(), fields_max);
    }
    let read = tokio::task::spawn_blocking(move || read(bytes.as_ref(), fields_max));
    // Joining fails only when the runtime ends.
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
