//! The rules that turn what was seen of one feed into a wish: when to look next, within bounds.
//!
//! One rule, one file, the paper and its equations on top. A policy knows no budget, no pace and
//! no other feed; publisher hints, backoff and jitter act on its answer afterwards.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! let policy: Policy = "mavsync".parse().unwrap();
//! let mut learned = policy.start();
//! let hourly: Vec<Time> = (0..20).map(|h| Time::from_secs(h * 3600)).collect();
//! let seen = Observation::first(Time::from_secs(70_000), &hourly);
//! policy.learn(&mut learned, &seen);
//! let wish = policy.wish(&learned, &seen, &Bounds::EVALUATION);
//! assert_eq!(wish.at, Time::from_secs(20 * 3600));
//! assert_eq!(wish.why.code(), "mavsync sync n=20 u=3600s");
//! ```

pub mod adaptive_fetch;
pub mod adaptive_ttl;
pub mod advarss;
pub mod advarss_hybrid;
pub mod empirical;
pub mod entry_frequency;
pub mod fix;
pub mod fix_learned;
pub mod indhist;
pub mod indhist_agg;
pub mod indhist_ttl;
pub mod lihz;
pub mod lru_2;
pub mod mavsync;
mod names;
pub(crate) mod parameters;
mod spec;
pub mod tide;
mod training;
pub mod window_share;

use std::time::Duration;

use feed::Observation;

use crate::learned::Memory;
use crate::model::ModelKind;
use crate::model::histogram::Period;
use crate::wish::Answer;
use crate::{Bounds, Case, Cause, Decimal, Learned, Wish};

pub use parameters::SpecError;
pub use spec::PolicySpec;
pub use training::Training;
use window_share::Room;

/// A rule with its parameters. Written as in `fix:1h`, `mavsync`, `mavsync:kappa=5s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Fix { every: Duration },
    FixLearnedW,
    FixLearnedA,
    AdaptiveTtl { factor: Decimal },
    Lru2,
    MavSync { kappa: Duration },
    IndHist { theta: Decimal, period: Period },
    IndHistTtl { theta: Decimal, factor: Decimal, span: Duration, t_burst: Decimal },
    IndHistAgg { theta: Decimal, t_ind: Decimal },
    Lihz { sigma: Decimal },
    AdvaRss,
    AdvaRssHybrid,
    Window { room: Room, model: ModelKind },
    EntryFrequency { factor: Decimal },
    Empirical,
    AdaptiveFetch,
    Tide { price: Duration, miss: Duration },
}

impl Policy {
    /// Takes in one poll. Every poll is learned from once, in order, before its wish is asked.
    pub fn learn(&self, learned: &mut Learned, o: &Observation<'_>) {
        learned.note(o);
        match &mut learned.memory {
            Memory::Nothing => {}
            Memory::FixLearnedW(first) => first.learn(o, || fix_learned::interval_w(o.window)),
            Memory::FixLearnedA(first) => {
                first.learn(o, || fix_learned::interval_a(o.at, o.window));
            }
            Memory::Lru2(newest) => newest.learn(o),
            Memory::IndHist(hourly, _) => hourly.learn(o),
            Memory::IndHistTtl(memory) => memory.learn(o),
            Memory::IndHistAgg(memory) => memory.hourly.learn(o),
            Memory::Lihz(week) => week.learn(o),
            Memory::AdvaRss(memory) => memory.learn(o),
            Memory::AdvaRssHybrid(memory) => memory.learn(o),
            Memory::Model(model) => model.learn(o),
            Memory::EntryFrequency(recent) if o.outcome.is_success() => recent.learn(o.at, o.new),
            Memory::EntryFrequency(_) => {}
            Memory::AdaptiveFetch(interval) => interval.learn(o),
        }
    }

    /// When to look next after the poll `o`, that was learned from before.
    pub fn wish(&self, learned: &Learned, o: &Observation<'_>, bounds: &Bounds) -> Wish {
        self.answer(learned, o, bounds).into_wish(learned, o, bounds)
    }

    fn answer(&self, learned: &Learned, o: &Observation<'_>, bounds: &Bounds) -> Answer {
        match (*self, &learned.memory) {
            (Policy::Fix { every }, _) => fix::answer(every),
            (Policy::AdaptiveTtl { factor }, _) => adaptive_ttl::answer(factor, o),
            (Policy::MavSync { kappa }, _) => mavsync::answer(kappa, o, bounds),
            (Policy::Empirical, _) => empirical::answer(o),
            (Policy::FixLearnedW, Memory::FixLearnedW(first)) => {
                first.answer(|n, u| Case::FixLearnedW { n, gap: u.duration() })
            }
            (Policy::FixLearnedA, Memory::FixLearnedA(first)) => {
                first.answer(|n, u| Case::FixLearnedA { n, gap: u.duration() })
            }
            (Policy::Lru2, Memory::Lru2(newest)) => newest.answer(),
            (Policy::IndHist { theta, .. }, Memory::IndHist(hourly, _)) => {
                indhist::answer(hourly.histogram().as_ref(), theta, o)
            }
            (Policy::IndHistTtl { theta, factor, span, t_burst }, Memory::IndHistTtl(memory)) => {
                memory.answer(indhist_ttl::Rule { theta, factor, span, t_burst }, o)
            }
            (Policy::IndHistAgg { theta, t_ind }, Memory::IndHistAgg(memory)) => {
                memory.answer(theta, t_ind, o)
            }
            (Policy::Lihz { sigma }, Memory::Lihz(week)) => week.answer(sigma, o),
            (Policy::AdvaRss, Memory::AdvaRss(memory)) => memory.answer(),
            (Policy::AdvaRssHybrid, Memory::AdvaRssHybrid(memory)) => memory.answer(o),
            (Policy::Window { room, .. }, Memory::Model(model)) => {
                window_share::answer(room, model, o)
            }
            (Policy::EntryFrequency { factor }, Memory::EntryFrequency(recent)) => {
                entry_frequency::answer(factor, recent, o)
            }
            (Policy::AdaptiveFetch, Memory::AdaptiveFetch(interval)) => interval.answer(),
            (Policy::Tide { price, miss }, Memory::Model(model)) => {
                tide::answer(price, miss, model, o)
            }
            // The memory of another policy: nothing of use was learned yet.
            _ => Answer::Undefined(Cause::NotSeen),
        }
    }
}
