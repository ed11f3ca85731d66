//! Turns at checking passwords. Each check costs 19 MB and some milliseconds of a core, so few run
//! at once and few may wait. Places take turns, so that one that sends hundreds of guesses delays
//! nobody else; where its line is full, the next guess is refused at once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::place::Place;

/// Passwords that are checked at once.
const RUNNING_MAX: usize = 2;
/// Of one place, so that there is always one for others.
const RUNNING_OF_PLACE_MAX: usize = 1;
/// Tries that wait, over all places: about a second of work on one core.
const WAITING_MAX: usize = 64;
/// Of one place. People log in one by one; behind an address shared by many a few may meet.
const WAITING_OF_PLACE_MAX: usize = 8;
/// Of those who have logged in from the same place before. They go first.
const TRUSTED_WAITING_MAX: usize = 16;

/// Hands out the turns.
#[derive(Clone, Default)]
pub struct Checks(Arc<Mutex<Line>>);

#[derive(Default)]
struct Line {
    running: Vec<Place>,
    trusted: VecDeque<Waiting>,
    /// The place that is served next is in front.
    places: VecDeque<(Place, VecDeque<Waiting>)>,
}

struct Waiting {
    place: Place,
    told: oneshot::Sender<Turn>,
}

/// One check may run until this is dropped.
pub struct Turn {
    checks: Checks,
    place: Place,
}

impl Checks {
    /// Waits for a turn; `None` at once where too many wait already.
    pub async fn turn(&self, place: Place, trusted: bool) -> Option<Turn> {
        let told = {
            let mut line = self.line();
            if line.may_run(place, trusted) {
                line.running.push(place);
                return Some(Turn { checks: self.clone(), place });
            }
            let (told, turn) = oneshot::channel();
            line.join(Waiting { place, told }, trusted).then_some(turn)?
        };
        // Fails where somebody else was given the place in the line.
        told.await.ok()
    }

    /// Starts as many as may run.
    fn go_on(&self) {
        let started: Vec<Waiting> = {
            let mut line = self.line();
            std::iter::from_fn(|| line.next()).collect()
        };
        for Waiting { place, told } in started {
            // Where nobody waits any more the turn is dropped, and the next one begins.
            let _ = told.send(Turn { checks: self.clone(), place });
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        {
            let mut line = self.checks.line();
            let at = line.running.iter().position(|place| *place == self.place);
            at.map(|at| line.running.swap_remove(at));
        }
        self.checks.go_on();
    }
}

impl Line {
    fn may_run(&self, place: Place, trusted: bool) -> bool {
        let of_place = self.running.iter().filter(|other| **other == place).count();
        self.running.len() < RUNNING_MAX && (trusted || of_place < RUNNING_OF_PLACE_MAX)
    }

    /// Takes somebody into the line, if there is room.
    fn join(&mut self, waiting: Waiting, trusted: bool) -> bool {
        if trusted {
            let room = self.trusted.len() < TRUSTED_WAITING_MAX;
            if room {
                self.trusted.push_back(waiting);
            }
            return room;
        }
        let full = self.places.iter().map(|(_, line)| line.len()).sum::<usize>() >= WAITING_MAX;
        if let Some((_, line)) = self.places.iter_mut().find(|(place, _)| *place == waiting.place) {
            let room = !full && line.len() < WAITING_OF_PLACE_MAX;
            if room {
                line.push_back(waiting);
            }
            return room;
        }
        // A newcomer takes the last place of the longest line, if that has another.
        if full {
            let longest = self.places.iter_mut().map(|(_, line)| line).max_by_key(|l| l.len());
            let Some(longest) = longest.filter(|line| line.len() > 1) else { return false };
            longest.pop_back();
        }
        self.places.push_back((waiting.place, VecDeque::from([waiting])));
        true
    }

    /// The next that may run. Its place goes to the end.
    fn next(&mut self) -> Option<Waiting> {
        let next = if self.running.len() < RUNNING_MAX && !self.trusted.is_empty() {
            self.trusted.pop_front()?
        } else {
            let at = self.places.iter().position(|(place, _)| self.may_run(*place, false))?;
            let (place, mut line) = self.places.remove(at)?;
            let next = line.pop_front()?;
            if !line.is_empty() {
                self.places.push_back((place, line));
            }
            next
        };
        self.running.push(next.place);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;

    use super::*;

    fn place(n: u32) -> Place {
        Place::of(Ipv4Addr::from_bits(n).into())
    }

    type Asked = BoxFuture<'static, Option<Turn>>;

    /// Somebody who asked for a turn, and has been given or refused one already, or waits.
    fn ask(checks: &Checks, n: u32, trusted: bool) -> (Option<Option<Turn>>, Asked) {
        let checks = checks.clone();
        let mut asked: Asked = Box::pin(async move { checks.turn(place(n), trusted).await });
        let now = (&mut asked).now_or_never();
        (now, asked)
    }

    #[test]
    fn one_place_cannot_take_every_turn_and_its_line_is_short() {
        let checks = Checks::default();
        let (first, _asked) = ask(&checks, 1, false);
        assert!(matches!(first, Some(Some(_))));
        let others: Vec<_> = (0..300).map(|_| ask(&checks, 1, false)).collect();
        let refused = others.iter().filter(|(now, _)| matches!(now, Some(None))).count();
        assert_eq!(refused, 300 - WAITING_OF_PLACE_MAX, "refused at once");
        let (owner, _asked) = ask(&checks, 2, false);
        assert!(matches!(owner, Some(Some(_))), "somebody else has a turn at once");
    }

    #[test]
    fn places_take_turns_and_those_who_are_known_go_first() {
        let checks = Checks::default();
        let (Some(Some(one)), _) = ask(&checks, 1, false) else { panic!() };
        let (Some(Some(two)), _) = ask(&checks, 2, false) else { panic!() };
        let mut crowd: Vec<_> = (0..4).map(|_| ask(&checks, 1, false).1).collect();
        let mut other = ask(&checks, 3, false).1;
        let mut known = ask(&checks, 1, true).1;
        drop(two);
        let first = (&mut known).now_or_never().flatten();
        assert!(first.is_some(), "who is known is not served first");
        drop(one);
        let turn = (&mut other).now_or_never();
        assert!(turn.is_some(), "the place that has a turn already is passed over");
        assert!((&mut crowd[0]).now_or_never().is_none());
        drop((turn, first));
        assert!((&mut crowd[0]).now_or_never().flatten().is_some());
    }

    #[test]
    fn the_whole_line_is_bounded_and_newcomers_take_from_the_longest() {
        let checks = Checks::default();
        let _running = [ask(&checks, 1, false), ask(&checks, 2, false)];
        let mut waiting: Vec<_> =
            (0..WAITING_MAX as u32).map(|n| ask(&checks, 10 + n / 8, false).1).collect();
        let (now, _newcomer) = ask(&checks, 99, false);
        assert!(now.is_none(), "the newcomer waits");
        let n_refused = waiting.iter_mut().filter_map(|one| one.now_or_never()).count();
        assert_eq!(n_refused, 1, "somebody of a long line was refused instead");
        assert!(matches!(ask(&checks, 10, false).0, Some(None)));
    }

    #[test]
    fn who_left_the_line_keeps_no_turn() {
        let checks = Checks::default();
        let (Some(Some(running)), _) = ask(&checks, 1, false) else { panic!() };
        let left = ask(&checks, 1, false);
        let mut stays = ask(&checks, 1, false).1;
        drop(left);
        drop(running);
        assert!((&mut stays).now_or_never().flatten().is_some());
    }
}
