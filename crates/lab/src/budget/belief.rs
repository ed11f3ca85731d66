//! What a strategy believes of a feed when the test begins.
//!
//! Online estimators have watched the feed through the training phase, as often as an even share
//! of the budget allows: knowing costs polls. With `warm_up` they know nothing at first, because
//! the strategy makes the polls of the training phase itself. The offline one was trained on the
//! phase's history and stays as it is; the oracle's knows the rates of the test itself.

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
    /// The model of one feed; `sight` has seen what was looked at for it.
    pub(super) fn form(&self, feed: &WorldFeed, sight: &mut PolledFeed<'_>) -> Model {
        let phases = &self.setting.phases;
        match self.setting.estimator {
            Estimator::Oracle => rates(feed, phases.test_start(), phases.end()),
            Estimator::Offline => rates(feed, phases.start, phases.test_start()),
            estimator => match estimator.start() {
                Some(model) if phases.warm_up => model,
                Some(model) => self.watched(feed, sight, model),
                None => Model::homogeneous(),
            },
        }
    }

    /// The model after the training phase.
    fn watched(&self, feed: &WorldFeed, sight: &mut PolledFeed<'_>, mut model: Model) -> Model {
        let phases = &self.setting.phases;
        let Some(first) = feed.visible().first() else { return model };
        let every = self.even_interval();
        let mut at = phases.start.max(*first);
        while at < phases.test_start() {
            sight.poll(at);
            if let Some(mut seen) = sight.observation() {
                if self.setting.true_counts {
                    seen.new = &feed.visible()[sight.appeared()];
                }
                model.learn(&seen);
            }
            at = at + every;
        }
        model
    }

    /// How often each feed can be looked at if all are looked at equally often; once a cycle at
    /// most, once a day at least.
    fn even_interval(&self) -> Duration {
        let per_second =
            self.setting.allowance.per_cycle(self.setting.cycle) / self.setting.cycle.as_secs_f64();
        let seconds = self.world.feeds.len() as f64 / per_second.max(f64::MIN_POSITIVE);
        let seconds = seconds.min(DAY.as_secs_f64()).max(self.setting.cycle.as_secs_f64());
        Duration::from_secs(seconds.round() as u64).max(Duration::from_secs(1))
    }
}

/// The hourly rates of a feed between two moments, left as they are. A feed that began in between
/// is judged from its first entry on.
fn rates(feed: &WorldFeed, from: Time, to: Time) -> Model {
    let visible = feed.visible();
    let first = visible.partition_point(|t| *t < from);
    let lived_from = visible.first().map_or(from, |first| from.max(*first));
    let mut histogram = Histogram::train(&visible[first..], to, Period::Day, 0);
    let lived = to.since(lived_from).as_secs_f64() / DAY.as_secs_f64();
    histogram.days = (lived.ceil() as u64).max(1);
    Model::Frozen(HourlyRates { hours: histogram.rates(), zone_secs: 0 })
}
