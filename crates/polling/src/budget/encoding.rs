//! Encodes what a strategy learned about one feed in at most a kilobyte: the last poll, the window,
//! the expected bytes, then the model. Weight and selectivity are settings and not stored here.
//!
//! ```
//! use polling::budget::Tracked;
//! use polling::model::ModelKind;
//!
//! let feed = Tracked::new(ModelKind::SingleVariable.start());
//! assert!(feed.encode().len() <= 64);
//! assert_eq!(Tracked::decode(&feed.encode()), Some(feed));
//! assert_eq!(Tracked::decode(b"not ours"), None);
//! ```

use super::Tracked;
use crate::bytes::{ByteReader, put_time};
use crate::model::Model;

/// The layout of the stored bytes.
const VERSION: u8 = 1;

impl Tracked {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        put_time(&mut bytes, self.last);
        bytes.extend(self.window.to_le_bytes());
        // An f32 is exact enough for bytes, and keeps the simple models within 64 bytes.
        bytes.extend((self.cost as f32).to_le_bytes());
        bytes.extend(self.model.encode());
        bytes
    }

    /// Returns `None` for bytes that no version of this program wrote; the feed then starts fresh.
    pub fn decode(bytes: &[u8]) -> Option<Tracked> {
        let mut reader = ByteReader(bytes);
        if reader.u8()? != VERSION {
            return None;
        }
        let last = reader.time()?;
        let window = reader.u32()?;
        let cost =
            reader.bytes().map(f32::from_le_bytes).filter(|cost| (0.0..f32::MAX).contains(cost))?;
        let model = Model::decode(reader.0)?;
        Some(Tracked { last, window, cost: cost.into(), ..Tracked::new(model) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelKind;
    use feed::{Observation, Time};

    #[test]
    fn every_kind_survives_being_stored_and_learns_on_as_if_nothing_had_happened() {
        for kind in ModelKind::ALL {
            let (mut live, mut stored) = (Tracked::new(kind.start()), Tracked::new(kind.start()));
            for poll in 1..60 {
                let at = Time::from_secs(poll * 40_000);
                let window: Vec<Time> =
                    (0..9).map(|i| Time::from_secs(poll * 40_000 - (9 - i) * 997)).collect();
                let o = Observation::seen(at, &window, &window[(poll % 9) as usize..]);
                live.learn(&o);
                stored.learn(&o);
                let bytes = stored.encode();
                let simple = matches!(kind, ModelKind::Window | ModelKind::SingleVariable);
                assert!(bytes.len() <= if simple { 64 } else { 1024 }, "{kind:?} {}", bytes.len());
                stored = Tracked::decode(&bytes).unwrap();
                assert_eq!(stored, live, "{kind:?}");
                assert_eq!(Tracked::decode(&bytes[..bytes.len() - 1]), None);
            }
        }
    }
}
