//! The model of a feed that a strategy has when the test begins.
//!
//! Online estimators poll the feed during the training phase, as often as an even share of the
//! budget allows. With `warm_up` they know nothing at first, because the strategy itself makes the
//! polls of the training phase. The offline estimator is trained on the history of that phase and
//! does not change; with `warm_up` it learns its profile from the strategy's own polls, which the
//! budget pays. The oracle knows the rates of the test phase.

use std::time::Duration;

use feed::Time;
use polling::budget::Estimator;
use polling::model::histogram::{Histogram, Period};
use polling::model::{HourlyRates, Model};

use super::BudgetSetting;
use crate::{PolledFeed, World, WorldFeed};

const DAY: Duration = Duration::from_secs(86_400);

pub(super) struct Belief<'a> {
    pub(super) world: &'a World,
    pub(super) setting: &'a BudgetSetting,
}

impl Belief<'_> {
    /// Returns the model of one feed. `polled` makes the polls for it.
    pub(super) fn form(&self, feed: &WorldFeed, polled: &mut PolledFeed<'_>) -> Model {
        let phases = &self.setting.phases;
        match self.setting.estimator {
            Estimator::Oracle => rates(feed, phases.test_start(), phases.end()),
            // In a warm-up the profile must be learned by polls of the run.
            Estimator::Offline if !phases.warm_up => rates(feed, phases.start, phases.test_start()),
            estimator => match estimator.start() {
                Some(model) if phases.warm_up => self.started(model, feed, phases.run_start()),
                Some(model) => {
                    let model = self.started(model, feed, phases.start);
                    self.watched(feed, polled, model)
                }
                None => Model::homogeneous(),
            },
        }
    }

    /// Returns the model that is learned again at `now` from the last days.
    pub(super) fn moved(&self, feed: &WorldFeed, now: Time) -> Model {
        rates(feed, now - self.setting.phases.train, now)
    }

    /// Returns the model before the first poll, which is not before `from`.
    fn started(&self, model: Model, feed: &WorldFeed, from: Time) -> Model {
        match feed.visible().first() {
            Some(first) if self.setting.options.from_zero => model.from_zero(from.max(*first)),
            _ => model,
        }
    }

    /// Returns the model after the training phase.
    fn watched(&self, feed: &WorldFeed, polled: &mut PolledFeed<'_>, mut model: Model) -> Model {
        let phases = &self.setting.phases;
        let Some(first) = feed.visible().first() else { return model };
        let every = self.even_interval();
        let mut at = phases.start.max(*first);
        while at < phases.test_start() {
            polled.poll(at);
            if let Some(mut seen) = polled.observation() {
                if self.setting.options.true_counts {
                    seen.new = &feed.visible()[polled.appeared()];
                }
                model.learn(&seen);
            }
            at = at + every;
        }
        model
    }

    /// Returns the interval if all feeds are polled equally often: at least a cycle, at most a day.
    fn even_interval(&self) -> Duration {
        let per_second =
            self.setting.allowance.per_cycle(self.setting.cycle) / self.setting.cycle.as_secs_f64();
        let seconds = self.world.feeds.len() as f64 / per_second.max(f64::MIN_POSITIVE);
        let seconds = seconds.min(DAY.as_secs_f64()).max(self.setting.cycle.as_secs_f64());
        Duration::from_secs(seconds.round() as u64).max(Duration::from_secs(1))
    }
}

/// Returns the hourly rates of a feed between two moments as a fixed model. A feed that began in
/// between counts from its first entry.
fn rates(feed: &WorldFeed, from: Time, to: Time) -> Model {
    let visible = feed.visible();
    let first = visible.partition_point(|t| *t < from);
    let lived_from = visible.first().map_or(from, |first| from.max(*first));
    let mut histogram = Histogram::train(&visible[first..], to, Period::Day, 0);
    let lived = to.since(lived_from).as_secs_f64() / DAY.as_secs_f64();
    histogram.days = (lived.ceil() as u64).max(1);
    Model::Frozen(HourlyRates { hours: histogram.rates(), zone_secs: 0 })
}
