//! Draws one day of a feed: its entries, and the polls of every policy.

use std::time::Duration;

use feed::Time;
use polling::PolicySpec;

use super::ComparisonInput;
use crate::report::{DayLine, ReportFigure, ReportSection, day};
use crate::{PolicyRun, WorldFeed, polls_of};

impl ComparisonInput<'_> {
    /// Draws the busiest day of a typical feed in the test phase. Typical is the median by entries
    /// of the feeds that publish about daily.
    pub(super) fn one_day(&self) -> Vec<ReportSection> {
        let phases = &self.setting.phases;
        let within = |feed: &WorldFeed| -> usize {
            let times = feed.visible();
            times.partition_point(|t| *t <= phases.end())
                - times.partition_point(|t| *t <= phases.test_start())
        };
        let days = (phases.test.as_secs() / 86_400).max(1) as usize;
        let mut feeds: Vec<(usize, &WorldFeed)> =
            self.world.feeds.iter().map(|f| (within(f), f)).collect();
        feeds.retain(|(n, _)| (3 * days..=24 * days).contains(n));
        feeds.sort_by_key(|(n, _)| *n);
        let Some((_, feed)) = feeds.get(feeds.len() / 2) else { return Vec::new() };
        let midnight = |t: &Time| Time::from_secs(t.secs().div_euclid(86_400) * 86_400);
        let counted =
            feed.visible().iter().filter(|t| **t > phases.test_start() && **t <= phases.end());
        let mut by_day: Vec<(Time, usize)> = Vec::new();
        for time in counted {
            match by_day.last_mut() {
                Some((day, n)) if *day == midnight(time) => *n += 1,
                _ => by_day.push((midnight(time), 1)),
            }
        }
        let Some((from, _)) = by_day.iter().max_by_key(|(day, n)| (*n, std::cmp::Reverse(*day)))
        else {
            return Vec::new();
        };
        let until = *from + Duration::from_secs(86_400);
        let within_day = |mut lane: DayLine| {
            lane.moments.retain(|t| (*from..=until).contains(t));
            lane
        };
        let (name, moments) = ("entries".to_owned(), feed.visible().to_vec());
        let entries = within_day(DayLine { name, hue: 0, moments });
        let runs = self.comparison.runs.iter().zip(self.hues);
        let lanes = runs.filter_map(|(run, hue)| self.lane(feed, run, *hue));
        let lanes: Vec<DayLine> = lanes.map(within_day).collect();
        let svg = day(*from, &entries, &lanes);
        let caption = format!(
            "{} on {}: entries above, each policy's polls below.",
            feed.name,
            &from.to_string()[..10]
        );
        vec![
            ReportSection::Heading("A day of one feed".to_owned()),
            ReportSection::Figure(ReportFigure {
                name: format!("{}day", self.prefix),
                caption,
                svg,
                csv: lanes_csv(&entries, &lanes),
            }),
        ]
    }

    /// Returns the polls of one policy at one feed, as in the run.
    fn lane(&self, feed: &WorldFeed, run: &PolicyRun, hue: usize) -> Option<DayLine> {
        let spec: PolicySpec = run.policy.parse().ok()?;
        let moments = polls_of(self.world, feed, &spec, self.setting);
        Some(DayLine { name: run.policy.clone(), hue, moments })
    }
}

fn lanes_csv(entries: &DayLine, lanes: &[DayLine]) -> String {
    let row = |lane: &DayLine| -> String {
        let name = crate::report::plot::field(&lane.name);
        lane.moments.iter().map(|t| format!("{name},{t}\n")).collect()
    };
    std::iter::once("lane,time\n".to_owned())
        .chain(std::iter::once(entries).chain(lanes).map(row))
        .collect()
}
