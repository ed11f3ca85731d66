//! Encodes the model of `tide` in about 1,010 bytes: all counts. Decoding recomputes the rest. The
//! first layout has neither lag bounds nor daylight saving: it is read as a feed without a lag, in
//! UTC. The second layout has neither change detection nor bursts: it is read as a feed that did
//! not change.
//!
//! ```
//! use polling::model::{Model, ModelKind};
//!
//! let bytes = ModelKind::Tide.start().encode();
//! assert!(bytes.len() <= 1024);
//! assert_eq!(Model::decode(&bytes).unwrap().encode(), bytes);
//! ```

use super::TideModel;
use super::daylight_saving::DST_RULES;
use super::hour_change::HourChange;
use super::lag_bound::{LagBound, UNITS_IN_DAY};
use super::level::RateSpan;
use super::rate_change::{EvidenceRun, RateChange};
use super::rhythm::ActivityCount;
use super::visibility_lag::KEPT;
use crate::bytes::{ByteReader, put_time};

/// The largest plausible count: an entry per millisecond for a year.
const COUNT_MAX: f64 = 4e10;

/// The layouts, oldest first; the last one is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::model) enum TideLayout {
    Counts,
    BoundsAndClock,
    DoubtAndBursts,
}

impl TideLayout {
    /// Returns the layout of a stored kind number.
    pub(in crate::model) fn of(kind: u8) -> Option<TideLayout> {
        match kind {
            6 => Some(TideLayout::Counts),
            7 => Some(TideLayout::BoundsAndClock),
            8 => Some(TideLayout::DoubtAndBursts),
            _ => None,
        }
    }
}

impl TideModel {
    pub(in crate::model) fn write(&self, bytes: &mut Vec<u8>) {
        put_time(bytes, self.last);
        bytes.extend(self.window_max.to_le_bytes());
        let shares = self.rhythm.hours.iter().chain(&self.rhythm.days);
        let counts = shares.flat_map(|share| [share.seen, share.expected]);
        let level = self.level.spans.iter().flat_map(|span| [span.entries, span.watched]);
        bytes.extend(level.chain(counts).flat_map(f64::to_le_bytes));
        bytes.extend(self.minutes.seen.iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend([self.lag.n, self.lag.next]);
        let bounds = self.lag.kept.iter().flat_map(|bound| [bound.born, bound.after, bound.by]);
        bytes.extend(bounds.flat_map(u16::to_le_bytes));
        let rule = DST_RULES.iter().position(|rule| self.dst.rule == Some(*rule));
        bytes.push(rule.map_or(0, |number| number as u8 + 1));
        bytes.extend(self.dst.evidence.iter().flat_map(|evidence| evidence.to_le_bytes()));
        let RateChange { higher, lower, found, expected } = self.rate_change;
        let runs = [higher, lower].map(|run| [run.evidence, run.entries, run.watched]);
        let rest = [found, expected, self.hour_change.evidence, self.hour_change.today];
        bytes.extend(runs.concat().into_iter().chain(rest).flat_map(f32::to_le_bytes));
        let filled = self.bursts.filled.iter().chain([&self.bursts.entries]);
        bytes.extend(filled.flat_map(|entries| entries.to_le_bytes()));
    }

    /// Reads the bytes of [`TideModel::write`], in any layout.
    pub(in crate::model) fn read(
        reader: &mut ByteReader<'_>,
        layout: TideLayout,
    ) -> Option<TideModel> {
        let (last, window_max) = (reader.time()?, reader.u32()?);
        let mut tide = TideModel { last, window_max, ..TideModel::default() };
        let mut count = || {
            let count = reader.bytes().map(f64::from_le_bytes)?;
            (0.0..=COUNT_MAX).contains(&count).then_some(count)
        };
        for span in &mut tide.level.spans {
            *span = RateSpan { entries: count()?, watched: count()? };
        }
        for share in tide.rhythm.hours.iter_mut().chain(&mut tide.rhythm.days) {
            *share = ActivityCount { seen: count()?, expected: count()? };
        }
        for seen in &mut tide.minutes.seen {
            let count = reader.bytes().map(f32::from_le_bytes)?;
            *seen = Some(count).filter(|n| (0.0..=COUNT_MAX as f32).contains(n))?;
        }
        if layout >= TideLayout::BoundsAndClock {
            tide.lag.n = reader.u8().filter(|n| usize::from(*n) <= KEPT)?;
            tide.lag.next = reader.u8().filter(|next| usize::from(*next) < KEPT)?;
            let mut units = || reader.bytes().map(u16::from_le_bytes);
            for bound in &mut tide.lag.kept {
                *bound = LagBound { born: units()?, after: units()?, by: units()? };
                (bound.after <= bound.by && bound.born < UNITS_IN_DAY).then_some(())?;
            }
            tide.lag.recompute();
            let rule =
                usize::from(reader.u8().filter(|rule| usize::from(*rule) <= DST_RULES.len())?);
            tide.dst.rule = rule.checked_sub(1).map(|number| DST_RULES[number]);
            for evidence in &mut tide.dst.evidence {
                *evidence = reader
                    .bytes()
                    .map(f32::from_le_bytes)
                    .filter(|evidence| evidence.is_finite())?;
            }
            tide.last.into_iter().for_each(|last| tide.dst.set_season(last));
        }
        if layout >= TideLayout::DoubtAndBursts {
            tide.read_changes(reader)?;
            let filled = tide.bursts.filled.iter_mut().chain([&mut tide.bursts.entries]);
            for entries in filled {
                let count = reader.bytes().map(f32::from_le_bytes)?;
                *entries = Some(count).filter(|n| (0.0..=COUNT_MAX as f32).contains(n))?;
            }
        }
        tide.recompute();
        Some(tide)
    }

    fn read_changes(&mut self, reader: &mut ByteReader<'_>) -> Option<()> {
        let mut any = || reader.bytes().map(f32::from_le_bytes).filter(|x| x.is_finite());
        let mut count = || any().filter(|n| (0.0..=COUNT_MAX as f32).contains(n));
        let mut run =
            || Some(EvidenceRun { evidence: count()?, entries: count()?, watched: count()? });
        let (higher, lower) = (run()?, run()?);
        self.rate_change = RateChange { higher, lower, found: count()?, expected: count()? };
        self.hour_change = HourChange { evidence: count()?, today: any()? };
        Some(())
    }
}
