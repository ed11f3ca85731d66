//! A queue for password checks. Each check costs 19 MB and some milliseconds of CPU time, so few
//! run at once and few may wait. Clients take turns: a client that sends hundreds of guesses delays
//! nobody else. If its own queue is full, its next guess is refused at once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::client_address::ClientAddress;

/// Password checks that run at once.
const RUNNING_MAX: usize = 2;
/// Checks of one client that run at once, so that one is always left for others.
const RUNNING_PER_CLIENT_MAX: usize = 1;
/// Checks that wait, over all clients: about a second of work on one core.
const WAITING_MAX: usize = 64;
/// Checks of one client that wait. People log in one by one; some may share an address.
const WAITING_PER_CLIENT_MAX: usize = 8;
/// Waiting checks of people who have logged in from the same client before. They go first.
const TRUSTED_WAITING_MAX: usize = 16;

/// Limits the password checks that run at once.
#[derive(Clone, Default)]
pub struct PasswordChecks(Arc<Mutex<CheckQueue>>);

#[derive(Default)]
struct CheckQueue {
    running: Vec<ClientAddress>,
    trusted: VecDeque<QueuedCheck>,
    /// Queues by client. The first client is served next.
    clients: VecDeque<(ClientAddress, VecDeque<QueuedCheck>)>,
}

struct QueuedCheck {
    client: ClientAddress,
    told: oneshot::Sender<CheckPermit>,
}

/// The permission to run one check, until it is dropped.
pub struct CheckPermit {
    checks: PasswordChecks,
    client: ClientAddress,
}

impl PasswordChecks {
    /// Waits for a permit. Returns `None` at once if too many checks wait already.
    pub async fn turn(&self, client: ClientAddress, trusted: bool) -> Option<CheckPermit> {
        let told = {
            let mut line = self.line();
            if line.may_run(client, trusted) {
                line.running.push(client);
                return Some(CheckPermit { checks: self.clone(), client });
            }
            let (told, turn) = oneshot::channel();
            line.join(QueuedCheck { client, told }, trusted).then_some(turn)?
        };
        // Fails if a newcomer took this place in the queue.
        told.await.ok()
    }

    /// Starts as many waiting checks as may run.
    fn go_on(&self) {
        let started: Vec<QueuedCheck> = {
            let mut line = self.line();
            std::iter::from_fn(|| line.next()).collect()
        };
        for QueuedCheck { client, told } in started {
            // If the client has left, the permit is dropped and the next check starts.
            let _ = told.send(CheckPermit { checks: self.clone(), client });
        }
    }

    fn line(&self) -> MutexGuard<'_, CheckQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CheckPermit {
    fn drop(&mut self) {
        {
            let mut line = self.checks.line();
            let at = line.running.iter().position(|client| *client == self.client);
            at.map(|at| line.running.swap_remove(at));
        }
        self.checks.go_on();
    }
}

impl CheckQueue {
    fn may_run(&self, client: ClientAddress, trusted: bool) -> bool {
        let of_client = self.running.iter().filter(|other| **other == client).count();
        self.running.len() < RUNNING_MAX && (trusted || of_client < RUNNING_PER_CLIENT_MAX)
    }

    /// Adds a check to the queue, if there is room.
    fn join(&mut self, waiting: QueuedCheck, trusted: bool) -> bool {
        if trusted {
            let room = self.trusted.len() < TRUSTED_WAITING_MAX;
            if room {
                self.trusted.push_back(waiting);
            }
            return room;
        }
        let full = self.clients.iter().map(|(_, line)| line.len()).sum::<usize>() >= WAITING_MAX;
        if let Some((_, line)) =
            self.clients.iter_mut().find(|(client, _)| *client == waiting.client)
        {
            let room = !full && line.len() < WAITING_PER_CLIENT_MAX;
            if room {
                line.push_back(waiting);
            }
            return room;
        }
        // A newcomer takes the last place in the longest queue, if that queue has another check.
        if full {
            let longest = self.clients.iter_mut().map(|(_, line)| line).max_by_key(|l| l.len());
            let Some(longest) = longest.filter(|line| line.len() > 1) else { return false };
            longest.pop_back();
        }
        self.clients.push_back((waiting.client, VecDeque::from([waiting])));
        true
    }

    /// Returns the next check that may run. Its client goes to the end of the queue.
    fn next(&mut self) -> Option<QueuedCheck> {
        let next = if self.running.len() < RUNNING_MAX && !self.trusted.is_empty() {
            self.trusted.pop_front()?
        } else {
            let at = self.clients.iter().position(|(client, _)| self.may_run(*client, false))?;
            let (client, mut line) = self.clients.remove(at)?;
            let next = line.pop_front()?;
            if !line.is_empty() {
                self.clients.push_back((client, line));
            }
            next
        };
        self.running.push(next.client);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;

    use super::*;

    fn client(n: u32) -> ClientAddress {
        ClientAddress::of(Ipv4Addr::from_bits(n).into())
    }

    type Asked = BoxFuture<'static, Option<CheckPermit>>;

    /// Somebody who asked for a turn, and has been given or refused one already, or waits.
    fn ask(checks: &PasswordChecks, n: u32, trusted: bool) -> (Option<Option<CheckPermit>>, Asked) {
        let checks = checks.clone();
        let mut asked: Asked = Box::pin(async move { checks.turn(client(n), trusted).await });
        let now = (&mut asked).now_or_never();
        (now, asked)
    }

    #[test]
    fn one_place_cannot_take_every_turn_and_its_line_is_short() {
        let checks = PasswordChecks::default();
        let (first, _asked) = ask(&checks, 1, false);
        assert!(matches!(first, Some(Some(_))));
        let others: Vec<_> = (0..300).map(|_| ask(&checks, 1, false)).collect();
        let refused = others.iter().filter(|(now, _)| matches!(now, Some(None))).count();
        assert_eq!(refused, 300 - WAITING_PER_CLIENT_MAX, "refused at once");
        let (owner, _asked) = ask(&checks, 2, false);
        assert!(matches!(owner, Some(Some(_))), "somebody else has a turn at once");
    }

    #[test]
    fn places_take_turns_and_those_who_are_known_go_first() {
        let checks = PasswordChecks::default();
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
        assert!(turn.is_some(), "the client that has a turn already is passed over");
        assert!((&mut crowd[0]).now_or_never().is_none());
        drop((turn, first));
        assert!((&mut crowd[0]).now_or_never().flatten().is_some());
    }

    #[test]
    fn the_whole_line_is_bounded_and_newcomers_take_from_the_longest() {
        let checks = PasswordChecks::default();
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
        let checks = PasswordChecks::default();
        let (Some(Some(running)), _) = ask(&checks, 1, false) else { panic!() };
        let left = ask(&checks, 1, false);
        let mut stays = ask(&checks, 1, false).1;
        drop(left);
        drop(running);
        assert!((&mut stays).now_or_never().flatten().is_some());
    }
}
