//! Settles results at once, before the polls are recorded: closes the grant, updates the domain's
//! pace and our network's state, and queues the next hop of a redirect.

use std::sync::Arc;
use std::time::Duration;

use dispatch::{GrantId, PollReading, PollResult};
use feed::{ExchangeFacts, FeedId, Outcome, RetryAfter, Time, Trouble};
use polling::outage::Reach;

use super::Controller;
use super::callers::refused;
use super::record::{self, ExchangeEnd, ExchangeVerdict, INTERNAL_ERROR, RECORD_RETRY};
use super::under_way::{HOPS_MAX, PollUnderWay};
use crate::event::{ErrandEnd, Finished, PollAnswer};
use crate::plan::{OpenGrant, Work};

/// The wait of feeds whose failures were our network's, after the outage was recognised.
const FORGIVEN_WAIT: Duration = Duration::from_secs(60);

impl Controller {
    /// Handles the result of a grant. The result of an expired grant is dropped.
    pub(super) fn result(&mut self, result: PollResult) {
        let PollResult { grant, so_far, facts, reading, .. } = result;
        let poll = self.polls.remove(grant);
        let (Some(open), Some(mut poll)) = (self.plan.close(grant), poll) else {
            tracing::debug!(grant = grant.0, "the result of an expired grant was dropped");
            return;
        };
        let at = self.context.clock.now();
        poll.so_far = so_far;
        match reading {
            PollReading::NotSent => {
                self.plan.not_sent(open.domain, at);
                self.abandon(open.feed, "the job reached its worker too late".to_owned());
            }
            PollReading::WorkerFailed => {
                self.settle(&open, Reach::Answered, &facts, at);
                self.abandon(open.feed, INTERNAL_ERROR.to_owned());
            }
            PollReading::Moved { to, permanent } => {
                self.settle(&open, Reach::Answered, &facts, at);
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
                    ExchangeEnd { at, facts, verdict: Default::default() },
                );
            }
            reading => {
                let verdict = self.settle(&open, reach(&reading), &facts, at);
                self.conclude(poll, reading, ExchangeEnd { at, facts, verdict });
            }
        }
    }

    /// Concludes and records a poll in a task of its own.
    fn conclude(&self, poll: PollUnderWay, reading: PollReading, end: ExchangeEnd) {
        let context = Arc::clone(&self.context);
        tokio::spawn(async move {
            record::conclude_and_record(&context, poll, reading, end).await;
        });
    }

    /// Ends a poll without a record, in a task of its own.
    fn abandon(&self, feed: FeedId, why: String) {
        let context = Arc::clone(&self.context);
        tokio::spawn(async move { record::abandon(&context, feed, why) });
    }

    /// Ends a poll whose job no worker has.
    pub(super) fn not_prepared(&mut self, grant: GrantId, feed: FeedId, why: String) {
        if let Some(open) = self.plan.close(grant) {
            self.plan.not_sent(open.domain, self.context.clock.now());
            self.abandon(feed, why);
        }
    }

    /// Ends the polls whose grants expired. Their feeds are polled again soon.
    pub(super) fn end_expired(&mut self, now: Time) {
        for (grant, open) in self.plan.expire(self.stopwatch.elapsed(), now) {
            let OpenGrant { domain, feed, generation } = open;
            tracing::warn!(feed = feed.0, "a worker did not answer in time");
            self.polls.remove(grant);
            let domain = self.plan.domain_name(domain).clone();
            let next_at = Some(now + RECORD_RETRY);
            let finished = Finished { feed, domain, next_at, generation, budgeted: None };
            let detail = "the worker did not answer in time; the feed is polled again".to_owned();
            self.finished(finished, &PollAnswer::without_record(feed, Outcome::Failed, detail));
        }
    }

    /// Settles the pace of a domain and the state of our network after an exchange.
    fn settle(
        &mut self,
        open: &OpenGrant,
        reach: Reach,
        facts: &ExchangeFacts,
        at: Time,
    ) -> ExchangeVerdict {
        let (domain, mut verdict) = (open.domain, ExchangeVerdict::default());
        match reach {
            Reach::Unreachable | Reach::NoSuchHost => {
                self.answered(domain, at);
                self.heard(domain, at, Some((open.feed, reach)));
                verdict.our_network = self.network.is_down();
            }
            _ if matches!(facts.status, Some(429 | 503)) => {
                let retry_after = facts.retry_after.map(|wish| relative(wish, facts.date));
                verdict.pace = Some(self.asked_to_wait(domain, at, retry_after));
            }
            _ => {
                self.answered(domain, at);
                self.heard(domain, at, None);
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
    fn asked_to_wait(
        &mut self,
        domain: u32,
        at: Time,
        retry_after: Option<RetryAfter>,
    ) -> polling::pace::DomainPace {
        let mut pace = *self.plan.pace(domain);
        let until = pace.refused(at, retry_after);
        let callers = &self.callers;
        let refused = self.plan.block(domain, pace, |feed| callers.wait_for(feed));
        self.refuse(refused, domain, until);
        self.heard(domain, at, None);
        pace
    }

    /// Handles the end of a request that is not a poll.
    pub(super) fn errand_ended(&mut self, domain: u32, at: Time, answer: ErrandEnd) {
        match answer {
            ErrandEnd::NotSent => return self.plan.not_sent(domain, at),
            ErrandEnd::Unanswered => self.answered(domain, at),
            ErrandEnd::Answered => {
                self.answered(domain, at);
                self.heard(domain, at, None);
            }
            ErrandEnd::AskedToWait { retry_after, pace: reply } => {
                let pace = self.asked_to_wait(domain, at, retry_after);
                // The errand may have been dropped meanwhile.
                let _ = reply.send(pace);
            }
        }
        self.plan.exchanged(domain, at);
    }

    fn heard(&mut self, domain: u32, at: Time, failed: Option<(FeedId, Reach)>) {
        self.to_forgive.extend(self.network.heard(domain, at, failed));
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
    fn hop(&mut self, poll: PollUnderWay) {
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

/// Returns how far a request came.
fn reach(reading: &PollReading) -> Reach {
    match reading {
        PollReading::Failed { trouble: Trouble::NoSuchHost, .. } => Reach::NoSuchHost,
        PollReading::Failed { trouble: Trouble::Lookup | Trouble::Connect, .. } => {
            Reach::Unreachable
        }
        _ => Reach::Answered,
    }
}

/// Turns a date to wait for into a duration from the answer's own `date`, if it has one. By a clock
/// that is behind ours the date would be over already.
fn relative(retry_after: RetryAfter, date: Option<Time>) -> RetryAfter {
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
}
