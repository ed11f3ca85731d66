//! Remembers what a feed did in the last hours and days: entries found compared with entries
//! expected, over three fading spans, and the gaps between the newest entries. The
//! [`super::correction`] reads it. It does not change the level or the rhythm.

use feed::Time;

/// The spans over which activity fades: two hours, eight hours, a day and a quarter.
pub(super) const MEMORY_SECS: [f64; 3] = [7_200.0, 28_800.0, 108_000.0];
/// The gaps between the newest entries that are kept.
pub(super) const GAPS: usize = 4;

/// Entries found and expected lately, and the newest gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RecentActivity {
    pub(super) found: [f32; 3],
    pub(super) expected: [f32; 3],
    /// The newest entry, and the gaps before it in seconds, the newest first. Zero is unknown.
    pub(super) newest: Option<Time>,
    pub(super) gaps_secs: [f32; GAPS],
    /// The entries of the last poll, and the seconds since the poll before it.
    pub(super) last_found: f32,
    pub(super) last_gap_secs: f32,
}

impl RecentActivity {
    /// Lets `secs` pass, in which `expected` entries were expected.
    pub(super) fn pass(&mut self, secs: f64, expected: f64) {
        if secs <= 0.0 {
            return;
        }
        for (i, memory) in MEMORY_SECS.into_iter().enumerate() {
            let kept = (-secs / memory).exp();
            self.found[i] *= kept as f32;
            // As if the expectation were even within the interval.
            let added = expected * memory * (1.0 - kept) / secs;
            self.expected[i] = self.expected[i] * kept as f32 + added as f32;
        }
    }

    /// Counts an entry that became visible at `at`.
    pub(super) fn count_entry(&mut self, at: Time) {
        self.found.iter_mut().for_each(|found| *found += 1.0);
        if let Some(newest) = self.newest {
            self.gaps_secs.copy_within(..GAPS - 1, 1);
            // A burst of one second has no gap of zero, which stands for an unknown one.
            self.gaps_secs[0] = at.since(newest).as_secs_f32().max(1.0);
        }
        self.newest = Some(at);
    }

    /// Ends an interval between two polls.
    pub(super) fn end_interval(&mut self, secs: f64, found: f64) {
        (self.last_gap_secs, self.last_found) = (secs as f32, found as f32);
    }
}
