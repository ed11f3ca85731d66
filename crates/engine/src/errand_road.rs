//! Picks the terminal of an errand, and sends it to terminals on other machines. The request leaves
//! after its grant is committed. Its domain stays busy until the answer is here or the grant has
//! ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dispatch::machine::Jobs;
use dispatch::wire::WIRE_REQUEST_SETTINGS;
use dispatch::{
    Bus, BusError, ErrandJob, ErrandReading, ErrandRequest, ErrandResult, GrantId, Stopwatch,
};
use feed::{Domain, Time, Trouble};
use tokio::sync::oneshot;

use crate::terminals::{RemotePlace, RequestEnd, TerminalLack, Terminals};

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
    /// The longest body that a terminal may bring, if the job has no limit of its own.
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
    end: RequestEnd,
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
            self.terminals.ended(grant, RequestEnd::Dropped);
            return Ok(None);
        };
        let (road, end) = (Arc::clone(self), RequestEnd::Dropped);
        Ok(Some(AwayTerminal { road, bus, grant, name, place, send_by, end }))
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
    pub async fn send(mut self, job: ErrandJob) -> ErrandResult {
        let grant = self.grant;
        let job = ErrandJob { send_by: self.send_by, ..job };
        let has_own = matches!(job.request, ErrandRequest::Page { own: Some(_), .. });
        if has_own && self.place.wire < WIRE_REQUEST_SETTINGS {
            let (name, trouble) = (&self.name, Trouble::Settings);
            let detail =
                format!("the terminal {name} does not know the feed's settings; update it");
            return ErrandResult::bare(grant, ErrandReading::Failed { trouble, detail });
        }
        let bytes_max = match job.request {
            ErrandRequest::File { bytes_max, .. } => bytes_max,
            ErrandRequest::Page { .. } | ErrandRequest::Post { .. } => self.bus.bytes_max,
        };
        match self.answer(job).await {
            Ok(Some(result)) => {
                self.end = RequestEnd::Answered;
                self.within_limits(result, bytes_max)
            }
            Ok(None) => {
                self.end = RequestEnd::Expired;
                let detail = "the terminal did not answer in time".to_owned();
                let trouble = Trouble::Timeout;
                ErrandResult::bare(grant, ErrandReading::Failed { trouble, detail })
            }
            Err(error) => {
                tracing::debug!(%error, "an errand could not be sent");
                ErrandResult::bare(grant, ErrandReading::NotSent)
            }
        }
    }

    /// Sends the job. Returns its answer; `None`: there was none before the end of the grant.
    async fn answer(&self, job: ErrandJob) -> Result<Option<ErrandResult>, BusError> {
        let (road, bus, grant) = (&self.road, &self.bus, self.grant);
        let (sender, answer) = oneshot::channel();
        road.lock().insert(grant, sender);
        let message = Jobs { epoch: bus.epoch, jobs: Vec::new(), errands: vec![job] };
        let RemotePlace { subject, wire } = &self.place;
        let sent = bus.bus.publish(subject, *wire, &message, None).await;
        let answered = match &sent {
            Ok(()) => tokio::time::timeout(bus.grant_life, answer).await.ok(),
            Err(_) => None,
        };
        road.lock().remove(&grant);
        sent?;
        Ok(answered.and_then(Result::ok))
    }

    /// Holds a terminal to the limit of the answer: it is another machine.
    fn within_limits(&self, result: ErrandResult, bytes_max: usize) -> ErrandResult {
        match &result.reading {
            ErrandReading::Body { bytes, .. } if bytes.len() > bytes_max => {
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
        self.road.terminals.ended(self.grant, self.end);
    }
}
