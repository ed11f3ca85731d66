//! A poll under way: the input that the store gave for it, kept by the controller from the first
//! grant until the poll is recorded.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dispatch::{GrantId, PassedDomain, PollJob, SoFar};
use feed::{Domain, FeedId, Time, Window};
use store::PollInput;
use url::Url;

use crate::conclude;
use crate::confirmation::Confirmation;

/// More redirects than this are a loop or a trap.
pub const HOPS_MAX: u32 = 5;

/// A poll between its first grant and its record.
pub struct PollUnderWay {
    /// Without the window, which the worker shares until the result arrives.
    input: PollInput,
    window: Arc<Window>,
    /// The cause of the poll in short, if a strategy planned it.
    cause: Option<String>,
    /// The address of the current or the next request.
    url: Url,
    /// The worker adds what it measured. The redirects are the controller's own knowledge.
    pub so_far: SoFar,
    /// The grants of its requests.
    grants: Vec<GrantId>,
    /// When it began to wait for a terminal, if its next request has to.
    pub parked_since: Option<Time>,
    /// The duty to confirm the last result, if another machine brought it.
    pub confirmation: Option<Confirmation>,
}

impl PollUnderWay {
    /// Begins a poll whose first request is sent at `at`.
    pub fn new(mut input: PollInput, cause: Option<String>, at: Time) -> PollUnderWay {
        let url = input.location.current().url().clone();
        let window = Arc::new(mem::take(&mut input.document.window));
        let so_far = SoFar { first_sent_at: Some(at.floor_to_second()), ..SoFar::default() };
        let grants = Vec::with_capacity(1);
        let (parked_since, confirmation) = (None, None);
        PollUnderWay { input, window, cause, url, so_far, grants, parked_since, confirmation }
    }

    /// Continues a poll whose result came from an earlier grant.
    pub fn resumed(input: PollInput, grant: GrantId, so_far: SoFar, at: Time) -> PollUnderWay {
        let mut poll = PollUnderWay::new(input, None, at);
        if let Some(url) = &so_far.redirected_to {
            poll.url = url.clone();
        }
        poll.so_far = so_far;
        poll.grants.push(grant);
        poll
    }

    pub fn window(&self) -> Arc<Window> {
        Arc::clone(&self.window)
    }

    pub fn feed(&self) -> FeedId {
        self.input.id
    }

    /// The domain of the current or the next request.
    pub fn domain(&self) -> Domain {
        Domain::of(&self.url)
    }

    /// Makes the job of the next request. To another machine only the window's digest travels.
    pub fn job(&mut self, grant: GrantId, send_by: Duration, is_remote: bool) -> PollJob {
        self.grants.push(grant);
        let (window, window_digest) = match is_remote {
            true => (Arc::default(), Some(self.window.digest())),
            false => (Arc::clone(&self.window), None),
        };
        PollJob {
            grant,
            feed: self.input.id,
            generation: self.input.generation,
            url: self.url.clone(),
            validators: conclude::validators(&self.input, &self.url),
            body_hash: self.input.document.body_hash,
            window,
            window_digest,
            send_by,
            so_far: self.so_far.clone(),
            whole: false,
            request: None,
        }
    }

    /// Takes the sums that came back with a result.
    pub fn measured(&mut self, result: &SoFar) {
        let SoFar { bytes, elapsed, parse, .. } = *result;
        (self.so_far.bytes, self.so_far.elapsed, self.so_far.parse) = (bytes, elapsed, parse);
    }

    /// Follows a redirect that arrived at `at`. Returns false if there were too many.
    pub fn redirect(&mut self, to: Url, permanent: bool, at: Time) -> bool {
        self.so_far.passed.push(PassedDomain { domain: self.domain(), at });
        self.so_far.n_hops += 1;
        if self.so_far.n_hops > HOPS_MAX {
            return false;
        }
        self.so_far.permanent &= permanent;
        self.so_far.redirected_to = Some(to.clone());
        self.url = to;
        true
    }

    /// Notes when the first request was really sent: `measured` before its result arrived at `at`,
    /// by the terminal's own stopwatch. No clock of another machine is believed.
    pub fn sent_before(&mut self, at: Time, measured: Duration) {
        let sent = (at - measured).floor_to_second();
        if self.so_far.n_hops == 0
            && let Some(handed_over) = self.so_far.first_sent_at
        {
            self.so_far.first_sent_at = Some(handed_over.max(sent));
        }
    }

    /// Separates the input from the course of the poll, once no worker needs the window.
    pub fn split(self) -> (PollInput, PollCourse) {
        let PollUnderWay { mut input, window, cause, url, so_far, grants, confirmation, .. } = self;
        input.document.window = Arc::unwrap_or_clone(window);
        (input, PollCourse { cause, url, so_far, grants, confirmation })
    }
}

/// The course of a poll that has ended.
pub struct PollCourse {
    pub cause: Option<String>,
    /// The address of the last request.
    pub url: Url,
    pub so_far: SoFar,
    pub grants: Vec<GrantId>,
    pub confirmation: Option<Confirmation>,
}

/// The polls that workers have, by grant. Preparation adds to it, the controller's loop takes from
/// it.
#[derive(Default)]
pub struct PollsAtWorkers(Mutex<HashMap<GrantId, PollUnderWay>>);

impl PollsAtWorkers {
    pub fn insert(&self, grant: GrantId, poll: PollUnderWay) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(grant, poll);
    }

    /// Returns the window of a poll under way.
    pub fn window(&self, grant: GrantId) -> Option<Arc<Window>> {
        let polls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        polls.get(&grant).map(PollUnderWay::window)
    }

    pub fn remove(&self, grant: GrantId) -> Option<PollUnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&grant)
    }
}
