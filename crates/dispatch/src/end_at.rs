//! Named places at which a process ends itself, so that tests can kill it there. The variable
//! `TIDINGS_END_AT` names the place. Only debug builds read it: in the program that people run,
//! nothing happens at these places.

#[cfg(debug_assertions)]
use std::sync::OnceLock;
#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicU32, Ordering};

/// The environment variable that names a place, or a place and how often it is passed first:
/// `poll-recorded`, `poll-recorded:3`. With `panic:` before it, only the task panics.
pub const END_AT_VARIABLE: &str = "TIDINGS_END_AT";

/// A place in the work of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndPoint {
    /// Controller: it has the seat and has read the grants of earlier ones.
    SeatTaken,
    /// Controller: the rows of grants are committed, and no job has left.
    GrantsCommitted,
    /// Controller: the same for a request that is not a poll.
    ErrandCommitted,
    /// Controller: the jobs are on the bus.
    JobsSent,
    /// Controller: a result is here and not recorded.
    ResultArrived,
    /// Controller: a poll is recorded, and its terminal does not know.
    PollRecorded,
    /// Terminal: a job is here, and its request is not sent.
    JobArrived,
    /// Terminal: the answer of the server is read, and the result is not sent.
    AnswerRead,
    /// Terminal: results are on the bus, and nobody has confirmed them.
    ResultsSent,
}

impl EndPoint {
    pub const OF_CONTROLLER: [EndPoint; 6] = [
        EndPoint::SeatTaken,
        EndPoint::GrantsCommitted,
        EndPoint::ErrandCommitted,
        EndPoint::JobsSent,
        EndPoint::ResultArrived,
        EndPoint::PollRecorded,
    ];
    pub const OF_TERMINAL: [EndPoint; 3] =
        [EndPoint::JobArrived, EndPoint::AnswerRead, EndPoint::ResultsSent];

    pub const fn word(self) -> &'static str {
        match self {
            EndPoint::SeatTaken => "seat-taken",
            EndPoint::GrantsCommitted => "grants-committed",
            EndPoint::ErrandCommitted => "errand-committed",
            EndPoint::JobsSent => "jobs-sent",
            EndPoint::ResultArrived => "result-arrived",
            EndPoint::PollRecorded => "poll-recorded",
            EndPoint::JobArrived => "job-arrived",
            EndPoint::AnswerRead => "answer-read",
            EndPoint::ResultsSent => "results-sent",
        }
    }
}

/// Ends the process at once and without any cleaning up, if a test asked for it.
#[cfg(debug_assertions)]
pub fn end_at(point: EndPoint) {
    static ASKED: OnceLock<Option<EndWish>> = OnceLock::new();
    let asked = ASKED.get_or_init(|| {
        let text = std::env::var(END_AT_VARIABLE).ok()?;
        let wish = EndWish::parse(&text);
        if wish.is_none() {
            tracing::warn!("{END_AT_VARIABLE}: `{text}` is not a place");
        }
        wish
    });
    if asked.as_ref().is_some_and(|wish| wish.is_now(point)) {
        assert!(!asked.as_ref().is_some_and(|wish| wish.panics), "{END_AT_VARIABLE}: a panic");
        tracing::error!("{END_AT_VARIABLE}: this process ends at {}", point.word());
        std::process::abort();
    }
}

/// Does nothing: this is not a debug build.
#[cfg(not(debug_assertions))]
pub fn end_at(_: EndPoint) {}

/// The wish of a test.
#[cfg(debug_assertions)]
struct EndWish {
    point: EndPoint,
    panics: bool,
    /// How often the place is passed before.
    left: AtomicU32,
}

#[cfg(debug_assertions)]
impl EndWish {
    fn parse(text: &str) -> Option<EndWish> {
        let (text, panics) = match text.strip_prefix("panic:") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let (word, times) = text.split_once(':').unwrap_or((text, "1"));
        let times: u32 = times.parse().ok()?;
        let all = EndPoint::OF_CONTROLLER.iter().chain(&EndPoint::OF_TERMINAL);
        let point = *all.into_iter().find(|point| point.word() == word)?;
        Some(EndWish { point, panics, left: AtomicU32::new(times.checked_sub(1)?) })
    }

    fn is_now(&self, point: EndPoint) -> bool {
        let passed = |left: u32| left.checked_sub(1);
        self.point == point
            && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, passed).is_err()
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_passed_as_often_as_the_wish_says() {
        let wish = EndWish::parse("poll-recorded:3").expect("a place");
        let points = [EndPoint::JobsSent, EndPoint::PollRecorded, EndPoint::PollRecorded];
        assert!(!points.into_iter().any(|point| wish.is_now(point)));
        assert!(wish.is_now(EndPoint::PollRecorded));
        let panics = EndWish::parse("panic:jobs-sent:2").is_some_and(|wish| wish.panics);
        assert!(panics && !wish.panics);
        assert!(EndWish::parse("jobs-sent").is_some_and(|wish| wish.is_now(EndPoint::JobsSent)));
    }

    #[test]
    fn other_words_mean_nothing() {
        for text in ["", "now", "jobs-sent:0", "jobs-sent:x", "Jobs-Sent"] {
            assert!(EndWish::parse(text).is_none(), "{text}");
        }
    }
}
