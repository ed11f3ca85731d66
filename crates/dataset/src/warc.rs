//! Writes WARC 1.1 archives: one gzip member for each record, so that a reader can start at any
//! offset. It knows the records of a feed archive: `warcinfo`, `response`, `request`, `revisit` and
//! `metadata`. The same records give the same bytes: names of records are digests.
//!
//! It does not decide which record a poll becomes; [`WarcExchange`] says it.

mod read;

use std::fmt::Write as _;
use std::io::{self, Write};

use feed::Time;
use flate2::{Compression, GzBuilder};
use sha1::Digest;

use crate::http_head;
use crate::tables::stamp;

pub use read::{ArchiveReader, ArchivedExchange};

/// Files of an archive are closed at about this size, as the WARC specification advises.
pub const FILE_BYTES_MAX: u64 = 1_000_000_000;

const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
const IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// One poll as it is archived.
pub struct WarcExchange<'a> {
    /// Names the poll within the data set; the names of its records follow from it.
    pub name: String,
    pub url: &'a str,
    /// When the request was sent.
    pub at: Time,
    pub address: Option<&'a str>,
    pub protocol: Option<&'a str>,
    /// The head of the request, with secrets masked.
    pub request: &'a [u8],
    /// The head of the answer.
    pub head: &'a [u8],
    pub payload: WarcPayload<'a>,
    /// Whether the body was longer than what is archived.
    pub is_cut: bool,
    /// Our own facts about the poll, as JSON.
    pub metadata: Option<String>,
}

/// The body of an archived answer.
#[derive(Clone, Copy)]
pub enum WarcPayload<'a> {
    /// A body that was not archived before, or none at all.
    Body(&'a [u8]),
    /// A 304: the body is that of an earlier record.
    NotModified(&'a RecordRef),
    /// A body with the digest of an earlier record.
    Same(&'a RecordRef),
}

/// An archived body, as later records refer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordRef {
    pub id: String,
    pub url: String,
    pub at: Time,
    pub payload_digest: String,
    /// The place of its record in the file.
    pub offset: u64,
    pub len: u64,
}

/// Writes the records of one file.
pub struct WarcWriter<W> {
    out: W,
    n_written: u64,
}

impl<W: Write> WarcWriter<W> {
    /// Begins a file. `info` are the fields of its first record.
    pub fn begin(out: W, file: &str, at: Time, info: &[(&str, &str)]) -> io::Result<WarcWriter<W>> {
        let mut writer = WarcWriter { out, n_written: 0 };
        let mut block = String::new();
        for (name, value) in info {
            // Writing to a string cannot fail.
            let _ = write!(block, "{name}: {}\r\n", value.replace(['\r', '\n'], " "));
        }
        let mut head = WarcHead::new("warcinfo", &record_id(file, "warcinfo"), at);
        head.add("WARC-Filename", file);
        head.add("Content-Type", "application/warc-fields");
        writer.record(head, block.as_bytes())?;
        Ok(writer)
    }

    /// Writes the records of a poll. Returns the reference to its body, if it has a new one.
    pub fn exchange(&mut self, exchange: &WarcExchange<'_>) -> io::Result<Option<RecordRef>> {
        let answer_id = record_id(&exchange.name, "answer");
        let kept = match exchange.payload {
            WarcPayload::Body(body) => Some(self.response(exchange, &answer_id, body)?),
            WarcPayload::NotModified(of) => {
                self.revisit(exchange, &answer_id, NOT_MODIFIED, of)?;
                None
            }
            WarcPayload::Same(of) => {
                self.revisit(exchange, &answer_id, IDENTICAL, of)?;
                None
            }
        };
        if !exchange.request.is_empty() {
            let id = record_id(&exchange.name, "request");
            let mut head = WarcHead::of(exchange, "request", &id);
            head.add("WARC-Concurrent-To", &answer_id);
            head.add("Content-Type", "application/http;msgtype=request");
            self.record(head, &http_head::archived(exchange.request, None))?;
        }
        if let Some(metadata) = &exchange.metadata {
            let id = record_id(&exchange.name, "metadata");
            let mut head = WarcHead::of(exchange, "metadata", &id);
            head.add("WARC-Concurrent-To", &answer_id);
            head.add("Content-Type", "application/json");
            self.record(head, metadata.as_bytes())?;
        }
        Ok(kept)
    }

    fn response(
        &mut self,
        exchange: &WarcExchange<'_>,
        id: &str,
        body: &[u8],
    ) -> io::Result<RecordRef> {
        let payload_digest = digest(body);
        let mut head = WarcHead::of(exchange, "response", id);
        head.add("WARC-Payload-Digest", &payload_digest);
        if exchange.is_cut {
            head.add("WARC-Truncated", "length");
        }
        head.add("Content-Type", "application/http;msgtype=response");
        let mut block = http_head::archived(exchange.head, Some(body.len()));
        block.extend(body);
        let offset = self.n_written;
        self.record(head, &block)?;
        Ok(RecordRef {
            id: id.to_owned(),
            url: exchange.url.to_owned(),
            at: exchange.at,
            payload_digest,
            offset,
            len: self.n_written - offset,
        })
    }

    fn revisit(
        &mut self,
        exchange: &WarcExchange<'_>,
        id: &str,
        profile: &str,
        of: &RecordRef,
    ) -> io::Result<()> {
        let mut head = WarcHead::of(exchange, "revisit", id);
        head.add("WARC-Profile", profile);
        if profile == IDENTICAL {
            head.add("WARC-Payload-Digest", &of.payload_digest);
            head.add("WARC-Truncated", "length");
        }
        head.add("WARC-Refers-To", &of.id);
        head.add("WARC-Refers-To-Target-URI", &of.url);
        head.add("WARC-Refers-To-Date", &stamp(of.at));
        head.add("Content-Type", "application/http;msgtype=response");
        self.record(head, &http_head::archived(exchange.head, None))
    }

    fn record(&mut self, mut head: WarcHead, block: &[u8]) -> io::Result<()> {
        head.add("WARC-Block-Digest", &digest(block));
        head.add("Content-Length", &block.len().to_string());
        // Neither a time nor a name: the same record gives the same bytes.
        let mut member = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
        member.write_all(head.0.as_bytes())?;
        member.write_all(b"\r\n")?;
        member.write_all(block)?;
        member.write_all(b"\r\n\r\n")?;
        let bytes = member.finish()?;
        self.out.write_all(&bytes)?;
        self.n_written += bytes.len() as u64;
        Ok(())
    }

    /// Returns the size of the file so far.
    pub fn n_written(&self) -> u64 {
        self.n_written
    }

    /// Returns the file behind the records.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// The head of a record.
struct WarcHead(String);

impl WarcHead {
    fn new(kind: &str, id: &str, at: Time) -> WarcHead {
        let at = stamp(at);
        WarcHead(format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {id}\r\nWARC-Date: {at}\r\n"
        ))
    }

    fn of(exchange: &WarcExchange<'_>, kind: &str, id: &str) -> WarcHead {
        let mut head = WarcHead::new(kind, id, exchange.at);
        head.add("WARC-Target-URI", exchange.url);
        if let Some(address) = exchange.address {
            head.add("WARC-IP-Address", address);
        }
        if let Some(protocol) = exchange.protocol {
            head.add("WARC-Protocol", protocol);
        }
        head
    }

    fn add(&mut self, name: &str, value: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{name}: {}\r\n", value.replace(['\r', '\n'], " "));
    }
}

/// Returns the name of a record: a UUID of version 8, made from a digest.
fn record_id(name: &str, kind: &str) -> String {
    let digest: [u8; 20] = sha1::Sha1::digest(format!("{kind} {name}")).into();
    let mut id: [u8; 16] = std::array::from_fn(|i| digest[i]);
    id[6] = id[6] & 0x0f | 0x80;
    id[8] = id[8] & 0x3f | 0x80;
    let hex = crate::sample::hex(&id);
    let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    format!("<urn:uuid:{a}-{b}-{c}-{d}-{e}>")
}

/// Returns a digest as archives write it: SHA-1 in base 32.
pub fn digest(bytes: &[u8]) -> String {
    let digest: [u8; 20] = sha1::Sha1::digest(bytes).into();
    format!("sha1:{}", base32(&digest))
}

fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut text = String::new();
    for group in bytes.chunks(5) {
        let bits = group.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        let bits = bits << (8 * (5 - group.len()));
        let n_digits = (group.len() * 8).div_ceil(5);
        for i in 0..n_digits {
            text.push(char::from(DIGITS[(bits >> (35 - 5 * i) & 31) as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn digests_are_in_base_32() {
        // The examples of RFC 4648 without padding, and the SHA-1 of nothing.
        assert_eq!(base32(b"foobar"), "MZXW6YTBOI");
        assert_eq!(base32(b"fooba"), "MZXW6YTB");
        assert_eq!(digest(b""), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    }

    pub(super) fn archive() -> Vec<u8> {
        let info = [("software", "Tidings"), ("format", "WARC File Format 1.1")];
        let at = Time::from_millis(1_310_792_400_123);
        let mut writer = WarcWriter::begin(Vec::new(), "x.warc.gz", at, &info).unwrap();
        let mut exchange = WarcExchange {
            name: "1 1".to_owned(),
            url: "http://example.org/feed",
            at,
            address: Some("192.0.2.1"),
            protocol: Some("http/1.1"),
            request: b"GET /feed HTTP/1.1\r\nHost: example.org\r\n",
            head: b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n",
            payload: WarcPayload::Body(b"<rss/>"),
            is_cut: false,
            metadata: Some("{\"feed\":1,\"hops\":2}".to_owned()),
        };
        let body = writer.exchange(&exchange).unwrap().unwrap();
        exchange.name = "1 2".to_owned();
        exchange.head = b"HTTP/1.1 304 Not Modified\r\n";
        exchange.payload = WarcPayload::NotModified(&body);
        assert_eq!(writer.exchange(&exchange).unwrap(), None);
        exchange.name = "1 3".to_owned();
        exchange.payload = WarcPayload::Same(&body);
        assert_eq!(writer.exchange(&exchange).unwrap(), None);
        let n_written = writer.n_written();
        let bytes = writer.into_inner();
        assert_eq!(bytes.len() as u64, n_written);
        // A reader can begin at the record of the body.
        let mut text = String::new();
        let mut member = flate2::read::GzDecoder::new(&bytes[body.offset as usize..]);
        member.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("WARC/1.1\r\nWARC-Type: response\r\n"), "{text}");
        assert!(text.ends_with("\r\nContent-Length: 6\r\n\r\n<rss/>\r\n\r\n"), "{text}");
        bytes
    }

    #[test]
    fn records_refer_to_the_body_and_the_bytes_repeat() {
        let bytes = archive();
        assert_eq!(bytes, archive());
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        let n = |part: &str| text.matches(part).count();
        assert_eq!(
            (n("WARC/1.1\r\n"), n("WARC-Type: revisit"), n("WARC-Type: request")),
            (10, 2, 3)
        );
        assert_eq!(n("WARC-Refers-To-Date: 2011-07-16T05:00:00.123Z"), 2);
        assert_eq!((n(NOT_MODIFIED), n(IDENTICAL)), (1, 1));
    }
}
