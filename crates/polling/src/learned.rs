//! What a policy remembers of one feed: a small versioned value that survives being stored, read
//! back and upgraded. Replaying the observations reproduces it bit for bit. It decides nothing.
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
use crate::bytes::{Reader, put_time};
use crate::model::Model;
use crate::model::histogram::Period;
use crate::model::profile::Profile;
use crate::policy::indhist::Hourly;
use crate::policy::{
    adaptive_fetch, advarss, advarss_hybrid, fix_learned, indhist_agg, indhist_ttl, lihz, lru_2,
};
use crate::recent::Recent;

/// The layout of the stored bytes. Older versions are upgraded while reading: 1 kept the counts of
/// `lihz` in a byte each, too few for a history of years, and not what lack of room had cut.
const VERSION: u8 = 2;
const VERSION_MIN: u8 = 1;

/// What a policy learned of one feed. Most rules read everything from the window and remember
/// nothing but the two facts that refine η.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The first poll that succeeded.
    first_seen_at: Option<Time>,
    /// Whether any window ever showed an entry.
    had_entry: bool,
    pub(crate) memory: Memory,
}

/// The part that differs between policies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Memory {
    Nothing,
    FixLearnedW(fix_learned::FirstWindow),
    FixLearnedA(fix_learned::FirstWindow),
    Lru2(lru_2::Newest),
    IndHist(Hourly, Period),
    IndHistTtl(Box<indhist_ttl::Memory>),
    IndHistAgg(Box<indhist_agg::Memory>),
    Lihz(lihz::Weekdays),
    AdvaRss(Box<advarss::Memory>),
    AdvaRssHybrid(Box<advarss_hybrid::Memory>),
    Model(Box<Model>),
    EntryFrequency(Recent),
    AdaptiveFetch(adaptive_fetch::Interval),
}

impl Learned {
    pub(crate) fn new(memory: Memory) -> Learned {
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

    /// The feed's entries per hour of the day, for finding its cluster; `None` for policies that
    /// keep no such history, or while there is none.
    pub fn hours(&self) -> Option<[u32; 24]> {
        let hourly = match &self.memory {
            Memory::IndHist(hourly, Period::Day) => hourly,
            Memory::IndHistAgg(memory) => &memory.hourly,
            _ => return None,
        };
        let counts = hourly.histogram()?.counts;
        let mut hours = [0; 24];
        for (hour, count) in hours.iter_mut().zip(counts) {
            *hour = u32::try_from(count).unwrap_or(u32::MAX);
        }
        Some(hours)
    }

    /// The model of the feed, where its policy works on one.
    pub fn model(&self) -> Option<&Model> {
        match &self.memory {
            Memory::Model(model) => Some(model),
            _ => None,
        }
    }

    /// Gives a feed under `indhist-agg` the profile of its cluster; no other policy uses one.
    pub fn adopt(&mut self, profile: Profile) {
        if let Memory::IndHistAgg(memory) = &mut self.memory {
            memory.profile = Some(profile);
        }
    }

    /// For the store: version, kind, flags, the first poll, then what the kind needs.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION, self.memory.kind(), u8::from(self.had_entry)];
        put_time(&mut bytes, self.first_seen_at);
        match &self.memory {
            Memory::Nothing => {}
            Memory::FixLearnedW(first) | Memory::FixLearnedA(first) => first.write(&mut bytes),
            Memory::Lru2(newest) => newest.write(&mut bytes),
            Memory::IndHist(hourly, _) => hourly.write(&mut bytes),
            Memory::IndHistTtl(memory) => memory.write(&mut bytes),
            Memory::IndHistAgg(memory) => memory.write(&mut bytes),
            Memory::Lihz(week) => week.write(&mut bytes),
            Memory::AdvaRss(memory) => memory.write(&mut bytes),
            Memory::AdvaRssHybrid(memory) => memory.write(&mut bytes),
            Memory::Model(model) => bytes.extend(model.encode()),
            Memory::EntryFrequency(recent) => recent.write(&mut bytes),
            Memory::AdaptiveFetch(interval) => interval.write(&mut bytes),
        }
        bytes
    }

    /// From the store. What another policy learned, or what cannot be read, is forgotten; when the
    /// feed was first seen is kept across policies.
    pub fn decode(policy: &Policy, bytes: &[u8]) -> Learned {
        let fresh = policy.start();
        let mut reader = Reader(bytes);
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

impl Memory {
    const fn kind(&self) -> u8 {
        match self {
            Memory::Nothing => 0,
            Memory::FixLearnedW(_) => 1,
            Memory::FixLearnedA(_) => 2,
            Memory::Lru2(_) => 3,
            Memory::IndHist(..) => 4,
            Memory::IndHistTtl(_) => 5,
            Memory::IndHistAgg(_) => 6,
            Memory::Lihz(_) => 7,
            Memory::AdvaRss(_) => 8,
            Memory::AdvaRssHybrid(_) => 9,
            Memory::Model(_) => 10,
            Memory::EntryFrequency(_) => 11,
            Memory::AdaptiveFetch(_) => 12,
        }
    }

    /// Reads a memory of the same kind as `self`, which is fresh.
    fn read(&self, mut reader: Reader<'_>, version: u8) -> Option<Memory> {
        let r = &mut reader;
        let memory = match self {
            Memory::Nothing => Memory::Nothing,
            Memory::FixLearnedW(_) => Memory::FixLearnedW(fix_learned::FirstWindow::read(r)?),
            Memory::FixLearnedA(_) => Memory::FixLearnedA(fix_learned::FirstWindow::read(r)?),
            Memory::Lru2(_) => Memory::Lru2(lru_2::Newest::read(r)?),
            Memory::IndHist(_, period) => Memory::IndHist(Hourly::read(r, *period)?, *period),
            Memory::IndHistTtl(fresh) => Memory::IndHistTtl(Box::new(fresh.read(r, version)?)),
            Memory::IndHistAgg(_) => Memory::IndHistAgg(Box::new(indhist_agg::Memory::read(r)?)),
            Memory::Lihz(_) => Memory::Lihz(lihz::Weekdays::read(r, version)?),
            Memory::AdvaRss(_) => Memory::AdvaRss(Box::new(advarss::Memory::read(r)?)),
            Memory::AdvaRssHybrid(_) => {
                Memory::AdvaRssHybrid(Box::new(advarss_hybrid::Memory::read(r, version)?))
            }
            Memory::Model(fresh) => {
                let model = Model::decode(std::mem::take(&mut r.0))?;
                Memory::Model(Box::new(Some(model).filter(|model| model.is_alike(fresh))?))
            }
            Memory::EntryFrequency(fresh) => {
                Memory::EntryFrequency(fresh.clone().read(r, version)?)
            }
            Memory::AdaptiveFetch(_) => Memory::AdaptiveFetch(adaptive_fetch::Interval::read(r)?),
        };
        reader.0.is_empty().then_some(memory)
    }
}
