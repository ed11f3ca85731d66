//! Why no terminal takes a request, and the regions that have none.

use std::time::Duration;

use super::Terminals;

/// A region lacks a terminal until nobody has asked in vain for so long. Polls ask every few
/// seconds, pages once a minute.
const LACKS_FOR: Duration = Duration::from_secs(90);
/// Regions that are remembered. An instance has fewer.
const REGIONS_MAX: usize = 100;

/// Why no terminal takes a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TerminalLack {
    #[error("no terminal{0} is connected")]
    NotConnected(String),
    #[error("no terminal{0} has room")]
    NoRoom(String),
}

impl Terminals {
    /// Says why no terminal takes a request that only a region may send.
    pub fn lack(&self, region: Option<&str>, clock: Duration) -> TerminalLack {
        let mut registry = self.lock();
        let mut connected = registry.list.iter().filter(|slot| {
            let fits = region.is_none() || slot.region.as_deref() == region;
            fits && slot.room > 0 && !slot.finishes() && slot.hears() && !slot.is_silent(clock)
        });
        let of = region.map(|region| format!(" of region {region}")).unwrap_or_default();
        if connected.next().is_some() {
            return TerminalLack::NoRoom(of);
        }
        if let Some(region) = region.filter(|_| registry.lacking.len() < REGIONS_MAX) {
            registry.lacking.insert(region.to_owned(), clock);
        }
        TerminalLack::NotConnected(of)
    }

    /// Returns the regions for which a request waits and no terminal is connected.
    pub fn lacking(&self, clock: Duration) -> Vec<String> {
        let mut registry = self.lock();
        registry.lacking.retain(|_, asked| clock.saturating_sub(*asked) < LACKS_FOR);
        let is_served = |region: &str| {
            let mut slots = registry.list.iter();
            slots.any(|slot| {
                let is_there = slot.hears() && !slot.is_silent(clock);
                is_there && slot.region.as_deref() == Some(region)
            })
        };
        registry.lacking.keys().filter(|region| !is_served(region)).cloned().collect()
    }

    /// Returns whether the terminal in this process stands in a region.
    pub fn is_local(&self, region: &str) -> bool {
        let registry = self.lock();
        let local = registry.list.iter().find(|slot| slot.remote.is_none());
        local.is_some_and(|slot| slot.room > 0 && slot.region.as_deref() == Some(region))
    }
}
