//! The state of a policy for one feed: a small versioned value that survives being stored, read
//! back and upgraded. Replaying the observations reproduces it bit for bit.
//!
//! ```
//! use polling::{Learned, Policy};
//!
//! let policy: Policy = "lru-2".parse().unwrap();
//! let stored = policy.start().encode();
//! assert_eq!(Learned::decode(&policy, &stored), policy.start());
//! assert_eq!(Learned::decode(&policy, b"not ours"), policy.start());
//! ```

use feed::{Observation, Time};

use crate::Policy;
use crate::bytes::{ByteReader, put_time};
use crate::model::Model;
use crate::model::histogram::Period;
use crate::model::profile::Profile;
use crate::policy::indhist::Hourly;
use crate::policy::recent::Recent;
use crate::policy::{
    adaptive_fetch, advarss, advarss_hybrid, fix_learned, indhist_agg, indhist_ttl, lihz, lru_2,
};

/// The layout of the stored bytes. Version 1 is upgraded on reading. It kept the counts of `lihz`
/// in one byte each, too few for a history of years, and not the time of dropped entries.
const VERSION: u8 = 2;
const VERSION_MIN: u8 = 1;

/// The state of a policy for one feed. Most policies read everything from the window and keep only
/// the two facts that refine η.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The first successful poll.
    first_seen_at: Option<Time>,
    /// Whether any window ever showed an entry.
    had_entry: bool,
    pub(crate) memory: PolicyState,
}

/// The part that differs between policies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PolicyState {
    Nothing,
    FixLearnedW(fix_learned::FirstWindow),
    FixLearnedA(fix_learned::FirstWindow),
    Lru2(lru_2::Newest),
    IndHist(Hourly, Period),
    IndHistTtl(Box<indhist_ttl::IndHistTtlState>),
    IndHistAgg(Box<indhist_agg::IndHistAggState>),
    Lihz(lihz::WeekdayCounts),
    AdvaRss(Box<advarss::AdvaRssState>),
    AdvaRssHybrid(Box<advarss_hybrid::AdvaRssHybridState>),
    Model(Box<Model>),
    EntryFrequency(Recent),
    AdaptiveFetch(adaptive_fetch::Interval),
}

impl Learned {
    pub(crate) fn new(memory: PolicyState) -> Learned {
        Learned { first_seen_at: None, had_entry: false, memory }
    }

    pub fn first_seen_at(&self) -> Option<Time> {
        self.first_seen_at
    }

    pub fn had_entry(&self) -> bool {
        self.had_entry
    }

    pub(crate) fn note(&mut self, o: &Observation<'_>) {
        if o.outcome.is_success() {
            self.first_seen_at.get_or_insert(o.at);
            self.had_entry |= !o.window.is_empty();
        }
    }

    /// Returns the feed's entries per hour of the day, for finding its cluster; `None` for policies
    /// without such a history, or before there is any.
    pub fn hours(&self) -> Option<[u32; 24]> {
        let hourly = match &self.memory {
            PolicyState::IndHist(hourly, Period::Day) => hourly,
            PolicyState::IndHistAgg(memory) => &memory.hourly,
            _ => return None,
        };
        let counts = hourly.histogram()?.counts;
        let mut hours = [0; 24];
        for (hour, count) in hours.iter_mut().zip(counts) {
            *hour = u32::try_from(count).unwrap_or(u32::MAX);
        }
        Some(hours)
    }

    /// Returns the model of the feed, if its policy uses one.
    pub fn model(&self) -> Option<&Model> {
        match &self.memory {
            PolicyState::Model(model) => Some(model),
            _ => None,
        }
    }

    /// Sets the profile of the feed's cluster, which only `indhist-agg` uses.
    pub fn adopt(&mut self, profile: Profile) {
        if let PolicyState::IndHistAgg(memory) = &mut self.memory {
            memory.profile = Some(profile);
        }
    }

    /// Encodes the state for the store: version, kind, flags, the first poll, then the data of the
    /// kind.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION, self.memory.kind(), u8::from(self.had_entry)];
        put_time(&mut bytes, self.first_seen_at);
        match &self.memory {
            PolicyState::Nothing => {}
            PolicyState::FixLearnedW(first) | PolicyState::FixLearnedA(first) => {
                first.write(&mut bytes);
            }
            PolicyState::Lru2(newest) => newest.write(&mut bytes),
            PolicyState::IndHist(hourly, _) => hourly.write(&mut bytes),
            PolicyState::IndHistTtl(memory) => memory.write(&mut bytes),
            PolicyState::IndHistAgg(memory) => memory.write(&mut bytes),
            PolicyState::Lihz(week) => week.write(&mut bytes),
            PolicyState::AdvaRss(memory) => memory.write(&mut bytes),
            PolicyState::AdvaRssHybrid(memory) => memory.write(&mut bytes),
            PolicyState::Model(model) => bytes.extend(model.encode()),
            PolicyState::EntryFrequency(recent) => recent.write(&mut bytes),
            PolicyState::AdaptiveFetch(interval) => interval.write(&mut bytes),
        }
        bytes
    }

    /// Decodes the state from the store. The state of another policy, or one that cannot be read,
    /// is dropped. The first successful poll is kept across policies.
    pub fn decode(policy: &Policy, bytes: &[u8]) -> Learned {
        let fresh = policy.start();
        let mut reader = ByteReader(bytes);
        let Some(version) = reader.u8().filter(|v| (VERSION_MIN..=VERSION).contains(v)) else {
            return fresh;
        };
        let (Some(kind), Some(flags), Some(first_seen_at)) =
            (reader.u8(), reader.u8(), reader.time())
        else {
            return fresh;
        };
        let memory =
            if kind == fresh.memory.kind() { fresh.memory.read(reader, version) } else { None };
        let memory = memory.unwrap_or(fresh.memory);
        Learned { first_seen_at, had_entry: flags & 1 == 1, memory }
    }
}

impl PolicyState {
    const fn kind(&self) -> u8 {
        match self {
            PolicyState::Nothing => 0,
            PolicyState::FixLearnedW(_) => 1,
            PolicyState::FixLearnedA(_) => 2,
            PolicyState::Lru2(_) => 3,
            PolicyState::IndHist(..) => 4,
            PolicyState::IndHistTtl(_) => 5,
            PolicyState::IndHistAgg(_) => 6,
            PolicyState::Lihz(_) => 7,
            PolicyState::AdvaRss(_) => 8,
            PolicyState::AdvaRssHybrid(_) => 9,
            PolicyState::Model(_) => 10,
            PolicyState::EntryFrequency(_) => 11,
            PolicyState::AdaptiveFetch(_) => 12,
        }
    }

    /// Reads a state of the same kind as `self`, which is fresh.
    fn read(&self, mut reader: ByteReader<'_>, version: u8) -> Option<PolicyState> {
        let r = &mut reader;
        let memory = match self {
            PolicyState::Nothing => PolicyState::Nothing,
            PolicyState::FixLearnedW(_) => {
                PolicyState::FixLearnedW(fix_learned::FirstWindow::read(r)?)
            }
            PolicyState::FixLearnedA(_) => {
                PolicyState::FixLearnedA(fix_learned::FirstWindow::read(r)?)
            }
            PolicyState::Lru2(_) => PolicyState::Lru2(lru_2::Newest::read(r)?),
            PolicyState::IndHist(_, period) => {
                PolicyState::IndHist(Hourly::read(r, *period)?, *period)
            }
            PolicyState::IndHistTtl(fresh) => {
                PolicyState::IndHistTtl(Box::new(fresh.read(r, version)?))
            }
            PolicyState::IndHistAgg(_) => {
                PolicyState::IndHistAgg(Box::new(indhist_agg::IndHistAggState::read(r)?))
            }
            PolicyState::Lihz(_) => PolicyState::Lihz(lihz::WeekdayCounts::read(r, version)?),
            PolicyState::AdvaRss(_) => {
                PolicyState::AdvaRss(Box::new(advarss::AdvaRssState::read(r)?))
            }
            PolicyState::AdvaRssHybrid(_) => PolicyState::AdvaRssHybrid(Box::new(
                advarss_hybrid::AdvaRssHybridState::read(r, version)?,
            )),
            PolicyState::Model(fresh) => {
                let model = Model::decode(std::mem::take(&mut r.0))?;
                PolicyState::Model(Box::new(Some(model).filter(|model| model.is_alike(fresh))?))
            }
            PolicyState::EntryFrequency(fresh) => {
                PolicyState::EntryFrequency(fresh.clone().read(r, version)?)
            }
            PolicyState::AdaptiveFetch(_) => {
                PolicyState::AdaptiveFetch(adaptive_fetch::Interval::read(r)?)
            }
        };
        reader.0.is_empty().then_some(memory)
    }
}
