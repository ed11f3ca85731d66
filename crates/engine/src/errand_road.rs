//! Picks the terminal of an errand, and sends it to terminals on other machines. The request leaves
//! after its grant is committed. Its domain stays busy until the answer is here or the grant has
//! ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dispatch::machine::Jobs;
use dispatch::{Bus, ErrandJob, ErrandReading, ErrandResult, GrantId, Stopwatch};
use feed::{Domain, Time, Trouble};
use tokio::sync::oneshot;

use crate::terminals::{RemotePlace, TerminalLack, Terminals};

/// The time that a terminal has to send a granted request.
pub const SEND_WITHIN: Duration = Duration::from_secs(5);

/// The way of errands to the terminals of their regions.
pub struct ErrandRoad {
    terminals: Arc<Terminals>,
    stopwatch: Stopwatch,
    /// The regions that domains ask for.
    regions: HashMap<String, String>,
    /// The way to terminals on other machines, if there is a bus.
    bus: Option<ErrandBus>,
    waiting: Mutex<HashMap<GrantId, oneshot::Sender<ErrandResult>>>,
}

/// The bus, and the terms of errands on it.
#[derive(Clone)]
pub struct ErrandBus {
    pub bus: Bus,
    pub epoch: i64,
    /// The time from a grant to its end.
    pub grant_life: Duration,
    /// The longest body that a terminal may bring.
    pub bytes_max: usize,
}

/// The terminal that was picked for an errand. Dropping it gives the terminal's place back.
pub struct AwayTerminal {
    road: Arc<ErrandRoad>,
    bus: ErrandBus,
    grant: GrantId,
    pub name: Arc<str>,
    place: RemotePlace,
    send_by: Duration,
}

impl ErrandRoad {
    pub fn new(
        terminals: Arc<Terminals>,
        stopwatch: Stopwatch,
        regions: HashMap<String, String>,
        bus: Option<ErrandBus>,
    ) -> ErrandRoad {
        ErrandRoad { terminals, stopwatch, regions, bus, waiting: Mutex::default() }
    }

    /// Picks the terminal for an errand. `None`: this process sends it, because its own terminal
    /// was picked, or because nobody else has room and this process stands in the right region.
    /// Fails with the reason if no terminal of the region takes it now.
    pub fn pick(
        self: &Arc<ErrandRoad>,
        grant: GrantId,
        domain: &Domain,
        region: Option<&str>,
        now: Time,
    ) -> Result<Option<AwayTerminal>, TerminalLack> {
        let clock = self.stopwatch.elapsed();
        let region = region.or_else(|| self.regions.get(domain.as_str()).map(String::as_str));
        let Some(picked) = self.terminals.pick_for_errand(grant, domain, region, now, clock) else {
            return match region {
                Some(of) if !self.terminals.is_local(of) => Err(self.terminals.lack(region, clock)),
                _ => Ok(None),
            };
        };
        let (name, send_by) = (picked.name, clock + SEND_WITHIN);
        let (Some(place), Some(bus)) = (picked.remote, self.bus.clone()) else {
            self.terminals.ended(grant, false);
            return Ok(None);
        };
        Ok(Some(AwayTerminal { road: Arc::clone(self), bus, grant, name, place, send_by }))
    }

    /// Takes a result from the bus. Returns false if nobody waits for it.
    pub fn arrived(&self, result: ErrandResult) -> bool {
        let waiting = self.lock().remove(&result.grant);
        waiting.is_some_and(|waiting| waiting.send(result).is_ok())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<GrantId, oneshot::Sender<ErrandResult>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AwayTerminal {
    /// Sends a request, and waits for its answer or for the end of its grant.
    pub async fn send(self, job: ErrandJob) -> ErrandResult {
        let (road, bus, grant) = (&self.road, &self.bus, self.grant);
        let job = ErrandJob { send_by: self.send_by, ..job };
        let (sender, answer) = oneshot::channel();
        road.lock().insert(grant, sender);
        let message = Jobs { epoch: bus.epoch, jobs: Vec::new(), errands: vec![job] };
        let RemotePlace { subject, wire } = &self.place;
        if let Err(error) = bus.bus.publish(subject, *wire, &message, None).await {
            tracing::debug!(%error, "an errand could not be sent");
            road.lock().remove(&grant);
            return ErrandResult::bare(grant, ErrandReading::NotSent);
        }
        let answered = tokio::time::timeout(bus.grant_life, answer).await;
        road.lock().remove(&grant);
        match answered {
            Ok(Ok(result)) => self.within_limits(result),
            _ => {
                let detail = "the terminal did not answer in time".to_owned();
                let trouble = Trouble::Timeout;
                ErrandResult::bare(grant, ErrandReading::Failed { trouble, detail })
            }
        }
    }

    /// Holds a terminal to the limit of answers: it is another machine.
    fn within_limits(&self, result: ErrandResult) -> ErrandResult {
        match &result.reading {
            ErrandReading::Body { bytes, .. } if bytes.len() > self.bus.bytes_max => {
                let detail = format!("the terminal {} sent more than it may", self.name);
                let reading = ErrandReading::Failed { trouble: Trouble::TooLarge, detail };
                ErrandResult { reading, ..result }
            }
            _ => result,
        }
    }
}

impl Drop for AwayTerminal {
    fn drop(&mut self) {
        self.road.terminals.ended(self.grant, false);
    }
}
