//! Documents and encodings for the servers: RSS from a pattern, and gzip and brotli written by
//! hand, so that the program's decoders are not tested with themselves.

use std::fmt::Write as _;

/// Returns an RSS document of `n` items whose guid, link and title contain `name`.
pub fn rss(name: &str, n: usize) -> String {
    rss_of(name, 0..n)
}

/// Returns the items of a range of numbers, the highest first.
pub fn rss_of(name: &str, range: std::ops::Range<usize>) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel>\
         <title>Feed {name}</title><link>http://example.org/{name}</link>\
         <description>Made for a test</description>\n"
    );
    for i in range.rev() {
        let (day, hour) = (1 + i / 24 % 28, i % 24);
        let _ = writeln!(
            text,
            "<item><title>Item {i} of {name}</title><link>http://example.org/{name}/{i}</link>\
             <guid isPermaLink=\"false\">{name}-{i}</guid>\
             <pubDate>{day:02} Jan 2024 {hour:02}:00:00 GMT</pubDate>\
             <description>Text of item {i}.</description></item>"
        );
    }
    text + "</channel></rss>\n"
}

/// Returns OPML with these feeds.
pub fn opml<'a>(urls: impl IntoIterator<Item = &'a String>) -> String {
    let mut text = "<opml version=\"2.0\"><head><title>t</title></head><body>\n".to_owned();
    for url in urls {
        let url = url.replace('&', "&amp;");
        let _ = writeln!(text, "<outline type=\"rss\" text=\"{url}\" xmlUrl=\"{url}\"/>");
    }
    text + "</body></opml>\n"
}

/// gzip with stored blocks.
pub fn gzip(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut chunks = data.chunks(0xffff).peekable();
    while let Some(chunk) = chunks.next() {
        out.push(u8::from(chunks.peek().is_none()));
        let len = u16::try_from(chunk.len()).unwrap();
        out.extend(len.to_le_bytes());
        out.extend((!len).to_le_bytes());
        out.extend(chunk);
    }
    out.extend(crc32(data.iter().copied()).to_le_bytes());
    out.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
    out
}

/// gzip of `n` spaces after `head`: 13 bits for every 258 of them.
pub fn gzip_bomb(head: &[u8], n: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(1, 1); // the last block
    bits.push(1, 2); // of the fixed code
    for byte in head.iter().chain(b" ") {
        bits.push_code(u32::from(*byte) + 0x30, 8); // literals below 144
    }
    for _ in 0..n / 258 {
        bits.push_code(0b1100_0101, 8); // length 258
        bits.push_code(0, 5); // distance 1
    }
    bits.push_code(0, 7); // the end
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    out.extend(bits.bytes);
    let size = head.len() + 1 + n / 258 * 258;
    let all = head.iter().copied().chain(std::iter::repeat_n(b' ', size - head.len()));
    out.extend(crc32(all).to_le_bytes());
    out.extend(u32::try_from(size).unwrap().to_le_bytes());
    out
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    /// Least significant bit first, as deflate writes numbers.
    fn push(&mut self, value: u32, n: u32) {
        for i in 0..n {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let bit = (value >> i & 1) as u8;
            if let Some(last) = self.bytes.last_mut() {
                *last |= bit << (self.used % 8);
            }
            self.used += 1;
        }
    }

    /// Most significant bit first, as deflate writes codes.
    fn push_code(&mut self, code: u32, n: u32) {
        (0..n).rev().for_each(|i| self.push(code >> i & 1, 1));
    }
}

fn crc32(data: impl Iterator<Item = u8>) -> u32 {
    let table: Vec<u32> = (0..256_u32)
        .map(|n| (0..8).fold(n, |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 }))
        .collect();
    !data.fold(!0_u32, |crc, byte| table[usize::from((crc as u8) ^ byte)] ^ (crc >> 8))
}

/// brotli with uncompressed blocks (RFC 7932, section 9.2).
pub fn brotli(data: &[u8]) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0, 1); // window of 16 bits
    for chunk in data.chunks(0x1_0000) {
        bits.push(0, 1); // not the last block
        bits.push(0, 2); // the length has four nibbles
        bits.push(u32::try_from(chunk.len() - 1).unwrap(), 16);
        bits.push(1, 1); // uncompressed
        bits.used = bits.used.next_multiple_of(8);
        bits.bytes.extend(chunk);
        bits.used += u32::try_from(chunk.len() * 8).unwrap();
    }
    bits.push(3, 2); // last and empty
    bits.bytes
}

/// Writes a time as in HTTP.
pub fn http_date(secs: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let is_leap = |y: u64| (y.is_multiple_of(4) && !y.is_multiple_of(100)) || y.is_multiple_of(400);
    let (days, rest) = (secs / 86400, secs % 86400);
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let feb = 28 + u64::from(is_leap(year));
    let mut month = 0;
    for length in [31, feb, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let name = DAYS[usize::try_from(days % 7).unwrap()];
    let (h, m, s) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{name}, {:02} {} {year} {h:02}:{m:02}:{s:02} GMT", day + 1, MONTHS[month])
}

#[test]
fn the_check_sum_and_the_date_are_those_of_the_standards() {
    assert_eq!(crc32(b"123456789".iter().copied()), 0xcbf4_3926);
    assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(http_date(951_827_696), "Tue, 29 Feb 2000 12:34:56 GMT");
}
