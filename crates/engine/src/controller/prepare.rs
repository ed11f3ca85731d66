//! The first step of a poll: reads what the store knows of the feeds that were granted, and hands
//! their jobs to the workers.

use std::time::Duration;

use dispatch::{GrantId, JobSender};
use feed::FeedId;
use store::{PollInput, StoreError};

use super::under_way::{PollUnderWay, PollsAtWorkers};
use crate::context::Context;
use crate::event::Event;

/// A granted first request.
pub struct GrantedStart {
    pub grant: GrantId,
    pub feed: FeedId,
    pub generation: u32,
    pub send_by: Duration,
    /// The cause of the poll in short, if a strategy planned it.
    pub cause: Option<String>,
}

/// Prepares all polls that one turn granted, with one question to the store.
pub fn prepare(
    context: &Context,
    starts: Vec<GrantedStart>,
    polls: &PollsAtWorkers,
    jobs: &JobSender,
) {
    let feeds: Vec<FeedId> = starts.iter().map(|start| start.feed).collect();
    let mut inputs = match context.store.poll_inputs_of(&feeds) {
        Ok(inputs) => inputs.into_iter().peekable(),
        Err(_) => Vec::new().into_iter().peekable(),
    };
    for start in starts {
        let (grant, feed) = (start.grant, start.feed);
        let input = match inputs.next_if(|input: &PollInput| input.id == feed) {
            Some(input) => Ok(input),
            // The feed was removed, or its row makes the question fail: ask for it alone.
            None => context.store.poll_input(feed),
        };
        if let Err(why) = hand_over(context, start, input, polls, jobs) {
            context.send(Event::NotPrepared { grant, feed, why });
        }
    }
}

/// Hands the job of one poll over. A job that was overtaken by another poll is dropped.
fn hand_over(
    context: &Context,
    start: GrantedStart,
    input: Result<PollInput, StoreError>,
    polls: &PollsAtWorkers,
    jobs: &JobSender,
) -> Result<(), String> {
    let input = input.map_err(|error| error.to_string())?;
    let GrantedStart { grant, generation, send_by, cause, .. } = start;
    if input.generation != generation {
        return Err(format!("the job is stale: poll {generation}, now {}", input.generation));
    }
    let mut poll = PollUnderWay::new(input, cause, context.clock.now());
    let job = poll.job(grant, send_by);
    polls.insert(grant, poll);
    jobs.send(job).map_err(|_| {
        polls.remove(grant);
        "no worker took the job".to_owned()
    })
}
