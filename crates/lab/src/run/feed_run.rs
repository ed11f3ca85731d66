//! Simulates one feed under one policy, from its first poll to the end. The policy decides every
//! poll except the first, and sees windows only. If the world knows which entries are wanted, only
//! those count.

use feed::{Observation, Outcome, Time};
use polling::model::Model;
use polling::model::profile::Profiles;
use polling::policy::Training;
use polling::{Bounds, Learned, Policy};

use super::tally::{FeedTally, HEADER_BYTES};
use super::{LearnsFrom, Setting};
use crate::{Delay, PolledFeed, World, WorldFeed};

const HOUR_MS: i64 = 3_600_000;

/// The inputs that all feeds of a run share.
pub(super) struct PolicySimulation<'a> {
    pub(super) world: &'a World,
    pub(super) policy: Policy,
    pub(super) bounds: Bounds,
    pub(super) setting: &'a Setting,
    /// For `indhist-agg`: the profiles of similar feeds.
    pub(super) profiles: Option<&'a Profiles>,
    /// The models of the feeds, if they are given.
    pub(super) known: Option<&'a [Model]>,
}

/// The buffers for the results of one feed.
pub(super) struct FeedRunOutput<'a> {
    pub(super) delays: &'a mut Vec<Delay>,
    /// Polls per hour of the test phase.
    pub(super) hours: &'a mut [u32],
    /// Bytes per day of the test phase.
    pub(super) bytes: &'a mut [u64],
    pub(super) polls: Option<&'a mut Vec<Time>>,
}

impl PolicySimulation<'_> {
    /// Returns what the policy knows about a feed at the start.
    pub(super) fn start(&self, feed: usize) -> Learned {
        if let Some(model) = self.known.and_then(|models| models.get(feed)) {
            return self.policy.start_on(model.clone());
        }
        let feed = &self.world.feeds[feed];
        if !self.setting.trained || !self.policy.is_trained() {
            return self.policy.start();
        }
        let phases = &self.setting.phases;
        let training = Training {
            history: feed.visible(),
            start: phases.start,
            end: phases.test_start(),
            zone_secs: self.setting.zone_secs,
        };
        // In the warm-up the training polls of `lihz` are polls of the run.
        let mut learned = if phases.warm_up {
            self.policy.train_by_polling(&training)
        } else {
            self.policy.train(&training)
        };
        if let (Some(profiles), Some(hours)) = (self.profiles, learned.hours()) {
            learned.adopt(profiles.of(&hours));
        }
        learned
    }

    /// Polls a feed until the end; `None` if it does not take part.
    pub(super) fn run_feed(
        &self,
        number: usize,
        mut output: FeedRunOutput<'_>,
    ) -> Option<FeedTally> {
        let feed = &self.world.feeds[number];
        let phases = &self.setting.phases;
        let (first, end) = (phases.first_poll(feed.visible())?, phases.end());
        let counts_from = first.max(phases.test_start());
        let bounds = self.bounds.with_ttl(feed.ttl, self.setting.hints);
        let (mut learned, mut polled) = (self.start(number), PolledFeed::new(self.world, feed));
        let test_start = phases.test_start();
        let mut feed_run =
            FeedRun { feed, test_start, counts_from, last: first, tally: FeedTally::default() };
        let mut at = first;
        while at <= end {
            polled.poll(at);
            let Some(seen) = polled.observation() else { break };
            if let Some(polls) = &mut output.polls {
                polls.push(at);
            }
            feed_run.note(&polled, &seen, &mut output);
            // The wanted part of the observation, if the policy learns from that alone.
            let wanted = match self.setting.learns {
                LearnsFrom::All => None,
                LearnsFrom::Wanted => polled.wanted(&seen),
            };
            let seen = wanted.as_ref().map_or(seen, |wanted| wanted.observation());
            self.policy.learn(&mut learned, &seen);
            at = self.policy.wish(&learned, &seen, &bounds).at;
        }
        Some(feed_run.end(&polled, end))
    }
}

/// The state of one feed's run.
struct FeedRun<'w> {
    feed: &'w WorldFeed,
    test_start: Time,
    /// Polls and entries after this moment count.
    counts_from: Time,
    last: Time,
    tally: FeedTally,
}

impl FeedRun<'_> {
    #[inline]
    fn note(
        &mut self,
        polled: &PolledFeed<'_>,
        seen: &Observation<'_>,
        output: &mut FeedRunOutput<'_>,
    ) {
        let Observation { at, outcome, .. } = *seen;
        let last = std::mem::replace(&mut self.last, at);
        if at <= self.counts_from {
            return;
        }
        let tally = &mut self.tally;
        tally.polls += 1;
        let hour = at.millis_since(self.test_start) / HOUR_MS;
        if let Some(count) = output.hours.get_mut(hour as usize) {
            *count += 1;
        }
        let visible = self.feed.visible();
        let since = last.max(self.counts_from);
        let (window, relevance) = (polled.window_max() as usize, self.feed.relevance());
        match relevance {
            None => tally.wait(visible, polled.appeared(), (since, at), window),
            Some(relevance) => {
                let appeared = polled.appeared();
                tally.wait_for_wanted(visible, relevance, appeared, (since, at), window);
            }
        }
        let bytes = match (polled.document_bytes(), outcome) {
            (Some(_), Outcome::Unchanged) => HEADER_BYTES,
            (Some(bytes), _) => bytes.into(),
            (None, _) => 0,
        };
        tally.bytes += bytes;
        if let Some(day) = output.bytes.get_mut(hour as usize / 24) {
            *day += bytes;
        }
        for entry in polled.found() {
            let is_wanted = relevance.is_none_or(|relevance| relevance.is_wanted(entry));
            if visible[entry] <= self.counts_from || !is_wanted {
                continue;
            }
            tally.found += 1;
            if self.feed.claim(entry).is_some() {
                let delay = Delay::from_millis(at.millis_since(visible[entry]));
                tally.add_delay(delay);
                output.delays.push(delay);
            }
        }
    }

    /// Entries that were never found are missed, or open if no poll followed them.
    fn end(mut self, polled: &PolledFeed<'_>, end: Time) -> FeedTally {
        let visible = self.feed.visible();
        let n_by = |at: Time| visible.partition_point(|t| *t <= at);
        let (n_ignored, n_looked, n_all) = (n_by(self.counts_from), n_by(self.last), n_by(end));
        let (looked, open) = (n_ignored..n_looked, n_looked.max(n_ignored)..n_all);
        let since = self.last.max(self.counts_from);
        let (window, unseen) = (polled.window_max() as usize, n_looked..n_all);
        let (n_counted, n_open) = match self.feed.relevance() {
            None => {
                self.tally.wait(visible, unseen, (since, end), window);
                (looked.len(), open.len())
            }
            Some(relevance) => {
                let waited = (since, end);
                self.tally.wait_for_wanted(visible, relevance, unseen, waited, window);
                (relevance.n_wanted(looked), relevance.n_wanted(open))
            }
        };
        self.tally.missed = (n_counted as u64).saturating_sub(self.tally.found);
        self.tally.open = n_open as u64;
        self.tally
    }
}
