//! A plan for errands without a daemon: for commands that send a few requests and poll nothing.
//! It keeps the same gaps, and does not know when a running daemon sent requests to a domain.

use std::convert::Infallible;
use std::time::Duration;

use feed::Time;
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::PlanHandle;
use crate::Clock;
use crate::event::{ErrandEnd, Event};
use crate::plan::{Gaps, Plan};

/// Starts a plan of its own. It ends when the last copy of the handle is dropped.
pub fn start(gaps: Gaps, clock: Clock) -> PlanHandle {
    let (events, receiver) = mpsc::unbounded_channel();
    tokio::spawn(run(Plan::new(gaps, Duration::ZERO, false), receiver, clock.clone()));
    PlanHandle { events, clock, grants: None, road: None, region: None }
}

async fn run(mut plan: Plan<Infallible>, mut events: UnboundedReceiver<Event>, clock: Clock) {
    let mut turned_at = Time::MIN;
    loop {
        let wake = plan.next_wake(usize::MAX);
        tokio::select! {
            event = events.recv() => match event {
                Some(event) => take(&mut plan, event, clock.now()),
                None => return,
            },
            () = clock.sleep_until(wake.unwrap_or(Time::MAX)), if wake.is_some() => {}
        }
        let now = clock.now();
        plan.set_back(turned_at.since(now));
        turned_at = now;
        // There are no polls, so turns are all that it grants.
        plan.grant(now, usize::MAX);
    }
}

/// Handles the events of errands; nothing else arrives here.
fn take(plan: &mut Plan<Infallible>, event: Event, now: Time) {
    match event {
        Event::Errand { domain, turn, class } => {
            let domain = plan.domain(&domain);
            plan.errand(domain, turn, class, now);
        }
        Event::ErrandEnded { domain, answer: ErrandEnd::NotSent, .. } => plan.not_sent(domain, now),
        Event::ErrandEnded { domain, at, .. } => plan.exchanged(domain, at),
        Event::PictureEnded { domain } => plan.picture_ended(domain),
        _ => {}
    }
}
