//! Polls that no terminal takes now, because those of their region have no room or there are none.
//! They wait. Nothing was sent, so nobody is blamed, and no poll and no expense is counted.

use std::collections::VecDeque;
use std::time::Duration;

use dispatch::{GrantId, PollReading};
use feed::{ExchangeFacts, FeedId, Time, Trouble};

use super::callers::refused;
use super::record::{ExchangeEnd, ExchangeVerdict};
use super::under_way::PollUnderWay;
use super::{Controller, PROBE};
use crate::Watch;
use crate::terminals::TerminalLack;

/// The wait of a poll that no terminal takes.
const TERMINAL_RETRY: Duration = Duration::from_secs(5);
/// A redirected poll that no terminal took for so long ends. It would have to begin again, so the
/// servers that redirected it are not asked again before.
const HOP_WAIT_MAX: Duration = Duration::from_secs(600);
/// Callers wait so long while no terminal is connected. After a start, terminals come within
/// seconds.
const NO_TERMINAL_MAX: Duration = Duration::from_secs(10);
/// How often the log says that polls wait.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Redirected polls that wait for a terminal, the next one first.
pub type ParkedHops = VecDeque<(Time, Box<PollUnderWay>)>;

impl Controller {
    /// Puts off a granted request that no terminal takes.
    pub(super) fn postpone(
        &mut self,
        grant: GrantId,
        feed: FeedId,
        hop: Option<Box<PollUnderWay>>,
        lack: &TerminalLack,
    ) {
        let now = self.context.clock.now();
        if now.since(self.lack_logged) >= LOG_EVERY || self.lack_logged > now {
            self.lack_logged = now;
            tracing::warn!(feed = feed.0, "polls wait: {lack}");
        }
        let Some(open) = self.plan.close(grant) else { return };
        self.plan.not_sent(open.domain, now);
        let until = now + TERMINAL_RETRY;
        if let Some(poll) = hop {
            return self.park(poll, now, until, lack);
        }
        // Room comes soon. A caller waits for it, but not for a terminal that may never come.
        let is_soon = matches!(lack, TerminalLack::NoRoom(_)) && self.watch == Watch::All;
        let waits = is_soon && self.callers.wait_for(feed);
        if !waits {
            self.callers.answer(feed, &refused(feed, lack.to_string(), Some(until)));
        }
        self.plan.postpone(feed, until, waits);
        if let Some(spending) = &mut self.spending {
            spending.release(feed, until);
        }
    }

    /// Keeps a redirected poll until its next request can be sent, or ends it after a while.
    fn park(&mut self, mut poll: Box<PollUnderWay>, now: Time, until: Time, lack: &TerminalLack) {
        if now.since(*poll.parked_since.get_or_insert(now)) < HOP_WAIT_MAX {
            self.plan.park();
            self.parked.push_back((until, poll));
            return;
        }
        let detail = format!("it redirects to {}, and {lack}", poll.domain());
        let reading = PollReading::Failed { trouble: Trouble::Waiting, detail };
        let verdict = ExchangeVerdict { pace: None, our_network: true };
        let facts = ExchangeFacts::default();
        self.conclude(*poll, reading, ExchangeEnd { at: now, facts, verdict, raw: None });
    }

    /// Queues the redirected polls whose wait is over.
    pub(super) fn unpark(&mut self, now: Time) {
        while let Some((_, poll)) = self.parked.pop_front_if(|(at, _)| *at <= now) {
            self.plan.unpark();
            self.hop(*poll);
        }
    }

    /// Answers callers who would wait in vain, because no terminal has been connected for a while.
    /// Returns when to look again.
    pub(super) fn answer_without_terminal(&mut self, room: usize, now: Time) -> Option<Time> {
        let clock = self.stopwatch.elapsed();
        let lack = (room == 0).then(|| self.terminals.lack(None, clock));
        let Some(lack @ TerminalLack::NotConnected(_)) = lack else {
            self.no_terminal_since = None;
            return None;
        };
        let since = *self.no_terminal_since.get_or_insert(clock);
        if self.callers.is_empty() {
            return None;
        }
        if clock.saturating_sub(since) < NO_TERMINAL_MAX {
            return Some(now + PROBE);
        }
        for feed in self.callers.feeds() {
            self.callers.answer(feed, &refused(feed, lack.to_string(), None));
        }
        None
    }
}
