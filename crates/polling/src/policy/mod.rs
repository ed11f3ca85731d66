//! Policies: rules that turn the observations of one feed into a wish for the next poll, within
//! bounds.
//!
//! One rule, one file, with the paper and its equations at the top. A policy knows neither budget,
//! pace nor other feeds. Publisher hints, backoff and jitter adjust its wish afterwards.
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

mod adaptive;
pub(crate) mod explain;
mod history_based;
mod learned;
mod names;
mod recent;
mod spec;
pub mod tide;
mod training;
mod window_based;
mod wish;

use std::time::Duration;

use feed::Observation;

use crate::model::ModelKind;
use crate::model::histogram::Period;
use crate::{Bounds, Decimal};

pub use adaptive::{adaptive_fetch, advarss, advarss_hybrid};
use advarss::RunInterval;
pub use explain::{RuleCase, UndefinedCause, Why};
pub use history_based::{entry_frequency, indhist, indhist_agg, indhist_ttl, lihz};
pub use learned::Learned;
use learned::PolicyState;
pub use spec::PolicySpec;
pub use training::Training;
pub use window_based::{
    adaptive_ttl, empirical, fix, fix_learned, lru_2, mavsync, recording, window_share,
};
use window_share::WindowTarget;
use wish::Proposal;
pub use wish::Wish;

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
    AdvaRss { run: RunInterval },
    AdvaRssHybrid,
    Window { room: WindowTarget, model: ModelKind },
    EntryFrequency { factor: Decimal },
    Empirical,
    Recording,
    AdaptiveFetch,
    Tide { price: Duration, miss: Duration },
}

impl Policy {
    /// Learns from one poll. Every poll is learned once, in order, before its wish is computed.
    pub fn learn(&self, learned: &mut Learned, o: &Observation<'_>) {
        learned.note(o);
        match &mut learned.memory {
            PolicyState::Nothing => {}
            PolicyState::FixLearnedW(first) => first.learn(o, || fix_learned::interval_w(o.window)),
            PolicyState::FixLearnedA(first) => {
                first.learn(o, || fix_learned::interval_a(o.at, o.window));
            }
            PolicyState::Lru2(newest) => newest.learn(o),
            PolicyState::IndHist(hourly, _) => hourly.learn(o),
            PolicyState::IndHistTtl(memory) => memory.learn(o),
            PolicyState::IndHistAgg(memory) => memory.hourly.learn(o),
            PolicyState::Lihz(week) => week.learn(o),
            PolicyState::AdvaRss(memory) => {
                if let Policy::AdvaRss { run } = *self {
                    memory.learn(o, run);
                }
            }
            PolicyState::AdvaRssHybrid(memory) => memory.learn(o),
            PolicyState::Model(model) => model.learn(o),
            PolicyState::EntryFrequency(recent) if o.outcome.is_success() => {
                recent.learn(o.at, o.new);
            }
            PolicyState::EntryFrequency(_) => {}
            PolicyState::AdaptiveFetch(interval) => interval.learn(o),
        }
    }

    /// Returns when to poll next after the poll `o`, which must be learned before.
    pub fn wish(&self, learned: &Learned, o: &Observation<'_>, bounds: &Bounds) -> Wish {
        self.propose(learned, o, bounds).into_wish(learned, o, bounds)
    }

    fn propose(&self, learned: &Learned, o: &Observation<'_>, bounds: &Bounds) -> Proposal {
        match (*self, &learned.memory) {
            (Policy::Fix { every }, _) => fix::propose(every),
            (Policy::AdaptiveTtl { factor }, _) => adaptive_ttl::propose(factor, o),
            (Policy::MavSync { kappa }, _) => mavsync::propose(kappa, o, bounds),
            (Policy::Empirical, _) => empirical::propose(o),
            (Policy::Recording, _) => recording::propose(o, bounds),
            (Policy::FixLearnedW, PolicyState::FixLearnedW(first)) => {
                first.propose(|n, u| RuleCase::FixLearnedW { n, gap: u.duration() })
            }
            (Policy::FixLearnedA, PolicyState::FixLearnedA(first)) => {
                first.propose(|n, u| RuleCase::FixLearnedA { n, gap: u.duration() })
            }
            (Policy::Lru2, PolicyState::Lru2(newest)) => newest.propose(),
            (Policy::IndHist { theta, .. }, PolicyState::IndHist(hourly, _)) => {
                indhist::propose(hourly.histogram().as_ref(), theta, o)
            }
            (
                Policy::IndHistTtl { theta, factor, span, t_burst },
                PolicyState::IndHistTtl(memory),
            ) => memory
                .propose(indhist_ttl::IndHistTtlParameters { theta, factor, span, t_burst }, o),
            (Policy::IndHistAgg { theta, t_ind }, PolicyState::IndHistAgg(memory)) => {
                memory.propose(theta, t_ind, o)
            }
            (Policy::Lihz { sigma }, PolicyState::Lihz(week)) => week.propose(sigma, o),
            (Policy::AdvaRss { run }, PolicyState::AdvaRss(memory)) => memory.propose(run),
            (Policy::AdvaRssHybrid, PolicyState::AdvaRssHybrid(memory)) => memory.propose(o),
            (Policy::Window { room, .. }, PolicyState::Model(model)) => {
                window_share::propose(room, model, o)
            }
            (Policy::EntryFrequency { factor }, PolicyState::EntryFrequency(recent)) => {
                entry_frequency::propose(factor, recent, o)
            }
            (Policy::AdaptiveFetch, PolicyState::AdaptiveFetch(interval)) => interval.propose(),
            (Policy::Tide { price, miss }, PolicyState::Model(model)) => {
                tide::propose(price, miss, model, o)
            }
            // The state of another policy: nothing useful was learned yet.
            _ => Proposal::Undefined(UndefinedCause::NotSeen),
        }
    }
}
