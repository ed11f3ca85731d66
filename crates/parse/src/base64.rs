//! Decodes the base64 that Atom allows in text. White space is skipped. Any other foreign character
//! makes the whole text invalid.

pub(crate) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits = 0_u32;
    let mut n_bits = 0;
    for b in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => continue,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
            bits &= (1 << n_bits) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn padded_and_broken_lines_are_decoded_and_garbage_is_not() {
        assert_eq!(
            decode("RXhhbXBsZSA8Yj5B\ndG9tPC9iPg==").as_deref(),
            Some("Example <b>Atom</b>")
        );
        assert_eq!(decode("<b>"), None);
        assert_eq!(decode("/////w=="), None);
    }
}
