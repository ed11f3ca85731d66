//! The progress of a long discovery: lines done, feeds found, and the time that is left.

use std::time::Duration;

use dataset::discovery::JournalLine;
use engine::Clock;
use feed::Time;

use crate::output;

/// The interval of lines on standard error, if it is not a terminal.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Counts the lines of a list.
pub struct ListProgress {
    bar: indicatif::ProgressBar,
    lines: u64,
    /// Lines that earlier runs did.
    before: u64,
    done: u64,
    feeds: u64,
    began: Time,
    told: Time,
}

impl ListProgress {
    pub fn new(lines: u64, before: u64) -> ListProgress {
        let bar = output::bar("asking", lines);
        let now = Clock::System.now();
        if before > 0 {
            eprintln!("continuing: {before} of {lines} lines were done before");
        }
        bar.set_position(before);
        ListProgress { bar, lines, before, done: 0, feeds: 0, began: now, told: now }
    }

    pub fn line_done(&mut self, line: &JournalLine) {
        self.done += 1;
        self.feeds += line.feeds.len() as u64;
        self.bar.inc(1);
        let now = Clock::System.now();
        if self.bar.is_hidden() && now.since(self.told) >= TELL_EVERY {
            self.told = now;
            eprintln!("{}", self.words(now.since(self.began)));
        }
    }

    fn words(&self, elapsed: Duration) -> String {
        let done = self.before + self.done;
        let feeds = self.feeds;
        match remaining(self.lines, self.before, self.done, elapsed) {
            Some(left) => {
                let left = polling::spoken(left);
                format!("{done} of {} lines, {feeds} feeds found; about {left} left", self.lines)
            }
            None => format!("{done} lines, {feeds} feeds found"),
        }
    }

    /// Says how an interrupted run continues.
    pub fn interrupted(&self, is_kept: bool) -> String {
        let done = self.before + self.done;
        match is_kept {
            true => format!("interrupted after {done} lines; the same command continues"),
            false => format!("interrupted after {done} lines; without --out it begins again"),
        }
    }

    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// Estimates the time that is left from the speed of this run; `None`: the length is unknown.
fn remaining(lines: u64, before: u64, done: u64, elapsed: Duration) -> Option<Duration> {
    let left = lines.checked_sub(before + done).filter(|_| lines > 0 && done > 0)?;
    Some(Duration::from_secs_f64((elapsed.as_secs_f64() * left as f64 / done as f64).round()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_of_this_run_gives_the_time_that_is_left() {
        let minute = Duration::from_secs(60);
        assert_eq!(remaining(1000, 0, 100, minute), Some(9 * minute));
        assert_eq!(remaining(1000, 500, 100, minute), Some(4 * minute));
        assert_eq!(remaining(0, 0, 100, minute), None);
        assert_eq!(remaining(1000, 0, 0, minute), None);
    }
}
