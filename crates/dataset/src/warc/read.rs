//! Reads the archives that this crate writes, poll by poll. The `metadata` record of a poll is its
//! last one. Records of other kinds are skipped.

use std::io::{self, BufRead, Read};

use feed::Time;

use crate::http_head;

/// The longest head of a record.
const HEAD_BYTES_MAX: u64 = 256 * 1024;
/// The longest block of a record: a document with its head.
const BLOCK_BYTES_MAX: u64 = 100_000_000;

/// A poll as an archive holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivedExchange {
    /// The number of the feed in the data set.
    pub feed: u64,
    pub at: Time,
    pub url: String,
    pub hops: u32,
    pub remote: Option<String>,
    pub request: Vec<u8>,
    pub head: Vec<u8>,
    /// `None`: there was none, or it is the same as before.
    pub body: Option<Vec<u8>>,
}

/// Reads an archive that is decompressed already.
pub struct ArchiveReader<R> {
    input: R,
}

/// One record.
struct WarcRecord {
    head: String,
    block: Vec<u8>,
}

impl WarcRecord {
    fn field(&self, name: &str) -> Option<&str> {
        http_head::field(self.head.as_bytes(), name)
    }
}

impl<R: BufRead> ArchiveReader<R> {
    pub fn new(input: R) -> ArchiveReader<R> {
        ArchiveReader { input }
    }

    /// Returns the next poll; `None` at the end.
    pub fn next_exchange(&mut self) -> io::Result<Option<ArchivedExchange>> {
        let mut found = ArchivedExchange::default();
        while let Some(record) = self.record()? {
            match record.field("WARC-Type").unwrap_or_default() {
                kind @ ("response" | "revisit") => answer(&record, kind, &mut found)?,
                "request" => found.request = http_head::restored(&record.block, false),
                "metadata" => {
                    facts(&record, &mut found)?;
                    return Ok(Some(found));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn record(&mut self) -> io::Result<Option<WarcRecord>> {
        let mut head = String::new();
        loop {
            let room = HEAD_BYTES_MAX.saturating_sub(head.len() as u64);
            let n = (&mut self.input).take(room).read_line(&mut head)?;
            if n == 0 && head.is_empty() {
                return Ok(None);
            }
            if n == 0 {
                return Err(broken("the head of a record is not complete"));
            }
            if head == "\r\n" {
                // The empty lines after the record before.
                head.clear();
            } else if head.ends_with("\r\n\r\n") {
                break;
            }
        }
        if !head.starts_with("WARC/1.") {
            return Err(broken("a record does not begin with WARC/1"));
        }
        let mut record = WarcRecord { head, block: Vec::new() };
        let len = record.field("Content-Length").and_then(|len| len.parse::<u64>().ok());
        let len = len.filter(|len| *len <= BLOCK_BYTES_MAX);
        let len = len.ok_or_else(|| broken("a record has no length, or is too long"))?;
        (&mut self.input).take(len).read_to_end(&mut record.block)?;
        if record.block.len() as u64 != len {
            return Err(broken("a record is not complete"));
        }
        if let Some(digest) = record.field("WARC-Block-Digest")
            && digest.starts_with("sha1:")
            && digest != super::digest(&record.block)
        {
            return Err(broken("a record has another digest than its block"));
        }
        Ok(Some(record))
    }
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn answer(record: &WarcRecord, kind: &str, found: &mut ArchivedExchange) -> io::Result<()> {
    let at = record.field("WARC-Date").and_then(|at| at.parse().ok());
    found.at = at.ok_or_else(|| broken("a record has no date"))?;
    found.url = record.field("WARC-Target-URI").unwrap_or_default().to_owned();
    found.remote = record.field("WARC-IP-Address").map(str::to_owned);
    let end = record.block.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or_else(|| broken("an answer has no head"))?;
    let (head, body) = record.block.split_at(end + 4);
    // A cut body without bytes was not kept. The beginning of an error's body was.
    let is_kept = record.field("WARC-Truncated").is_none() || !body.is_empty();
    found.head = http_head::restored(head, kind == "response");
    found.body = (kind == "response" && is_kept).then(|| body.to_vec());
    Ok(())
}

fn facts(record: &WarcRecord, found: &mut ArchivedExchange) -> io::Result<()> {
    let facts: serde_json::Value = serde_json::from_slice(&record.block)?;
    let number = |name: &str| facts[name].as_u64();
    found.feed = number("feed").ok_or_else(|| broken("a poll does not name its feed"))?;
    found.hops = number("hops").and_then(|hops| u32::try_from(hops).ok()).unwrap_or(0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Vec<ArchivedExchange>> {
        let input = BufReader::new(flate2::read::MultiGzDecoder::new(bytes));
        let mut reader = ArchiveReader::new(input);
        let mut found = Vec::new();
        while let Some(exchange) = reader.next_exchange()? {
            found.push(exchange);
        }
        Ok(found)
    }

    #[test]
    fn what_was_written_is_read_again() {
        let bytes = super::super::tests::archive();
        let found = read(&bytes).unwrap();
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].feed, found[0].hops), (1, 2));
        assert_eq!(found[0].at.millis(), 1_310_792_400_123);
        assert_eq!(found[0].body.as_deref(), Some(&b"<rss/>"[..]));
        assert_eq!(found[0].request, b"GET /feed HTTP/1.1\r\nHost: example.org\r\n");
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n";
        assert_eq!(found[0].head, head);
        assert_eq!((found[1].body.as_ref(), found[1].remote.as_deref()), (None, Some("192.0.2.1")));
        assert_eq!(found[1].head, b"HTTP/1.1 304 Not Modified\r\n");
    }

    #[test]
    fn a_cut_or_changed_archive_is_refused() {
        let bytes = super::super::tests::archive();
        assert!(read(&bytes[..bytes.len() - 20]).is_err());
        let mut text = Vec::new();
        flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
        let place = text.windows(6).position(|six| six == b"<rss/>").unwrap();
        text[place] = b'?';
        assert!(ArchiveReader::new(&text[..]).next_exchange().is_err());
    }
}
