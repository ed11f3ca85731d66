//! `lru-2` — the last gap between entries is the next interval (dissertation 003, eq. 4.8).
//!
//! u = t_new − t_prev, the two newest *distinct* publication times of the whole stream seen so
//! far, not only of the window. Fewer than two: undefined.
//!
//! ```
//! use feed::Time;
//! use polling::policy::lru_2::two_newest;
//!
//! let tied = [0, 3600, 3600].map(Time::from_secs);
//! assert_eq!(two_newest(&tied), (Some(Time::from_secs(3600)), Some(Time::from_secs(0))));
//! ```

use feed::{Observation, Time};

use crate::bytes::{ByteReader, put_time};
use crate::policy::wish::Proposal;
use crate::{Fraction, RuleCase, UndefinedCause};

/// Returns the newest and the second newest distinct time of a window, oldest first.
pub fn two_newest(window: &[Time]) -> (Option<Time>, Option<Time>) {
    let newest = window.last().copied();
    (newest, window.iter().rev().copied().find(|t| Some(*t) != newest))
}

/// The two newest distinct times of the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Newest {
    newest: Option<Time>,
    previous: Option<Time>,
}

impl Newest {
    pub(crate) fn learn(&mut self, o: &Observation<'_>) {
        let (a, b) = two_newest(o.window);
        let (c, d) = two_newest(o.new);
        for time in [a, b, c, d].into_iter().flatten() {
            self.insert(time);
        }
    }

    fn insert(&mut self, time: Time) {
        if Some(time) > self.newest {
            self.previous = self.newest.replace(time);
        } else if Some(time) < self.newest && Some(time) > self.previous {
            self.previous = Some(time);
        }
    }

    pub(crate) fn propose(self) -> Proposal {
        match (self.newest, self.previous) {
            (Some(newest), Some(previous)) => {
                let gap = newest.millis_since(previous);
                let case = RuleCase::Lru2 { newest, gap: newest.since(previous) };
                Proposal::After(Fraction::whole(gap.into()), case)
            }
            _ => Proposal::Undefined(UndefinedCause::TooFew),
        }
    }

    pub(crate) fn write(self, bytes: &mut Vec<u8>) {
        put_time(bytes, self.newest);
        put_time(bytes, self.previous);
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>) -> Option<Newest> {
        Some(Newest { newest: reader.time()?, previous: reader.time()? })
    }
}
