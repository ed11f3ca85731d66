//! `advarss` — fast after a change, slower while nothing changes (Adam, Bouras and Poulopoulos
//! 2010; source 004).
//!
//! The system runs every X minutes (typically 8). Each feed has M, the runs between two polls, T,
//! the runs since its last change, and ToE, a countdown: each run decrements ToE and polls at 0.
//! Then
//! - unchanged: temp = T + M; M = M + 0.3·T; T = temp
//! - changed: T = 1; M = 0.2·M + 0.8·T
//! - M stays in [1, ceiling]; ToE = ceil(M).
//!
//! Start: M = 4, T = 1. Changed means at least one new entry. The ceiling is 25 for three days,
//! then clamp(4 × median change gap in runs, 25, 640). The paper's remark "M becomes 2.4, ToE 3"
//! contradicts its formula, which gives 1.6 and 2. This code follows the formula.
//!
//! ```
//! use polling::policy::advarss::AdvaRssInterval;
//!
//! let mut pace = AdvaRssInterval::start();
//! pace.step(true, 25);
//! assert!((pace.m() - 1.6).abs() < 1e-12);
//! assert_eq!(pace.toe(), 2);
//! ```

use std::time::Duration;

use feed::{Observation, Time};

use crate::bytes::{ByteReader, put_time};
use crate::policy::wish::Proposal;
use crate::{Fraction, RuleCase};

/// X: the paper draws it from 6 … 10 minutes and calls 8 typical; policies do not use chance.
pub const RUN: Duration = Duration::from_secs(8 * 60);
const CEILING: (u32, u32) = (25, 640);
/// The time in which gaps are collected before the ceiling is set.
const WATCH: Duration = Duration::from_secs(3 * 86_400);
/// The most different gaps, in runs, within three days: their sum is at most 540.
const GAPS_MAX: usize = 33;

/// M and T are multiples of 10⁻²⁴, rounded up. They are exact for the paper's decimals and
/// otherwise never too small, since ceil(M) must not fall by rounding.
const UNIT: i128 = 1_000_000_000_000_000_000_000_000;
/// The paper does not cap T; this is four thousand years of runs.
const T_MAX: i128 = 300_000_000 * UNIT;

/// M and T.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvaRssInterval {
    m: i128,
    t: i128,
}

impl AdvaRssInterval {
    pub const fn start() -> AdvaRssInterval {
        AdvaRssInterval { m: 4 * UNIT, t: UNIT }
    }

    /// Learns one poll.
    pub fn step(&mut self, changed: bool, ceiling: u32) {
        if changed {
            self.t = UNIT;
            self.m = tenths(2 * self.m) + tenths(8 * self.t);
        } else {
            let since = self.t + self.m;
            self.m += tenths(3 * self.t);
            self.t = since.min(T_MAX);
        }
        self.m = self.m.clamp(UNIT, i128::from(ceiling) * UNIT);
    }

    /// Returns the runs until the next poll: ceil(M).
    pub fn toe(self) -> u32 {
        u32::try_from((self.m + UNIT - 1) / UNIT).unwrap_or(u32::MAX)
    }

    pub fn m(self) -> f64 {
        self.m as f64 / UNIT as f64
    }

    pub fn t(self) -> f64 {
        self.t as f64 / UNIT as f64
    }
}

fn tenths(x: i128) -> i128 {
    (x + 9) / 10
}

/// M, T, and the data for the ceiling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AdvaRssState {
    pace: AdvaRssInterval,
    ceiling: u32,
    first: Option<Time>,
    last_change: Option<Time>,
    /// Gaps between changes in runs, with the count of each.
    gaps: Vec<(u16, u16)>,
    watching: bool,
}

impl AdvaRssState {
    pub(crate) fn new() -> AdvaRssState {
        AdvaRssState {
            pace: AdvaRssInterval::start(),
            ceiling: CEILING.0,
            first: None,
            last_change: None,
            gaps: Vec::new(),
            watching: true,
        }
    }

    pub(crate) fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() {
            return;
        }
        let changed = !o.new.is_empty();
        let first = *self.first.get_or_insert(o.at);
        if self.watching && o.at.since(first) > WATCH {
            self.watching = false;
            self.ceiling = self.learned_ceiling();
            self.gaps.clear();
        }
        if changed {
            if let (true, Some(last)) = (self.watching, self.last_change) {
                self.note_gap(o.at.since(last));
            }
            self.last_change = Some(o.at);
        }
        self.pace.step(changed, self.ceiling);
    }

    fn note_gap(&mut self, gap: Duration) {
        let runs = (gap.as_secs_f64() / RUN.as_secs_f64()).round().clamp(1.0, 540.0) as u16;
        match self.gaps.binary_search_by_key(&runs, |(gap, _)| *gap) {
            Ok(i) => self.gaps[i].1 = self.gaps[i].1.saturating_add(1),
            Err(i) if self.gaps.len() < GAPS_MAX => self.gaps.insert(i, (runs, 1)),
            Err(_) => {}
        }
    }

    /// Returns clamp(4 × median, 25, 640); 25 without two changes.
    fn learned_ceiling(&self) -> u32 {
        let n: u32 = self.gaps.iter().map(|(_, n)| u32::from(*n)).sum();
        // The gap at an index of the sorted gaps.
        let at = |place: u32| {
            let mut passed = 0;
            self.gaps.iter().find_map(|(gap, times)| {
                passed += u32::from(*times);
                (passed > place).then_some(u32::from(*gap))
            })
        };
        match (at(n.saturating_sub(1) / 2), at(n / 2)) {
            // An even number of gaps has two in the middle.
            (Some(lower), Some(upper)) => (2 * (lower + upper)).clamp(CEILING.0, CEILING.1),
            _ => CEILING.0,
        }
    }

    pub(crate) fn propose(&self) -> Proposal {
        let runs = self.pace.toe();
        let interval = Fraction::millis(RUN * runs);
        Proposal::After(interval, RuleCase::AdvaRss { m: self.pace.m() as f32, runs })
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.pace.m.to_le_bytes());
        bytes.extend(self.pace.t.to_le_bytes());
        bytes.extend((self.ceiling as u16).to_le_bytes());
        put_time(bytes, self.first);
        put_time(bytes, self.last_change);
        bytes.push(u8::from(self.watching));
        bytes.push(self.gaps.len() as u8);
        bytes.extend(self.gaps.iter().flat_map(|(g, n)| [*g, *n]).flat_map(u16::to_le_bytes));
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>) -> Option<AdvaRssState> {
        let (m, t) =
            (reader.bytes().map(i128::from_le_bytes)?, reader.bytes().map(i128::from_le_bytes)?);
        let ceiling = u32::from(reader.bytes().map(u16::from_le_bytes)?);
        let (first, last_change) = (reader.time()?, reader.time()?);
        let watching = reader.u8()? == 1;
        let n_gaps = reader.u8()?;
        let mut gaps = Vec::with_capacity(n_gaps.into());
        for _ in 0..n_gaps {
            let gap = reader.bytes().map(u16::from_le_bytes)?;
            gaps.push((gap, reader.bytes().map(u16::from_le_bytes)?));
        }
        let sane = (0..=i128::from(CEILING.1) * UNIT).contains(&m)
            && (0..=T_MAX).contains(&t)
            && (CEILING.0..=CEILING.1).contains(&ceiling);
        let pace = AdvaRssInterval { m, t };
        sane.then_some(AdvaRssState { pace, ceiling, first, last_change, gaps, watching })
    }
}
