//! Messages as frames on the bus: long ones are compressed, and very long ones travel in parts.
//! Pure: the caller gives chance and time. A lost part costs the whole message, which its sender
//! sends again.

use std::cmp::Reverse;
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
/// Messages that may be incomplete at once, and their bytes together, so that nobody can fill the
/// memory. Beyond that, the sender with most of them loses its oldest message.
const INCOMPLETE_MAX: usize = 32;
const INCOMPLETE_BYTES_MAX: usize = 4 * MESSAGE_BYTES_MAX;

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
    sender: String,
    parts: Vec<Option<Vec<u8>>>,
    n_bytes: usize,
    since: Duration,
}

impl Unpacker {
    /// Takes a frame that arrived at `now`. Returns the message that it completes, if any. `sender`
    /// is the place at which the sender expects its answer, or nothing.
    pub fn take(
        &mut self,
        frame: &[u8],
        sender: &str,
        now: Duration,
    ) -> Result<Option<Vec<u8>>, WireError> {
        match frame {
            [PLAIN, message @ ..] => Ok(Some(message.to_vec())),
            [COMPRESSED, rest @ ..] => decompress(rest).map(Some),
            [PART, rest @ ..] => self.part(rest, sender, now),
            _ => Err(WireError::NotAFrame),
        }
    }

    fn part(
        &mut self,
        rest: &[u8],
        sender: &str,
        now: Duration,
    ) -> Result<Option<Vec<u8>>, WireError> {
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
        self.make_room(usize::from(!self.incomplete.contains_key(&id)), bytes.len());
        let begun = || {
            let (sender, parts) = (sender.to_owned(), vec![None; n]);
            IncompleteMessage { sender, parts, n_bytes: 0, since: now }
        };
        let one = self.incomplete.entry(id).or_insert_with(begun);
        if one.parts.len() != n || one.sender != sender {
            return Err(WireError::NotAFrame);
        }
        if let Some(again) = one.parts[place].replace(bytes.to_vec()) {
            one.n_bytes -= again.len();
        }
        one.n_bytes += bytes.len();
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

    /// Gives up messages until there is room for so many more and for so many bytes.
    fn make_room(&mut self, n_more: usize, n_bytes: usize) {
        loop {
            let n_kept: usize = self.incomplete.values().map(|one| one.n_bytes).sum();
            let has_room = self.incomplete.len() + n_more <= INCOMPLETE_MAX;
            if has_room && n_kept + n_bytes <= INCOMPLETE_BYTES_MAX {
                return;
            }
            let mut shares: HashMap<&str, (usize, usize)> = HashMap::new();
            for one in self.incomplete.values() {
                let share = shares.entry(&one.sender).or_default();
                *share = (share.0 + 1, share.1 + one.n_bytes);
            }
            let share = |one: &IncompleteMessage| {
                let (n, n_bytes) = shares.get(one.sender.as_str()).copied().unwrap_or_default();
                if has_room { n_bytes } else { n }
            };
            let greatest =
                self.incomplete.iter().max_by_key(|(_, one)| (share(one), Reverse(one.since)));
            let Some(id) = greatest.map(|(id, _)| *id) else { return };
            self.incomplete.remove(&id);
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
                let joined = unpacker.take(frame, "", Duration::ZERO).expect("a frame");
                assert_eq!(joined, None, "{n}");
            }
            let joined = unpacker.take(&last, "", Duration::ZERO).expect("a frame");
            assert!(joined.is_some_and(|joined| joined == message), "{n}");
        }
        assert!(unpacker.incomplete.is_empty());
    }

    #[test]
    fn a_message_without_a_part_is_given_up() {
        let mut unpacker = Unpacker::default();
        let frames = pack(&noise(2_000_000), [1; 16]).expect("short enough");
        let take = |unpacker: &mut Unpacker, place: usize, secs: u64| {
            unpacker.take(&frames[place], "", Duration::from_secs(secs)).expect("a frame").is_some()
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
        assert!(matches!(unpacker.take(&bomb, "", Duration::ZERO), Err(WireError::TooLong(_))));
        for broken in [&[][..], &[9], &[COMPRESSED, 1, 2], &[PART], &[PART; 30]] {
            assert!(unpacker.take(broken, "", Duration::ZERO).is_err(), "{broken:?}");
        }
        for n in 0..100_u8 {
            assert!(matches!(unpacker.take(&part(n, 0, 7), "", Duration::ZERO), Ok(None)));
        }
        assert_eq!(unpacker.incomplete.len(), INCOMPLETE_MAX);
    }

    /// The part of a message of 31 parts.
    fn part(message: u8, place: u8, n_bytes: usize) -> Vec<u8> {
        let mut part = vec![PART];
        part.extend([message; 16]);
        part.extend([0, place, 0, 31]);
        part.extend(vec![7; n_bytes]);
        part
    }

    #[test]
    fn a_sender_that_never_ends_its_messages_gives_up_its_own() {
        let mut unpacker = Unpacker::default();
        let frames = pack(&noise(2_000_000), [200; 16]).expect("short enough");
        let (last, first) = frames.split_last().expect("frames");
        let now = Duration::ZERO;
        assert!(first.iter().all(|frame| matches!(unpacker.take(frame, "good", now), Ok(None))));
        for n in 0..100 {
            assert!(matches!(unpacker.take(&part(n, 0, 7), "bad", now), Ok(None)));
        }
        for n in 100..110 {
            for place in 0..30 {
                let taken = unpacker.take(&part(n, place, PART_BYTES_MAX), "bad", now);
                assert!(matches!(taken, Ok(None)));
                let n_bytes: usize = unpacker.incomplete.values().map(|one| one.n_bytes).sum();
                assert!(n_bytes <= INCOMPLETE_BYTES_MAX, "{n_bytes}");
            }
        }
        assert!(unpacker.take(last, "bad", now).is_err(), "it is another sender's message");
        assert!(matches!(unpacker.take(last, "good", now), Ok(Some(_))));
    }
}
