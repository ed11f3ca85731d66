//! `advarss`, `advarss:seed=7`, `advarss:fixed=8m` — fast after a change, slower while nothing
//! changes (Adam, Bouras and Poulopoulos 2010; source 004).
//!
//! The system runs every X minutes, X random between 6 and 10 (360 to 600 s). Each feed has M, the
//! runs between two polls, T, the runs since its last change, and ToE, a countdown: each run
//! decrements ToE and polls at 0. Then
//! - unchanged: temp = T + M; M = M + 0.3·T; T = temp
//! - changed: T = 1; M = 0.2·M + 0.8·T
//! - M stays in [1, ceiling]; ToE = ceil(M).
//!
//! Start: M = 4, T = 1, ToE random in 0 … 3, so that new feeds spread over three runs. Here the
//! caller decides the first poll, so those runs are added to the first wait. Chance is a function
//! of the seed and of the feed's first window: a replay gives the same polls. `fixed=8m` runs every
//! eight minutes without chance.
//!
//! Changed means at least one new entry. The ceiling is 25 for three days,
//! then clamp(4 × median change gap in runs, 25, 640). The paper's remark "M becomes 2.4, ToE 3"
//! contradicts its formula, which gives 1.6 and 2. This code follows the formula.
//!
//! ```
//! use polling::policy::advarss::AdvaRssInterval;
//!
//! let mut pace = AdvaRssInterval::start();
//! pace.step(true, 25);
//! assert!((pace.m() - 1.6).abs() < 1e-12);
//! assert_eq!(pace.toe(), 2);
//! ```

use std::time::Duration;

use feed::{Observation, Time};

use crate::bytes::{ByteReader, put_time};
use crate::policy::wish::Proposal;
use crate::{Fraction, RuleCase};

/// The typical X of the paper, and the mean of the random ones.
pub const RUN: Duration = Duration::from_secs(8 * 60);
/// X in seconds.
const RUN_SECS: (u64, u64) = (360, 600);
/// The largest first ToE.
const FIRST_TOE_MAX: u64 = 3;
const CEILING: (u32, u32) = (25, 640);
/// The longest wait of random runs.
const WAIT_SECS_MAX: u64 = (CEILING.1 as u64 + FIRST_TOE_MAX) * RUN_SECS.1;
/// The time in which gaps are collected before the ceiling is set.
const WATCH: Duration = Duration::from_secs(3 * 86_400);
/// The most different gaps, in runs, within three days: their sum is at most 540.
const GAPS_MAX: usize = 33;

/// M and T are multiples of 10⁻²⁴, rounded up. They are exact for the paper's decimals and
/// otherwise never too small, since ceil(M) must not fall by rounding.
const UNIT: i128 = 1_000_000_000_000_000_000_000_000;
/// The paper does not cap T; this is four thousand years of runs.
const T_MAX: i128 = 300_000_000 * UNIT;

/// The time between two runs of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunInterval {
    /// As in the paper: between 360 and 600 seconds, by chance.
    Random {
        seed: u32,
    },
    Fixed(Duration),
}

impl RunInterval {
    /// Returns the mean.
    fn mean(self) -> Duration {
        match self {
            RunInterval::Random { .. } => RUN,
            RunInterval::Fixed(every) => every,
        }
    }
}

/// M and T.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvaRssInterval {
    m: i128,
    t: i128,
}

impl AdvaRssInterval {
    pub const fn start() -> AdvaRssInterval {
        AdvaRssInterval { m: 4 * UNIT, t: UNIT }
    }

    /// Learns one poll.
    pub fn step(&mut self, changed: bool, ceiling: u32) {
        if changed {
            self.t = UNIT;
            self.m = tenths(2 * self.m) + tenths(8 * self.t);
        } else {
            let since = self.t + self.m;
            self.m += tenths(3 * self.t);
            self.t = since.min(T_MAX);
        }
        self.m = self.m.clamp(UNIT, i128::from(ceiling) * UNIT);
    }

    /// Returns the runs until the next poll: ceil(M).
    pub fn toe(self) -> u32 {
        u32::try_from((self.m + UNIT - 1) / UNIT).unwrap_or(u32::MAX)
    }

    pub fn m(self) -> f64 {
        self.m as f64 / UNIT as f64
    }

    pub fn t(self) -> f64 {
        self.t as f64 / UNIT as f64
    }
}

fn tenths(x: i128) -> i128 {
    (x + 9) / 10
}

/// M, T, and the data for the ceiling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AdvaRssState {
    pace: AdvaRssInterval,
    ceiling: u32,
    first: Option<Time>,
    last_change: Option<Time>,
    /// Gaps between changes in runs, with the count of each.
    gaps: Vec<(u16, u16)>,
    watching: bool,
    random: Option<RandomRuns>,
}

/// The random runs of one feed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RandomRuns {
    /// The state of SplitMix64.
    state: u64,
    /// The length of the runs until the next poll.
    wait_secs: u64,
}

impl RandomRuns {
    /// Returns the stream of a feed, which its first window determines.
    fn new(seed: u32, window: &[Time]) -> RandomRuns {
        let mut runs = RandomRuns { state: seed.into(), wait_secs: 0 };
        for time in window {
            runs.state ^= time.millis().cast_unsigned();
            runs.state = runs.next();
        }
        runs
    }

    /// SplitMix64 (Steele, Lea and Flood 2014).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a whole number from `low` to `high`, both included.
    fn within(&mut self, (low, high): (u64, u64)) -> u64 {
        low + ((u128::from(self.next()) * u128::from(high - low + 1)) >> 64) as u64
    }

    /// Draws the wait of this many runs.
    fn draw(&mut self, n_runs: u64) {
        self.wait_secs = (0..n_runs).map(|_| self.within(RUN_SECS)).sum();
    }
}

impl AdvaRssState {
    pub(crate) fn new() -> AdvaRssState {
        AdvaRssState {
            pace: AdvaRssInterval::start(),
            ceiling: CEILING.0,
            first: None,
            last_change: None,
            gaps: Vec::new(),
            watching: true,
            random: None,
        }
    }

    pub(crate) fn learn(&mut self, o: &Observation<'_>, run: RunInterval) {
        if !o.outcome.is_success() {
            return;
        }
        let changed = !o.new.is_empty();
        let is_first = self.first.is_none();
        let first = *self.first.get_or_insert(o.at);
        if self.watching && o.at.since(first) > WATCH {
            self.watching = false;
            self.ceiling = self.learned_ceiling();
            self.gaps.clear();
        }
        if changed {
            if let (true, Some(last)) = (self.watching, self.last_change) {
                self.note_gap(o.at.since(last), run.mean());
            }
            self.last_change = Some(o.at);
        }
        self.pace.step(changed, self.ceiling);
        if let RunInterval::Random { seed } = run {
            let random = self.random.get_or_insert_with(|| RandomRuns::new(seed, o.window));
            let first_toe = if is_first { random.within((0, FIRST_TOE_MAX)) } else { 0 };
            random.draw(first_toe + u64::from(self.pace.toe()));
        }
    }

    fn note_gap(&mut self, gap: Duration, run: Duration) {
        let runs = (gap.as_secs_f64() / run.as_secs_f64()).round().clamp(1.0, 540.0) as u16;
        match self.gaps.binary_search_by_key(&runs, |(gap, _)| *gap) {
            Ok(i) => self.gaps[i].1 = self.gaps[i].1.saturating_add(1),
            Err(i) if self.gaps.len() < GAPS_MAX => self.gaps.insert(i, (runs, 1)),
            Err(_) => {}
        }
    }

    /// Returns clamp(4 × median, 25, 640); 25 without two changes.
    fn learned_ceiling(&self) -> u32 {
        let n: u32 = self.gaps.iter().map(|(_, n)| u32::from(*n)).sum();
        // The gap at an index of the sorted gaps.
        let at = |place: u32| {
            let mut passed = 0;
            self.gaps.iter().find_map(|(gap, times)| {
                passed += u32::from(*times);
                (passed > place).then_some(u32::from(*gap))
            })
        };
        match (at(n.saturating_sub(1) / 2), at(n / 2)) {
            // An even number of gaps has two in the middle.
            (Some(lower), Some(upper)) => (2 * (lower + upper)).clamp(CEILING.0, CEILING.1),
            _ => CEILING.0,
        }
    }

    pub(crate) fn propose(&self, run: RunInterval) -> Proposal {
        let runs = self.pace.toe();
        let interval = match (run, self.random) {
            (RunInterval::Random { .. }, Some(random)) => Duration::from_secs(random.wait_secs),
            (run, _) => run.mean().saturating_mul(runs),
        };
        let interval = Fraction::millis(interval);
        Proposal::After(interval, RuleCase::AdvaRss { m: self.pace.m() as f32, runs })
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.pace.m.to_le_bytes());
        bytes.extend(self.pace.t.to_le_bytes());
        bytes.extend((self.ceiling as u16).to_le_bytes());
        put_time(bytes, self.first);
        put_time(bytes, self.last_change);
        bytes.push(u8::from(self.watching) | u8::from(self.random.is_some()) << 1);
        if let Some(random) = self.random {
            bytes.extend(random.state.to_le_bytes());
            bytes.extend(random.wait_secs.to_le_bytes());
        }
        bytes.push(self.gaps.len() as u8);
        bytes.extend(self.gaps.iter().flat_map(|(g, n)| [*g, *n]).flat_map(u16::to_le_bytes));
    }

    /// Reads the state. Random runs follow only if their flag is set. The state of an older program
    /// has none; the next poll starts them.
    pub(crate) fn read(reader: &mut ByteReader<'_>) -> Option<AdvaRssState> {
        let (m, t) =
            (reader.bytes().map(i128::from_le_bytes)?, reader.bytes().map(i128::from_le_bytes)?);
        let ceiling = u32::from(reader.bytes().map(u16::from_le_bytes)?);
        let (first, last_change) = (reader.time()?, reader.time()?);
        let flags = reader.u8()?;
        let watching = flags & 1 == 1;
        let mut random = None;
        if flags & 2 == 2 {
            let state = reader.bytes().map(u64::from_le_bytes)?;
            let wait_secs = reader.bytes().map(u64::from_le_bytes)?;
            random = Some(RandomRuns { state, wait_secs }).filter(|r| r.wait_secs <= WAIT_SECS_MAX);
            random?;
        }
        let n_gaps = reader.u8()?;
        let mut gaps = Vec::with_capacity(n_gaps.into());
        for _ in 0..n_gaps {
            let gap = reader.bytes().map(u16::from_le_bytes)?;
            gaps.push((gap, reader.bytes().map(u16::from_le_bytes)?));
        }
        let sane = (0..=i128::from(CEILING.1) * UNIT).contains(&m)
            && (0..=T_MAX).contains(&t)
            && (CEILING.0..=CEILING.1).contains(&ceiling);
        let pace = AdvaRssInterval { m, t };
        sane.then_some(AdvaRssState { pace, ceiling, first, last_change, gaps, watching, random })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bounds, Learned, Policy};

    /// The waits of a feed that never changes, in seconds, with the runs of each.
    fn waits(spec: &str, window: &[Time]) -> Vec<(u64, u32)> {
        let policy: Policy = spec.parse().unwrap();
        let (mut learned, mut at) = (policy.start(), Time::from_secs(1_300_000_000));
        let mut waits = Vec::new();
        for _ in 0..30 {
            let o = Observation::seen(at, window, &[]);
            policy.learn(&mut learned, &o);
            learned = Learned::decode(&policy, &learned.encode());
            let wish = policy.wish(&learned, &o, &Bounds::EVALUATION);
            let crate::policy::learned::PolicyState::AdvaRss(state) = &learned.memory else {
                unreachable!("the state of another policy");
            };
            waits.push((wish.at.since(at).as_secs(), state.pace.toe()));
            at = wish.at;
        }
        waits
    }

    /// Source 004: a run every 6 to 10 minutes; the first check is delayed by 0 to 3 runs.
    #[test]
    fn runs_take_six_to_ten_minutes_and_first_polls_spread_over_three_runs() {
        let mut first_runs = Vec::new();
        let mut lengths = Vec::new();
        for feed in 0..200 {
            let window = [Time::from_secs(1_200_000_000 + feed)];
            let waits = waits("advarss", &window);
            let (first, toe) = waits[0];
            assert!(first >= 360 * u64::from(toe) && first <= 600 * u64::from(toe + 3));
            first_runs.push(first as f64 / 480.0 - f64::from(toe));
            for (wait, runs) in &waits[1..] {
                let runs = u64::from(*runs);
                assert!((360 * runs..=600 * runs).contains(wait), "{wait} s in {runs} runs");
                lengths.push(*wait as f64 / runs as f64);
            }
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean(&lengths) - 480.0).abs() < 10.0, "{}", mean(&lengths));
        assert!((mean(&first_runs) - 1.5).abs() < 0.3, "{}", mean(&first_runs));
    }

    #[test]
    fn the_same_seed_gives_the_same_polls_and_a_fixed_run_needs_none() {
        let window = [Time::from_secs(1_200_000_000)];
        assert_eq!(waits("advarss", &window), waits("advarss:seed=0", &window));
        assert_ne!(waits("advarss", &window), waits("advarss:seed=1", &window));
        for (wait, runs) in waits("advarss:fixed=8m", &window) {
            assert_eq!(wait, 480 * u64::from(runs));
        }
    }

    /// The bytes of a program without random runs.
    #[test]
    fn an_older_state_goes_on_with_random_runs() {
        let fixed: Policy = "advarss:fixed=8m".parse().unwrap();
        let policy: Policy = "advarss".parse().unwrap();
        let mut old = fixed.start();
        let o = Observation::seen(Time::from_secs(1_300_000_000), &[], &[]);
        fixed.learn(&mut old, &o);
        let mut upgraded = Learned::decode(&policy, &old.encode());
        let wish = policy.wish(&upgraded, &o, &Bounds::EVALUATION);
        assert_eq!(wish.at.since(o.at).as_secs(), 5 * 480, "M = 4.3");
        policy.learn(&mut upgraded, &o);
        assert_eq!(Learned::decode(&policy, &upgraded.encode()), upgraded);
    }
}
