//! The figures of the engine that every page shows. The process that records stores them with its
//! signs of life, so that other processes can show them too.

use std::time::Duration;

use dispatch::RoadFigures;
use engine::Engine;
use feed::Time;
use serde::{Deserialize, Serialize};
use store::{SeatRow, Store, StoreError};

use super::slot::Started;

/// The figures, in a form that a row can hold.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct SharedFigures {
    not_ready: Option<String>,
    demo: bool,
    started_at_ms: i64,
    in_flight: u64,
    waiting: u64,
    outage: Option<String>,
    lacking_regions: Vec<String>,
    polls_last_hour: u64,
    entries: u64,
    bytes: u64,
    polls: u64,
    seen: u64,
    unchanged: u64,
    failed: u64,
    damaged: u64,
    refused: u64,
    gone: u64,
    suspected_misses: u64,
    /// The budget in force, as it is written.
    rule: Option<String>,
    budget_polls_per_hour: Option<f64>,
    budget_bytes_per_hour: Option<f64>,
    budget_units_per_hour: Option<f64>,
    /// The work with terminals on other machines.
    road: RoadFigures,
}

impl SharedFigures {
    /// Reads the figures of an engine.
    pub fn of(engine: &Engine, started: Started) -> SharedFigures {
        let now = engine.figures();
        let rule = engine.budget();
        let (limits, units) = (rule.map(|r| r.limits()), rule.filter(|r| r.price.is_some()));
        let bytes = limits.filter(|_| units.is_none()).and_then(|b| b.bytes_per_day());
        // The store says more exactly why nothing is stored.
        let not_stored = engine.store.trouble().map(|why| why.to_string());
        SharedFigures {
            not_ready: not_stored.or_else(|| now.trouble().map(str::to_owned)),
            demo: started.is_demo,
            started_at_ms: started.at.millis(),
            in_flight: now.in_flight as u64,
            waiting: now.waiting as u64,
            outage: now.network_down.then(|| "Nearly every server is unreachable.".to_owned()),
            lacking_regions: engine.lacking_regions(),
            polls_last_hour: now.polls_last_hour,
            entries: now.new_entries,
            bytes: now.bytes,
            polls: now.polls,
            seen: now.seen,
            unchanged: now.unchanged,
            failed: now.failed,
            damaged: now.damaged,
            refused: now.refused,
            gone: now.gone,
            suspected_misses: now.suspected_misses,
            rule: rule.map(|rule| rule.to_string()),
            budget_polls_per_hour: limits.map(|b| b.polls_per_day() / 24.0),
            budget_bytes_per_hour: bytes.map(|n| n / 24.0),
            budget_units_per_hour: units.map(|r| r.budget.polls_per_day() / 24.0),
            road: engine.road_figures(),
        }
    }

    /// Reads the figures of the process that records. It does not record if it has shown no sign of
    /// life for `silence_max`. Fails only if another program has changed the schema.
    pub fn of_recorder(
        store: &Store,
        started: Started,
        silence_max: Duration,
    ) -> Result<SharedFigures, StoreError> {
        match store.seat() {
            Err(error @ StoreError::Newer { .. }) => Err(error),
            Err(error) => Ok(SharedFigures::not_ready(error.to_string(), started)),
            Ok(Some(seat)) if seat.silent_for < silence_max => {
                let figures = seat.figures.as_deref().unwrap_or("{}");
                let figures = serde_json::from_str(figures).unwrap_or_default();
                // The page says how long this process has been running, not the other one.
                Ok(SharedFigures { started_at_ms: started.at.millis(), ..figures })
            }
            Ok(_) => Ok(SharedFigures::of_nobody(started)),
        }
    }

    /// Returns the regions without a terminal, as the row of the process that records names them.
    pub fn lacking_regions(seat: &SeatRow) -> Vec<String> {
        let figures = seat.figures.as_deref().and_then(|text| serde_json::from_str(text).ok());
        figures.map_or_else(Vec::new, |figures: SharedFigures| figures.lacking_regions)
    }

    /// The figures while no process records.
    pub fn of_nobody(started: Started) -> SharedFigures {
        let why = "no process polls at the moment; one takes over soon";
        SharedFigures::not_ready(why.to_owned(), started)
    }

    fn not_ready(why: String, started: Started) -> SharedFigures {
        let started_at_ms = started.at.millis();
        SharedFigures { not_ready: Some(why), started_at_ms, ..Self::default() }
    }

    /// The state of the engine, as the page shows it.
    pub fn state(&self) -> api::EngineState {
        api::EngineState {
            not_ready: self.not_ready.clone(),
            polls_elsewhere: false,
            demo: self.demo,
            started_at: Time::from_millis(self.started_at_ms),
            in_flight: self.in_flight,
            waiting: self.waiting,
            polls_last_hour: self.polls_last_hour,
            outage: self.outage.clone(),
            lacking_regions: self.lacking_regions.clone(),
            polls_total: self.polls,
            polls_failed_total: self.failed + self.refused + self.gone,
            entries_total: self.entries,
            bytes_total: self.bytes,
        }
    }

    /// The polls by outcome.
    pub fn totals(&self) -> api::PollTotals {
        api::PollTotals {
            seen: self.seen,
            unchanged: self.unchanged,
            failed: self.failed,
            damaged: self.damaged,
            refused: self.refused,
            gone: self.gone,
            suspected_misses: self.suspected_misses,
            budget_polls_per_hour: self.budget_polls_per_hour,
            budget_bytes_per_hour: self.budget_bytes_per_hour,
            budget_units_per_hour: self.budget_units_per_hour,
            road: self.road,
        }
    }

    /// The budget in force, as it is written.
    pub fn rule(&self) -> Option<String> {
        self.rule.clone()
    }
}
