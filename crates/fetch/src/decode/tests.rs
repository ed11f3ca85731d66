//! Bodies as servers send them, correct and wrong.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::{DecodeError, Decoder};

const BYTES_MAX: usize = 100_000;

fn sample() -> Vec<u8> {
    let items: String = (0..500).map(|n| format!("<item><guid>{n}</guid></item>")).collect();
    format!("<?xml version=\"1.0\"?><rss>{items}</rss>").into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// `<rss></rss>` and ten million zeros, made once by an encoder.
const BROTLI_SMALL: &[u8] = include_bytes!("../../tests/data/small.br");
const BROTLI_BOMB: &[u8] = include_bytes!("../../tests/data/zeros-10mb.br");

fn decode_by(step: usize, label: &str, wire: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut decoder = Decoder::new(label, BYTES_MAX)?;
    for chunk in wire.chunks(step) {
        decoder.push(chunk)?;
    }
    decoder.finish()
}

/// Decodes in chunks of several sizes. All results must be equal.
#[track_caller]
fn decode(label: &str, wire: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let whole = decode_by(usize::MAX, label, wire);
    for step in [1, 2, 3, 7, 1000] {
        let stepped = decode_by(step, label, wire);
        assert_eq!(stepped.is_ok(), whole.is_ok(), "{label} by {step}: {stepped:?}");
        if let (Ok(a), Ok(b)) = (&stepped, &whole) {
            assert_eq!(a, b, "{label} by {step}");
        }
    }
    whole
}

#[track_caller]
fn assert_garbage(label: &str, wire: &[u8]) {
    assert!(matches!(decode(label, wire), Err(DecodeError::Garbage(_))), "{label}");
}

#[test]
fn every_encoding_we_ask_for_is_undone() {
    let body = sample();
    for (label, wire) in [
        ("", body.clone()),
        ("identity", body.clone()),
        ("gzip", gzip(&body)),
        ("X-GZIP", gzip(&body)),
        ("deflate", zlib(&body)),
        ("zstd", zstandard(&body)),
    ] {
        assert_eq!(decode(label, &wire).unwrap(), body, "{label}");
    }
    assert_eq!(decode("br", BROTLI_SMALL).unwrap(), b"<rss></rss>");
}

#[test]
fn bare_deflate_passes_for_deflate() {
    assert_eq!(decode("deflate", &raw_deflate(&sample())).unwrap(), sample());
}

#[test]
fn encodings_on_top_of_each_other_are_undone_in_turn() {
    let body = sample();
    assert_eq!(decode("gzip, gzip", &gzip(&gzip(&body))).unwrap(), body);
    assert_eq!(decode("gzip", &gzip(&gzip(&body))).unwrap(), body, "only one is declared");
    assert_eq!(decode("gzip, zstd", &zstandard(&gzip(&body))).unwrap(), body);
    assert_eq!(decode("gzip, gzip", &gzip(&body)).unwrap(), body, "only one was made");
    assert_garbage("gzip, gzip, gzip, gzip", &gzip(&body));
}

#[test]
fn a_plain_body_is_taken_whatever_its_label() {
    let body = sample();
    let marked = [b"\xef\xbb\xbf \n".as_slice(), &body].concat();
    for label in ["gzip", "deflate", "br", "zstd", "utf-8", "none", "gzip, br"] {
        assert_eq!(decode(label, &body).unwrap(), body, "{label}");
        assert_eq!(decode(label, &marked).unwrap(), marked, "{label}");
        assert_eq!(decode(label, b"{\"version\": 1}").unwrap(), b"{\"version\": 1}", "{label}");
        assert_eq!(decode(label, b"").unwrap(), b"", "{label}");
    }
}

#[test]
fn gzip_that_nobody_declared_is_undone() {
    assert_eq!(decode("", &gzip(&sample())).unwrap(), sample());
    assert_eq!(decode("deflate", &gzip(&sample())).unwrap(), sample());
    assert_eq!(decode("utf-8", &gzip(&sample())).unwrap(), sample());
}

#[test]
fn bytes_that_are_not_what_the_label_says_are_refused() {
    let noise: Vec<u8> =
        (0..2000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for label in ["gzip", "zstd", "br", "deflate", "compress"] {
        assert_garbage(label, &noise);
    }
    assert_eq!(decode("", &noise).unwrap(), noise, "without a label the bytes are what they are");
}

#[test]
fn a_stream_that_is_cut_is_refused() {
    for (label, wire) in [
        ("gzip", gzip(&sample())),
        ("deflate", zlib(&sample())),
        ("deflate", raw_deflate(&sample())),
        ("zstd", zstandard(&sample())),
        ("br", BROTLI_SMALL.to_vec()),
    ] {
        for cut in [wire.len() - 1, wire.len() / 2, 5] {
            assert_garbage(label, &wire[..cut]);
        }
    }
}

#[test]
fn a_stream_with_flipped_bits_is_refused() {
    let mut wire = gzip(&sample());
    let middle = wire.len() / 2;
    wire[middle] ^= 0xff;
    assert_garbage("gzip", &wire);
}

#[test]
fn padding_after_the_stream_is_ignored() {
    for (label, wire) in [
        ("gzip", gzip(&sample())),
        ("deflate", zlib(&sample())),
        ("deflate", raw_deflate(&sample())),
    ] {
        let padded = [wire.as_slice(), b"\0\0\0\0 trailing"].concat();
        assert_eq!(decode(label, &padded).unwrap(), sample(), "{label}");
    }
    let padded = [BROTLI_SMALL, b"\r\n"].concat();
    assert_eq!(decode("br", &padded).unwrap(), b"<rss></rss>");
}

#[test]
fn gzip_members_in_a_row_are_one_body() {
    let (first, second) = (gzip(b"<rss>"), gzip(b"</rss>"));
    assert_eq!(decode("gzip", &[first, second].concat()).unwrap(), b"<rss></rss>");
    let tiny = gzip(b"");
    assert_eq!(decode("gzip", &tiny.repeat(5000)).unwrap(), b"", "members do not recurse");
}

#[test]
fn bombs_are_refused_before_they_unfold() {
    let zeros = vec![b' '; 10_000_000];
    for (label, wire) in [
        ("gzip", gzip(&zeros)),
        ("gzip", gzip(&gzip(&zeros))),
        ("deflate", zlib(&zeros)),
        ("deflate", raw_deflate(&zeros)),
        ("zstd", zstandard(&zeros)),
        ("br", BROTLI_BOMB.to_vec()),
        ("", zeros.clone()),
    ] {
        assert_eq!(decode_by(1000, label, &wire), Err(DecodeError::TooLarge), "{label}");
        assert_eq!(decode_by(usize::MAX, label, &wire), Err(DecodeError::TooLarge), "{label}");
    }
}

/// Streams without any output. They would never end if the bytes that arrive were not counted.
#[test]
fn endless_streams_without_output_are_refused_at_the_limit() {
    // An empty stored block (not the last one) of deflate, aligned to a byte.
    let deflate_block = [0x00, 0x00, 0x00, 0xff, 0xff];
    let gzip_head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    // A skippable frame of zstd without content, after a frame that is empty too.
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];
    // An empty metadata block of brotli, aligned to a byte (RFC 7932, 9.2).
    let metadata = [0x0c];
    for (label, head, piece) in [
        ("gzip", Vec::new(), gzip(b"")),
        ("gzip", gzip_head.to_vec(), deflate_block.to_vec()),
        ("deflate", Vec::new(), deflate_block.to_vec()),
        ("zstd", zstandard(b""), skippable.to_vec()),
        ("br", vec![0x0c, 0x0c], metadata.to_vec()),
        ("gzip", gzip(b"<rss/>"), vec![0]),
    ] {
        let mut decoder = Decoder::new(label, BYTES_MAX).unwrap();
        decoder.push(&head).unwrap();
        let pieces = piece.repeat(200);
        let mut n_bytes = head.len();
        let refused = loop {
            if let Err(refused) = decoder.push(&pieces) {
                break refused;
            }
            n_bytes += pieces.len();
            assert!(n_bytes <= BYTES_MAX, "{label}: {n_bytes} bytes were taken");
        };
        assert_eq!(refused, DecodeError::TooLarge, "{label} after {n_bytes} bytes");
    }
    let mut decoder = Decoder::new("", 3).unwrap();
    let pushed: Vec<bool> = (0..4).map(|_| decoder.push(&[]).is_ok()).collect();
    assert_eq!(pushed, [true, true, true, false], "an empty piece counts as well");
}

#[test]
fn a_body_of_too_many_gzip_members_is_refused_and_not_cut() {
    let many = [gzip(b"").repeat(10_000), gzip(b"<rss/>")].concat();
    let mut decoder = Decoder::new("gzip", many.len()).unwrap();
    let pushed = decoder.push(&many);
    assert!(matches!(pushed, Err(DecodeError::Garbage(why)) if why.contains("10000 gzip members")));
}

#[test]
fn the_limit_itself_is_still_taken() {
    let most = vec![b' '; BYTES_MAX];
    for (label, wire) in [
        ("", most.clone()),
        ("gzip", gzip(&most)),
        ("deflate", zlib(&most)),
        ("zstd", zstandard(&most)),
    ] {
        assert_eq!(decode(label, &wire).unwrap().len(), BYTES_MAX, "{label}");
        let more = vec![b' '; BYTES_MAX + 1];
        let wire = if label == "gzip" { gzip(&more) } else { more };
        assert_eq!(decode(label, &wire), Err(DecodeError::TooLarge), "{label}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_decoder_panic_or_overrun(
        label in prop::sample::select(vec!["", "gzip", "deflate", "br", "zstd", "gzip, br", "x"]),
        kind in 0..5_usize,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        noise in prop::collection::vec(any::<u8>(), 0..200),
        step in 1..500_usize,
    ) {
        let text = sample();
        let mut wire = match kind {
            0 => gzip(&text),
            1 => raw_deflate(&text),
            2 => zstandard(&text),
            3 => BROTLI_BOMB.to_vec(),
            _ => noise.clone(),
        };
        wire.extend(noise);
        for (at, byte) in flips {
            if !wire.is_empty() {
                let at = at.index(wire.len());
                wire[at] ^= byte;
            }
        }
        if let Ok(body) = decode_by(step, label, &wire) {
            prop_assert!(body.len() <= BYTES_MAX);
        }
    }
}
