//! Settles results at once, before the polls are recorded: closes the grant, updates the domain's
//! pace and our network's state, and queues the next hop of a redirect.

use std::sync::Arc;
use std::time::Duration;

use dispatch::machine::Verdict;
use dispatch::{EndPoint, GrantId, PollReading, PollResult};
use feed::{ExchangeFacts, FeedId, Outcome, RetryAfter, Time, Trouble};
use polling::outage::Reach;

use super::Controller;
use super::callers::refused;
use super::record::{self, ExchangeEnd, ExchangeVerdict, INTERNAL_ERROR, RECORD_RETRY, SEND_RETRY};
use super::under_way::{HOPS_MAX, PollUnderWay};
use crate::confirmation::Confirmation;
use crate::event::{ErrandEnd, Finished, PollAnswer};
use crate::plan::Work;
use crate::terminals::RequestEnd;

/// The wait of feeds whose failures were our network's, after the outage was recognised.
const FORGIVEN_WAIT: Duration = Duration::from_secs(60);

/// A grant whose result arrived, and the terminal that sent it.
struct AnsweredGrant {
    domain: u32,
    feed: FeedId,
    terminal: Option<usize>,
}

impl Controller {
    /// Handles the result of a grant.
    pub(super) fn result(&mut self, result: PollResult, confirmation: Option<Confirmation>) {
        dispatch::end_at(EndPoint::ResultArrived);
        // A grant stays open until its job has left: no result can be true before.
        let Some(mut poll) = self.polls.remove(result.grant) else {
            return self.late_result(result, confirmation);
        };
        let Some(open) = self.plan.close(result.grant) else {
            return self.late_result(result, confirmation);
        };
        let at = self.context.clock.now();
        let terminal = self.terminals.ended(result.grant, RequestEnd::Polled);
        let measured = result.elapsed.saturating_add(result.held);
        let PollResult { grant, so_far, facts, reading, raw, .. } = result;
        poll.measured(&so_far);
        if confirmation.is_some() {
            poll.sent_before(at, measured);
        }
        let open = AnsweredGrant { domain: open.domain, feed: open.feed, terminal };
        if let PollReading::NotSent | PollReading::WorkerFailed | PollReading::Moved { .. } =
            reading
        {
            // It brought nothing to record.
            match confirmation {
                Some(confirmation) if matches!(reading, PollReading::NotSent) => {
                    confirmation.answer_not_sent();
                }
                Some(confirmation) => confirmation.answer(Verdict::Stale),
                None => {}
            }
        } else {
            poll.confirmation = confirmation;
        }
        match reading {
            PollReading::NotSent => {
                if let Some(book) = &self.context.grants {
                    book.ended(grant);
                }
                self.plan.not_sent(open.domain, at);
                let why = "the job reached its worker too late".to_owned();
                self.abandon(open.feed, why, SEND_RETRY);
            }
            PollReading::WorkerFailed => {
                self.settle(&open, None, &facts, at);
                self.abandon(open.feed, INTERNAL_ERROR.to_owned(), RECORD_RETRY);
            }
            PollReading::Moved { to, permanent } => {
                self.settle(&open, Some(Reach::Answered), &facts, at);
                let masked = feed::mask_secrets(&to);
                if poll.redirect(to, permanent, at) {
                    return self.hop(poll);
                }
                let detail =
                    format!("more than {HOPS_MAX} redirects; the last one leads to {masked}");
                let reading = PollReading::Failed { trouble: Trouble::Redirect, detail };
                let facts = ExchangeFacts::default();
                self.conclude(
                    poll,
                    reading,
                    ExchangeEnd { at, facts, verdict: Default::default(), raw },
                );
            }
            reading => {
                let verdict = self.settle(&open, reach(&reading, &facts), &facts, at);
                self.conclude(poll, reading, ExchangeEnd { at, facts, verdict, raw });
            }
        }
    }

    /// Concludes and records a poll in a task of its own.
    pub(super) fn conclude(&self, poll: PollUnderWay, reading: PollReading, end: ExchangeEnd) {
        let context = Arc::clone(&self.context);
        tokio::spawn(async move {
            record::conclude_and_record(&context, poll, reading, end).await;
        });
    }

    /// Ends a poll without a record, in a task of its own.
    fn abandon(&self, feed: FeedId, why: String, wait: Duration) {
        let context = Arc::clone(&self.context);
        tokio::spawn(async move { record::abandon(&context, feed, why, wait) });
    }

    /// Ends a poll whose job no worker has.
    pub(super) fn not_prepared(&mut self, grant: GrantId, feed: FeedId, why: String) {
        self.terminals.ended(grant, RequestEnd::Dropped);
        if let Some(open) = self.plan.close(grant) {
            self.plan.not_sent(open.domain, self.context.clock.now());
            self.abandon(feed, why, RECORD_RETRY);
        }
    }

    /// Ends the polls whose grants expired. Their feeds are polled again soon.
    pub(super) fn end_expired(&mut self, now: Time) {
        for (grant, open) in self.plan.expire(self.stopwatch.elapsed(), now) {
            let feed = open.feed;
            tracing::warn!(feed = feed.0, "a worker did not answer in time");
            self.context.tally.expired();
            self.terminals.ended(grant, RequestEnd::Expired);
            self.polls.remove(grant);
            let next_at = Some(now + SEND_RETRY);
            // The domain of the grant is not the feed's own if the poll was redirected.
            let finished = Finished { feed, domain: None, next_at, generation: 0, budgeted: None };
            let detail = "the worker did not answer in time; the feed is polled again".to_owned();
            self.finished(finished, &PollAnswer::without_record(feed, Outcome::Failed, detail));
        }
    }

    /// Settles the pace of a domain and the state of our network after an exchange. Without a
    /// `reach` it says nothing about the network.
    fn settle(
        &mut self,
        open: &AnsweredGrant,
        reach: Option<Reach>,
        facts: &ExchangeFacts,
        at: Time,
    ) -> ExchangeVerdict {
        let (domain, mut verdict) = (open.domain, ExchangeVerdict::default());
        match reach {
            None => self.answered(domain, at),
            Some(reach @ (Reach::Unreachable | Reach::NoSuchHost)) => {
                self.answered(domain, at);
                self.heard(open.terminal, domain, at, Some((open.feed, reach)));
                verdict.our_network =
                    open.terminal.is_some_and(|terminal| self.terminals.is_down(terminal));
            }
            Some(_) if matches!(facts.status, Some(429 | 503)) => {
                let retry_after = facts.retry_after.map(|wish| relative(wish, facts.date));
                verdict.pace = Some(self.asked_to_wait(domain, at, retry_after, open.terminal));
            }
            Some(_) => {
                self.answered(domain, at);
                self.heard(open.terminal, domain, at, None);
            }
        }
        self.plan.exchanged(domain, at);
        verdict
    }

    fn answered(&mut self, domain: u32, at: Time) {
        let mut pace = *self.plan.pace(domain);
        pace.answered(at);
        self.plan.set_pace(domain, pace);
    }

    /// Blocks a domain that asked us to wait. Returns its pace, to be stored.
    pub(super) fn asked_to_wait(
        &mut self,
        domain: u32,
        at: Time,
        retry_after: Option<RetryAfter>,
        terminal: Option<usize>,
    ) -> polling::pace::DomainPace {
        let mut pace = *self.plan.pace(domain);
        let until = pace.refused(at, retry_after);
        let callers = &self.callers;
        let refused = self.plan.block(domain, pace, |feed| callers.wait_for(feed));
        self.refuse(refused, domain, until);
        self.heard(terminal, domain, at, None);
        pace
    }

    /// Handles the end of a request that is not a poll.
    pub(super) fn errand_ended(&mut self, domain: u32, at: Time, answer: ErrandEnd, is_away: bool) {
        // The terminal of this process is the first. Errands of others say nothing about it.
        let terminal = (!is_away).then_some(0);
        match answer {
            ErrandEnd::NotSent => return self.plan.not_sent(domain, at),
            ErrandEnd::Unanswered => self.answered(domain, at),
            ErrandEnd::Answered => {
                self.answered(domain, at);
                self.heard(terminal, domain, at, None);
            }
            ErrandEnd::AskedToWait { retry_after, pace: reply } => {
                let pace = self.asked_to_wait(domain, at, retry_after, terminal);
                // The errand may have been dropped meanwhile.
                let _ = reply.send(pace);
            }
        }
        self.plan.exchanged(domain, at);
    }

    fn heard(
        &mut self,
        terminal: Option<usize>,
        domain: u32,
        at: Time,
        failed: Option<(FeedId, Reach)>,
    ) {
        if let Some(terminal) = terminal {
            self.to_forgive.extend(self.terminals.exchanged(terminal, domain, at, failed));
        }
        self.forgive(at);
    }

    /// Takes back the blame of feeds whose poll is recorded by now.
    pub(super) fn forgive(&mut self, now: Time) {
        let plan = &self.plan;
        let feeds: Vec<FeedId> =
            self.to_forgive.extract_if(|feed| !plan.is_under_way(*feed)).collect();
        if feeds.is_empty() {
            return;
        }
        let context = Arc::clone(&self.context);
        tokio::spawn(async move { context.forgive(&feeds, now + FORGIVEN_WAIT).await });
    }

    /// Answers the callers whose polls a Retry-After refuses: they do not wait for hours.
    fn refuse(&mut self, refused_work: Vec<Work<PollUnderWay>>, domain: u32, until: Time) {
        for work in refused_work {
            match work {
                Work::Start(feed) => {
                    let detail = format!(
                        "{} asked us to wait until {until}; the feed is polled after that",
                        self.plan.domain_name(domain)
                    );
                    self.callers.answer(feed, &refused(feed, detail, Some(until)));
                    self.plan.schedule_again(feed);
                    if let Some(spending) = &mut self.spending {
                        spending.release(feed, until);
                    }
                }
                Work::Hop(_, poll) => self.give_up(*poll, until),
            }
        }
    }

    /// Queues the next hop of a poll, or ends the poll if the target asked us to wait.
    pub(super) fn hop(&mut self, poll: PollUnderWay) {
        let (feed, domain) = (poll.feed(), self.plan.domain(&poll.domain()));
        let now = self.context.clock.now();
        if let Err((poll, until)) = self.plan.hop(domain, feed, poll, now) {
            self.give_up(poll, until);
        }
    }

    pub(super) fn give_up(&self, poll: PollUnderWay, until: Time) {
        let context = Arc::clone(&self.context);
        tokio::spawn(async move { record::give_up(&context, poll, until).await });
    }
}

/// Returns how far a request came. `None` says nothing about the network: the request was not sent,
/// or the fault is our own.
fn reach(reading: &PollReading, facts: &ExchangeFacts) -> Option<Reach> {
    match reading {
        PollReading::WorkerFailed | PollReading::Blocked { .. } => None,
        PollReading::Failed { trouble: Trouble::Settings | Trouble::Internal, .. } => None,
        PollReading::Failed { trouble: Trouble::NoSuchHost, .. } => Some(Reach::NoSuchHost),
        PollReading::Failed { trouble: Trouble::Lookup | Trouble::Connect, .. } => {
            Some(Reach::Unreachable)
        }
        // A network that drops every packet shows itself so on connections that are open already.
        PollReading::Failed { trouble: Trouble::Timeout, .. } if facts.status.is_none() => {
            Some(Reach::Unreachable)
        }
        _ => Some(Reach::Answered),
    }
}

/// Turns a date to wait for into a duration from the answer's own `date`, if it has one. By a clock
/// that is behind ours the date would be over already.
pub(super) fn relative(retry_after: RetryAfter, date: Option<Time>) -> RetryAfter {
    match (retry_after, date) {
        (RetryAfter::At(at), Some(date)) => RetryAfter::After(at.since(date)),
        (wish, _) => wish,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_to_wait_for_counts_from_the_servers_own() {
        let (ours, two_minutes) = (Time::from_secs(1_700_000_000), Duration::from_secs(120));
        let at = RetryAfter::At(ours);
        let slow = Some(ours - two_minutes);
        assert_eq!(relative(at, slow), RetryAfter::After(two_minutes), "its clock is behind ours");
        assert_eq!(relative(at, None), RetryAfter::At(ours));
        let after = RetryAfter::After(two_minutes);
        assert_eq!(relative(after, slow), after);
    }

    #[test]
    fn only_an_answer_proves_that_the_network_works() {
        let reached = |trouble, status| {
            let reading = PollReading::Failed { trouble, detail: String::new() };
            reach(&reading, &ExchangeFacts { status, ..ExchangeFacts::default() })
        };
        assert_eq!(reached(Trouble::Status, Some(500)), Some(Reach::Answered));
        assert_eq!(reached(Trouble::Timeout, Some(200)), Some(Reach::Answered), "in the body");
        assert_eq!(reached(Trouble::Timeout, None), Some(Reach::Unreachable));
        assert_eq!(reached(Trouble::Settings, None), None);
        assert_eq!(reached(Trouble::Internal, None), None);
        let blocked = PollReading::Blocked { reason: String::new() };
        assert_eq!(reach(&blocked, &ExchangeFacts::default()), None);
    }
}
