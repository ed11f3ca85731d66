//! The media type of a picture, found by its first bytes. The type that a server claims is ignored.
//! SVG is not accepted, because it can hold scripts and links.

/// Returns the media type, or `None` if the bytes are not a picture that we pass on.
pub fn sniffed(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        // The brand may also follow later, after the brand of the container.
        [_, _, _, size, b'f', b't', b'y', b'p', rest @ ..] => {
            let brands = &rest[..rest.len().min(usize::from(size.saturating_sub(8)))];
            let is_avif = |brand: &[u8]| matches!(brand, b"avif" | b"avis");
            brands.chunks_exact(4).any(is_avif).then_some("image/avif")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_first_bytes() {
        let known: [(&[u8], &str); 6] = [
            (b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a;", "image/gif"),
            (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
            (b"\0\0\0\x18ftypavif\0\0\0\0mif1avif", "image/avif"),
            (b"\0\0\0\x18ftypmif1\0\0\0\0avifmiaf", "image/avif"),
        ];
        for (bytes, kind) in known {
            assert_eq!(sniffed(bytes), Some(kind));
        }
    }

    #[test]
    fn everything_else_is_none() {
        let others: [&[u8]; 8] = [
            b"",
            b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>",
            b"<?xml version=\"1.0\"?><svg/>",
            b"<html>",
            b"\0\0\0\x18ftypmp42\0\0\0\0isomavc1",
            b"\0\0\0\x04ftypavif",
            b"RIFF\x10\0\0\0WAVEfmt ",
            b"GIF",
        ];
        for bytes in others {
            assert_eq!(sniffed(bytes), None, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
