//! The model of `tide` as bytes, some 1,010: all that was counted; what follows from it is drawn
//! anew. Its first layout had no bounds of late entries and no clock: it is read as a feed that was
//! never late and goes by UTC. Its second one had no doubt and no bursts: it is read as a feed that
//! did not change.
//!
//! ```
//! use polling::model::{Model, ModelKind};
//!
//! let bytes = ModelKind::Tide.start().encode();
//! assert!(bytes.len() <= 1024);
//! assert_eq!(Model::decode(&bytes).unwrap().encode(), bytes);
//! ```

use super::Tide;
use super::bound::{Bound, UNITS_IN_DAY};
use super::clock::RULES;
use super::doubt::{Doubt, Run};
use super::habits::Share;
use super::late::KEPT;
use super::level::Span;
use super::turned::Turned;
use crate::bytes::{Reader, put_time};

/// Counts beyond this were never learned: an entry per millisecond for a year.
const COUNT_MAX: f64 = 4e10;

/// What earlier versions of this program wrote, oldest first, and what is written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::model) enum Layout {
    Counts,
    BoundsAndClock,
    DoubtAndBursts,
}

impl Layout {
    /// The number under which models are stored.
    pub(in crate::model) fn of(kind: u8) -> Option<Layout> {
        match kind {
            6 => Some(Layout::Counts),
            7 => Some(Layout::BoundsAndClock),
            8 => Some(Layout::DoubtAndBursts),
            _ => None,
        }
    }
}

impl Tide {
    pub(in crate::model) fn write(&self, bytes: &mut Vec<u8>) {
        put_time(bytes, self.last);
        bytes.extend(self.window_max.to_le_bytes());
        let shares = self.habits.hours.iter().chain(&self.habits.days);
        let counts = shares.flat_map(|share| [share.seen, share.expected]);
        let level = self.level.spans.iter().flat_map(|span| [span.entries, span.watched]);
        bytes.extend(level.chain(counts).flat_map(f64::to_le_bytes));
        bytes.extend(self.minutes.seen.iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend([self.late.n, self.late.next]);
        let bounds = self.late.kept.iter().flat_map(|bound| [bound.born, bound.after, bound.by]);
        bytes.extend(bounds.flat_map(u16::to_le_bytes));
        let rule = RULES.iter().position(|rule| self.clock.rule == Some(*rule));
        bytes.push(rule.map_or(0, |number| number as u8 + 1));
        bytes.extend(self.clock.evidence.iter().flat_map(|said| said.to_le_bytes()));
        let Doubt { higher, lower, found, expected } = self.doubt;
        let runs = [higher, lower].map(|run| [run.evidence, run.entries, run.watched]);
        let rest = [found, expected, self.turned.evidence, self.turned.today];
        bytes.extend(runs.concat().into_iter().chain(rest).flat_map(f32::to_le_bytes));
        let filled = self.bursts.filled.iter().chain([&self.bursts.entries]);
        bytes.extend(filled.flat_map(|entries| entries.to_le_bytes()));
    }

    /// What [`Tide::write`] wrote, in this layout or an earlier one.
    pub(in crate::model) fn read(reader: &mut Reader<'_>, layout: Layout) -> Option<Tide> {
        let mut tide = Tide { last: reader.time()?, window_max: reader.u32()?, ..Tide::default() };
        let mut count = || {
            let count = reader.bytes().map(f64::from_le_bytes)?;
            (0.0..=COUNT_MAX).contains(&count).then_some(count)
        };
        for span in &mut tide.level.spans {
            *span = Span { entries: count()?, watched: count()? };
        }
        for share in tide.habits.hours.iter_mut().chain(&mut tide.habits.days) {
            *share = Share { seen: count()?, expected: count()? };
        }
        for seen in &mut tide.minutes.seen {
            let count = reader.bytes().map(f32::from_le_bytes)?;
            *seen = Some(count).filter(|n| (0.0..=COUNT_MAX as f32).contains(n))?;
        }
        if layout >= Layout::BoundsAndClock {
            tide.late.n = reader.u8().filter(|n| usize::from(*n) <= KEPT)?;
            tide.late.next = reader.u8().filter(|next| usize::from(*next) < KEPT)?;
            let mut units = || reader.bytes().map(u16::from_le_bytes);
            for bound in &mut tide.late.kept {
                *bound = Bound { born: units()?, after: units()?, by: units()? };
                (bound.after <= bound.by && bound.born < UNITS_IN_DAY).then_some(())?;
            }
            tide.late.settle();
            let rule = usize::from(reader.u8().filter(|rule| usize::from(*rule) <= RULES.len())?);
            tide.clock.rule = rule.checked_sub(1).map(|number| RULES[number]);
            for said in &mut tide.clock.evidence {
                *said = reader.bytes().map(f32::from_le_bytes).filter(|said| said.is_finite())?;
            }
            tide.last.into_iter().for_each(|last| tide.clock.turn(last));
        }
        if layout >= Layout::DoubtAndBursts {
            tide.read_doubt(reader)?;
            let filled = tide.bursts.filled.iter_mut().chain([&mut tide.bursts.entries]);
            for entries in filled {
                let count = reader.bytes().map(f32::from_le_bytes)?;
                *entries = Some(count).filter(|n| (0.0..=COUNT_MAX as f32).contains(n))?;
            }
        }
        tide.settle();
        Some(tide)
    }

    fn read_doubt(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        let mut any = || reader.bytes().map(f32::from_le_bytes).filter(|x| x.is_finite());
        let mut count = || any().filter(|n| (0.0..=COUNT_MAX as f32).contains(n));
        let mut run = || Some(Run { evidence: count()?, entries: count()?, watched: count()? });
        let (higher, lower) = (run()?, run()?);
        self.doubt = Doubt { higher, lower, found: count()?, expected: count()? };
        self.turned = Turned { evidence: count()?, today: any()? };
        Some(())
    }
}
