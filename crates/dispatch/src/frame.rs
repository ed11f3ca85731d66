//! Messages as frames on the bus: long ones are compressed, and very long ones travel in parts.
//! Pure: the caller gives chance and time. A lost part costs the whole message, which its sender
//! sends again.

use std::collections::HashMap;
use std::io::Read;
use std::time::Duration;

use crate::wire::{MESSAGE_BYTES_MAX, WireError};

/// Shorter messages are not worth compressing.
const COMPRESS_FROM: usize = 8 * 1024;
/// The most bytes of one part. NATS carries 1 MB by default.
const PART_BYTES_MAX: usize = 512 * 1024;
/// The level at which compressing takes less time than parsing.
const LEVEL: i32 = 1;
/// A message whose parts have not all arrived after so long is given up.
const PARTS_WITHIN: Duration = Duration::from_secs(10);
/// Messages that may be incomplete at once, so that a broken sender cannot fill the memory.
const INCOMPLETE_MAX: usize = 32;

const PLAIN: u8 = 0;
const COMPRESSED: u8 = 1;
const PART: u8 = 2;
/// The kind, the number of the message, the place of the part, and the number of parts.
const PART_HEAD: usize = 1 + 16 + 2 + 2;

/// Packs a message into frames. `id` distinguishes its parts from those of other messages.
pub fn pack(message: &[u8], id: [u8; 16]) -> Result<Vec<Vec<u8>>, WireError> {
    let mut framed = Vec::with_capacity(message.len() / 2 + 16);
    if message.len() < COMPRESS_FROM {
        framed.push(PLAIN);
        framed.extend_from_slice(message);
    } else {
        framed.push(COMPRESSED);
        let compressed = zstd::bulk::compress(message, LEVEL);
        framed.extend(compressed.map_err(|_| WireError::TooLong(message.len()))?);
    }
    if framed.len() <= PART_BYTES_MAX {
        return Ok(vec![framed]);
    }
    let parts: Vec<&[u8]> = framed.chunks(PART_BYTES_MAX).collect();
    let n = u16::try_from(parts.len()).map_err(|_| WireError::TooLong(message.len()))?;
    let part = |(place, bytes): (u16, &&[u8])| {
        let mut part = Vec::with_capacity(PART_HEAD + bytes.len());
        part.push(PART);
        part.extend(id);
        part.extend(place.to_be_bytes());
        part.extend(n.to_be_bytes());
        part.extend_from_slice(bytes);
        part
    };
    Ok((0..n).zip(&parts).map(part).collect())
}

/// Joins frames to messages.
#[derive(Debug, Default)]
pub struct Unpacker {
    incomplete: HashMap<[u8; 16], IncompleteMessage>,
}

#[derive(Debug)]
struct IncompleteMessage {
    parts: Vec<Option<Vec<u8>>>,
    since: Duration,
}

impl Unpacker {
    /// Takes a frame that arrived at `now`. Returns the message that it completes, if any.
    pub fn take(&mut self, frame: &[u8], now: Duration) -> Result<Option<Vec<u8>>, WireError> {
        match frame {
            [PLAIN, message @ ..] => Ok(Some(message.to_vec())),
            [COMPRESSED, rest @ ..] => decompress(rest).map(Some),
            [PART, rest @ ..] => self.part(rest, now),
            _ => Err(WireError::NotAFrame),
        }
    }

    fn part(&mut self, rest: &[u8], now: Duration) -> Result<Option<Vec<u8>>, WireError> {
        let (head, bytes) = rest.split_at_checked(PART_HEAD - 1).ok_or(WireError::NotAFrame)?;
        let mut id = [0; 16];
        id.copy_from_slice(&head[..16]);
        let place = usize::from(u16::from_be_bytes([head[16], head[17]]));
        let n = usize::from(u16::from_be_bytes([head[18], head[19]]));
        let fits = place < n && n <= MESSAGE_BYTES_MAX / PART_BYTES_MAX + 2;
        if !fits || bytes.len() > PART_BYTES_MAX {
            return Err(WireError::NotAFrame);
        }
        self.incomplete.retain(|_, one| now.saturating_sub(one.since) < PARTS_WITHIN);
        if !self.incomplete.contains_key(&id) && self.incomplete.len() >= INCOMPLETE_MAX {
            return Ok(None);
        }
        let one = self.incomplete.entry(id);
        let one = one.or_insert_with(|| IncompleteMessage { parts: vec![None; n], since: now });
        if one.parts.len() != n {
            return Err(WireError::NotAFrame);
        }
        one.parts[place] = Some(bytes.to_vec());
        if one.parts.iter().any(Option::is_none) {
            return Ok(None);
        }
        let Some(complete) = self.incomplete.remove(&id) else { return Ok(None) };
        let framed: Vec<u8> = complete.parts.into_iter().flatten().flatten().collect();
        match framed.split_first() {
            Some((&PLAIN, message)) => Ok(Some(message.to_vec())),
            Some((&COMPRESSED, rest)) => decompress(rest).map(Some),
            _ => Err(WireError::NotAFrame),
        }
    }
}

/// Decompresses a message within the limit of messages.
fn decompress(bytes: &[u8]) -> Result<Vec<u8>, WireError> {
    let decoder = zstd::stream::read::Decoder::new(bytes).map_err(|_| WireError::NotAFrame)?;
    let mut message = Vec::new();
    let limit = MESSAGE_BYTES_MAX as u64 + 1;
    decoder.take(limit).read_to_end(&mut message).map_err(|_| WireError::NotAFrame)?;
    if message.len() > MESSAGE_BYTES_MAX {
        return Err(WireError::TooLong(message.len()));
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that cannot be compressed.
    fn noise(n: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn messages_of_every_length_arrive_in_any_order_of_their_parts() {
        let mut unpacker = Unpacker::default();
        for n in [0, 1, COMPRESS_FROM - 1, COMPRESS_FROM, 100_000, 700_000, 5_000_000] {
            let message = noise(n);
            let mut frames = pack(&message, [n.to_be_bytes()[7]; 16]).expect("short enough");
            assert!(frames.iter().all(|f| f.len() <= PART_BYTES_MAX + PART_HEAD), "{n}");
            frames.reverse();
            let last = frames.pop().expect("a frame");
            for frame in &frames {
                let joined = unpacker.take(frame, Duration::ZERO).expect("a frame");
                assert_eq!(joined, None, "{n}");
            }
            let joined = unpacker.take(&last, Duration::ZERO).expect("a frame");
            assert!(joined.is_some_and(|joined| joined == message), "{n}");
        }
        assert!(unpacker.incomplete.is_empty());
    }

    #[test]
    fn a_message_without_a_part_is_given_up() {
        let mut unpacker = Unpacker::default();
        let frames = pack(&noise(2_000_000), [1; 16]).expect("short enough");
        let take = |unpacker: &mut Unpacker, place: usize, secs: u64| {
            unpacker.take(&frames[place], Duration::from_secs(secs)).expect("a frame").is_some()
        };
        (1..frames.len()).for_each(|place| assert!(!take(&mut unpacker, place, 0)));
        assert!(!take(&mut unpacker, 0, 11), "too late");
        let whole = (1..frames.len()).any(|place| take(&mut unpacker, place, 11));
        assert!(whole, "sent again from the first");
    }

    #[test]
    fn hostile_frames_are_refused() {
        let mut unpacker = Unpacker::default();
        let mut huge = pack(&vec![0; MESSAGE_BYTES_MAX + 9], [0; 16]).expect("compresses well");
        let bomb = huge.pop().expect("one frame");
        assert!(matches!(unpacker.take(&bomb, Duration::ZERO), Err(WireError::TooLong(_))));
        for broken in [&[][..], &[9], &[COMPRESSED, 1, 2], &[PART], &[PART; 30]] {
            assert!(unpacker.take(broken, Duration::ZERO).is_err(), "{broken:?}");
        }
        for n in 0..100_u8 {
            let mut part = vec![PART];
            part.extend([n; 16]);
            part.extend([0, 0, 0, 2, 7]);
            assert!(matches!(unpacker.take(&part, Duration::ZERO), Ok(None)));
        }
        assert_eq!(unpacker.incomplete.len(), INCOMPLETE_MAX);
    }
}
