//! How often one may guess. Each name has its own count, whether it has an account or not; after
//! five failures in a row the waits double, up to five minutes. Time is an argument.

use std::collections::HashMap;
use std::time::Duration;

use feed::Time;

/// People mistype; so often without a wait.
const FREE: u32 = 5;
const WAIT_MAX: Duration = Duration::from_secs(300);
/// After so long without a failure a name starts anew.
const FORGET_AFTER: Duration = Duration::from_secs(3600);
/// Names that are counted. Beyond that the oldest goes: who guesses names by the thousand gains
/// five tries at each, which is nothing.
const NAMES_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub struct Throttle(HashMap<String, Failures>);

#[derive(Clone, Copy, Debug)]
struct Failures {
    n: u32,
    last_at: Time,
}

impl Throttle {
    /// How long a name must wait before the next try.
    pub fn wait(&self, name: &str, now: Time) -> Duration {
        let Some(failures) = self.0.get(name) else { return Duration::ZERO };
        let wait = match failures.n.checked_sub(FREE) {
            None => Duration::ZERO,
            Some(over) => Duration::from_secs(1 << over.min(9)).min(WAIT_MAX),
        };
        // A clock that was set back asks for no longer wait than it would have.
        (failures.last_at + wait).since(now).min(wait)
    }

    pub fn failed(&mut self, name: &str, now: Time) {
        if self.0.len() >= NAMES_MAX && !self.0.contains_key(name) {
            let oldest = self.0.iter().min_by_key(|(_, f)| f.last_at).map(|(name, _)| name.clone());
            oldest.map(|name| self.0.remove(&name));
        }
        let failures = self.0.entry(name.to_owned()).or_insert(Failures { n: 0, last_at: now });
        if now.since(failures.last_at) > FORGET_AFTER {
            failures.n = 0;
        }
        failures.n += 1;
        failures.last_at = now;
    }

    pub fn succeeded(&mut self, name: &str) {
        self.0.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Time = Time::from_secs(1_700_000_000);

    fn after(secs: u64) -> Time {
        T0 + Duration::from_secs(secs)
    }

    #[test]
    fn waits_double_after_five_failures_and_end_with_a_success() {
        let mut throttle = Throttle::default();
        let mut waits = Vec::new();
        for _ in 0..16 {
            throttle.failed("anna", T0);
            waits.push(throttle.wait("anna", T0).as_secs());
        }
        assert_eq!(waits, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        assert_eq!(throttle.wait("anna", after(290)).as_secs(), 10);
        assert_eq!(throttle.wait("anna", after(300)), Duration::ZERO);
        assert_eq!(throttle.wait("bert", T0), Duration::ZERO);
        throttle.succeeded("anna");
        assert_eq!(throttle.wait("anna", T0), Duration::ZERO);
    }

    #[test]
    fn an_hour_of_peace_is_a_new_start() {
        let mut throttle = Throttle::default();
        for _ in 0..9 {
            throttle.failed("anna", T0);
        }
        throttle.failed("anna", after(3601));
        assert_eq!(throttle.wait("anna", after(3601)), Duration::ZERO);
    }

    #[test]
    fn a_clock_that_goes_back_makes_nobody_wait_longer() {
        let mut throttle = Throttle::default();
        for _ in 0..FREE {
            throttle.failed("anna", after(86_400));
        }
        assert_eq!(throttle.wait("anna", T0).as_secs(), 1);
    }

    #[test]
    fn names_are_bounded() {
        let mut throttle = Throttle::default();
        for n in 0..NAMES_MAX as u64 + 50 {
            throttle.failed(&n.to_string(), after(n));
        }
        assert_eq!(throttle.0.len(), NAMES_MAX);
        assert!(!throttle.0.contains_key("0"));
    }
}
