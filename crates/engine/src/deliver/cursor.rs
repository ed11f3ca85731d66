//! Decides the step after one attempt to deliver a match. Pure: the attempt, the time and chance
//! are arguments; the caller stores the step and carries it out.
//!
//! A cursor advances only over matches that were taken or became dead letters, one position after
//! the other. So no match is lost and the order holds, whatever fails in between.

use std::time::Duration;

use feed::Time;

/// After this many failures in a row a match becomes a dead letter: with the waits below, after a
/// few hours. A receiver that is down for a day causes a few dead letters; the rest waits.
pub const ATTEMPTS_MAX: u32 = 12;
/// The first wait: a receiver that restarts needs a few seconds.
const WAIT_MIN: Duration = Duration::from_secs(5);
/// A receiver that is back is noticed within the hour.
const WAIT_MAX: Duration = Duration::from_secs(3600);
/// The share of the wait that chance may add, so that the queries of one receiver part ways.
const JITTER_SHARE: f64 = 0.1;

/// The progress of a delivery: everything up to `position` is done. The next match has failed
/// `attempts` times in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub position: i64,
    pub attempts: u32,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    Taken,
    /// Why not, and how long the receiver asks to be left alone.
    Failed {
        why: String,
        retry_after: Option<Duration>,
    },
}

/// The step after an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CursorStep {
    /// The cursor moves to this position.
    Advance { to: i64 },
    /// The same match is retried, not before this time.
    Wait { attempts: u32, until: Time, why: String },
    /// The match becomes a dead letter, and the cursor moves to its position.
    Bury { position: i64, attempts: u32, why: String },
}

/// Decides the step after an attempt to deliver the match at `position`, the next after the cursor.
/// `jitter` is chance in [0, 1).
pub fn after(
    cursor: Cursor,
    position: i64,
    attempt: Attempt,
    now: Time,
    jitter: f64,
) -> CursorStep {
    match attempt {
        Attempt::Taken => CursorStep::Advance { to: position },
        Attempt::Failed { why, retry_after } => {
            let attempts = cursor.attempts.saturating_add(1);
            if attempts >= ATTEMPTS_MAX {
                return CursorStep::Bury { position, attempts, why };
            }
            let until = now + wait(attempts, retry_after, jitter);
            CursorStep::Wait { attempts, until, why }
        }
    }
}

/// Doubles with every failure; a receiver may ask for more, but not for longer than the longest.
pub fn wait(attempts: u32, retry_after: Option<Duration>, jitter: f64) -> Duration {
    // Doubled ten times five seconds exceed an hour; more would only overflow.
    let doubled = WAIT_MIN * (1 << attempts.saturating_sub(1).min(10));
    let wait = doubled.max(retry_after.unwrap_or_default()).min(WAIT_MAX);
    wait + wait.mul_f64(JITTER_SHARE * jitter.clamp(0.0, 1.0))
}

#[cfg(test)]
#[path = "simulation.rs"]
mod simulation;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_secs(1_700_000_000);

    fn failed(retry_after: Option<u64>) -> Attempt {
        let retry_after = retry_after.map(Duration::from_secs);
        Attempt::Failed { why: "no".to_owned(), retry_after }
    }

    #[test]
    fn waits_double_to_an_hour_and_then_the_match_is_laid_aside() {
        let mut cursor = Cursor { position: 7, attempts: 0 };
        let mut waits = Vec::new();
        loop {
            match after(cursor, 8, failed(None), NOW, 0.0) {
                CursorStep::Wait { attempts, until, .. } => {
                    waits.push(until.since(NOW).as_secs());
                    cursor.attempts = attempts;
                }
                step => {
                    assert_eq!(
                        step,
                        CursorStep::Bury { position: 8, attempts: 12, why: "no".into() }
                    );
                    break;
                }
            }
        }
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600]);
    }

    #[test]
    fn a_receiver_may_ask_for_more_but_not_for_ever() {
        let cursor = Cursor { position: 0, attempts: 0 };
        let wait = |retry_after, jitter| match after(cursor, 1, failed(retry_after), NOW, jitter) {
            CursorStep::Wait { until, .. } => until.since(NOW).as_secs(),
            step => panic!("{step:?}"),
        };
        assert_eq!(
            [wait(Some(90), 0.0), wait(Some(1), 0.0), wait(Some(999_999), 0.0)],
            [90, 5, 3600]
        );
        assert!(wait(Some(1000), 0.9) > wait(Some(1000), 0.1));
    }

    #[test]
    fn what_is_taken_moves_the_cursor_to_its_own_position() {
        let cursor = Cursor { position: 3, attempts: 11 };
        assert_eq!(after(cursor, 9, Attempt::Taken, NOW, 0.5), CursorStep::Advance { to: 9 });
    }
}
