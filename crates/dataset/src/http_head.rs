//! Heads of HTTP messages as text: reads single fields, and prepares a head for an archive.

/// Fields that describe the transfer. The archived body is decoded, so they would be wrong there.
/// They are kept under another name, as Common Crawl does.
const OF_TRANSFER: [&str; 3] = ["content-encoding", "transfer-encoding", "content-length"];
const RENAMED: &str = "X-Crawler-";

/// Returns the first value of a field. `head` is a status line and header lines.
pub fn field<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    fields(head).find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// Returns the fields of a head that are text.
pub fn fields(head: &[u8]) -> impl Iterator<Item = (&str, &str)> {
    head.split(|byte| *byte == b'\n').skip(1).filter_map(|line| {
        let line = std::str::from_utf8(line).ok()?.trim_end_matches('\r');
        let (name, value) = line.split_once(':')?;
        Some((name.trim(), value.trim()))
    })
}

/// Returns a head for the archive: with the length of the decoded body, and an empty line at its
/// end. A head without a body has no length.
pub fn archived(head: &[u8], body_len: Option<usize>) -> Vec<u8> {
    let mut archived = Vec::with_capacity(head.len() + 64);
    for (i, line) in head.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        let is_renamed = |known: &&str| i > 0 && name.eq_ignore_ascii_case(known.as_bytes());
        if OF_TRANSFER.iter().any(is_renamed) {
            archived.extend(RENAMED.as_bytes());
        }
        archived.extend(line);
        archived.extend(b"\r\n");
    }
    if let Some(len) = body_len {
        archived.extend(format!("Content-Length: {len}\r\n").as_bytes());
    }
    archived.extend(b"\r\n");
    archived
}

/// Returns the head that [`archived`] was made from. `has_length` says that it was given a length.
pub fn restored(archived: &[u8], has_length: bool) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = archived
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.is_empty())
        .collect();
    if has_length {
        lines.pop();
    }
    let mut head = Vec::with_capacity(archived.len());
    for line in lines {
        head.extend(line.strip_prefix(RENAMED.as_bytes()).unwrap_or(line));
        head.extend(b"\r\n");
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nETag: \"a:b\"\r\ncontent-encoding: gzip\r\n\
        Content-Length: 99\r\nX-Odd: \xff\r\n";

    #[test]
    fn fields_are_found_in_any_case() {
        assert_eq!(field(HEAD, "etag"), Some("\"a:b\""));
        assert_eq!(field(HEAD, "date"), None);
        assert_eq!(fields(HEAD).count(), 3);
    }

    #[test]
    fn fields_of_the_transfer_are_renamed_and_the_length_is_true() {
        let archived = archived(HEAD, Some(7));
        let text = String::from_utf8_lossy(&archived);
        assert!(text.starts_with(
            "HTTP/1.1 200 OK\r\nETag: \"a:b\"\r\nX-Crawler-content-encoding: gzip\r\n"
        ));
        assert!(text.ends_with("Content-Length: 7\r\n\r\n"), "{text}");
        assert!(archived.windows(8).any(|w| w == b"X-Odd: \xff"));
        assert_eq!(restored(&archived, true), HEAD);
        assert_eq!(restored(&super::archived(HEAD, None), false), HEAD);
        assert!(String::from_utf8_lossy(&super::archived(HEAD, None)).ends_with("\r\n\r\n"));
    }
}
