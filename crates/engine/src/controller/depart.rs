//! The first step of a poll: reads what the store knows of the feeds that were granted, and hands
//! the jobs to their terminals. If the store outlives this process, it commits the grants first.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use dispatch::machine::Jobs;
use dispatch::wire::WIRE_REQUEST_SETTINGS;
use dispatch::{Bus, EndPoint, GrantId, JobSender, PollJob, Stopwatch};
use feed::{Domain, FeedId};
use store::{GrantRow, PollInput, StoreError};

use super::under_way::{PollUnderWay, PollsAtWorkers};
use crate::context::Context;
use crate::event::Event;
use crate::terminals::{PickedTerminal, RemotePlace};

/// Jobs in one message. A job has at most about 60 KB (addresses, validators, settings), so a
/// message stays below the longest one that the bus carries.
const JOBS_MAX: usize = 256;

/// A granted request and its terminal.
pub struct Departure {
    pub grant: GrantId,
    pub feed: FeedId,
    pub domain: Domain,
    pub generation: u32,
    pub send_by: Duration,
    /// The cause of the poll in short, if a strategy planned it.
    pub cause: Option<String>,
    pub terminal: PickedTerminal,
    /// The poll, if this is not its first request.
    pub hop: Option<Box<PollUnderWay>>,
}

/// The ways to terminals.
#[derive(Clone)]
pub struct Roads {
    pub local: JobSender,
    pub bus: Option<Bus>,
    pub stopwatch: Stopwatch,
}

/// A job that is ready to leave.
struct ReadyJob {
    job: PollJob,
    poll: PollUnderWay,
    domain: Domain,
    terminal: PickedTerminal,
}

/// Prepares all requests that one turn granted, with one question to the store, and sends them.
pub async fn depart(
    context: Arc<Context>,
    departures: Vec<Departure>,
    polls: Arc<PollsAtWorkers>,
    roads: Roads,
) {
    let ready = prepare(&context, departures);
    let ready = match &context.grants {
        Some(_) => commit(&context, ready, &roads).await,
        None => ready,
    };
    let mut remote: HashMap<RemotePlace, Vec<PollJob>> = HashMap::new();
    for ReadyJob { job, poll, terminal, .. } in ready {
        let (grant, feed) = (job.grant, job.feed);
        polls.insert(grant, poll);
        match terminal.remote {
            Some(place) => remote.entry(place).or_default().push(job),
            None if roads.local.send(job).is_ok() => {}
            None => {
                polls.remove(grant);
                not_sent(&context, grant, feed, "no worker took the job".to_owned());
            }
        }
    }
    let (Some(bus), Some(book)) = (&roads.bus, &context.grants) else { return };
    for (RemotePlace { subject, wire }, jobs) in remote {
        for jobs in in_messages(jobs) {
            let message = Jobs { epoch: book.epoch(), jobs, errands: Vec::new() };
            if let Err(error) = bus.publish(&subject, wire, &message, None).await {
                for job in message.jobs {
                    polls.remove(job.grant);
                    not_sent(&context, job.grant, job.feed, error.to_string());
                }
            }
            dispatch::end_at(EndPoint::JobsSent);
        }
    }
}

/// Divides jobs among messages.
fn in_messages<T>(mut jobs: Vec<T>) -> Vec<Vec<T>> {
    let mut messages = Vec::with_capacity(jobs.len().div_ceil(JOBS_MAX));
    while jobs.len() > JOBS_MAX {
        let rest = jobs.split_off(JOBS_MAX);
        messages.push(mem::replace(&mut jobs, rest));
    }
    messages.push(jobs);
    messages
}

fn not_sent(context: &Context, grant: GrantId, feed: FeedId, why: String) {
    if let Some(book) = &context.grants {
        book.ended(grant);
    }
    context.send(Event::NotPrepared { grant, feed, why });
}

/// Commits the grants. Jobs whose time is over after that do not leave.
async fn commit(context: &Context, ready: Vec<ReadyJob>, roads: &Roads) -> Vec<ReadyJob> {
    let Some(book) = &context.grants else { return ready };
    if ready.is_empty() {
        return ready;
    }
    let rows = ready.iter().map(|one| GrantRow {
        number: one.job.grant.0,
        domain: one.domain.clone(),
        terminal: one.terminal.name.to_string(),
    });
    let committed = book.commit(rows.collect()).await;
    if committed.is_ok() {
        dispatch::end_at(EndPoint::GrantsCommitted);
    }
    let mut left = Vec::with_capacity(ready.len());
    for one in ready {
        let (grant, feed) = (one.job.grant, one.job.feed);
        match &committed {
            Err(error) => {
                context.send(Event::NotPrepared { grant, feed, why: error.to_string() });
            }
            Ok(()) if roads.stopwatch.elapsed() > one.job.send_by => {
                not_sent(context, grant, feed, "the grant was committed too late".to_owned());
            }
            Ok(()) => left.push(one),
        }
    }
    left
}

/// Reads the inputs and makes the jobs.
fn prepare(context: &Context, departures: Vec<Departure>) -> Vec<ReadyJob> {
    let starts = departures.iter().filter(|one| one.hop.is_none());
    let feeds: Vec<FeedId> = starts.map(|one| one.feed).collect();
    let inputs =
        if feeds.is_empty() { Ok(Vec::new()) } else { context.store.poll_inputs_of(&feeds) };
    let mut inputs = inputs.unwrap_or_default().into_iter().peekable();
    let mut ready = Vec::with_capacity(departures.len());
    for mut departure in departures {
        let (grant, feed) = (departure.grant, departure.feed);
        let poll = match departure.hop.take() {
            Some(poll) => Ok(*poll),
            None => {
                let input = match inputs.next_if(|input: &PollInput| input.id == feed) {
                    Some(input) => Ok(input),
                    // The feed was removed, or its row makes the question fail: ask for it alone.
                    None => context.store.poll_input(feed),
                };
                begin(context, &mut departure, input)
            }
        };
        let poll = poll.and_then(|poll| to_granted_domain(poll, &departure.domain));
        match poll {
            Err(why) => context.send(Event::NotPrepared { grant, feed, why }),
            Ok(mut poll) => {
                let Departure { domain, send_by, terminal, .. } = departure;
                let mut job = poll.job(grant, send_by, terminal.remote.is_some());
                job.request = context.fetch_book.of(feed, &job.url);
                job.whole = context.settings.reads_whole;
                let is_old = |place: &RemotePlace| place.wire < WIRE_REQUEST_SETTINGS;
                if job.request.is_some() && terminal.remote.as_ref().is_some_and(is_old) {
                    let why = format!(
                        "the terminal {} does not know the feed's settings for requests; update it",
                        terminal.name
                    );
                    context.send(Event::NotPrepared { grant, feed, why });
                    continue;
                }
                ready.push(ReadyJob { job, poll, domain, terminal });
            }
        }
    }
    ready
}

/// Refuses a request to another domain than the granted one. The feed has moved since it was
/// planned.
fn to_granted_domain(poll: PollUnderWay, granted: &Domain) -> Result<PollUnderWay, String> {
    let asked = poll.domain();
    match asked == *granted {
        true => Ok(poll),
        false => Err(format!("the request is for {asked}, but {granted} was granted")),
    }
}

/// Begins a poll. A feed that was polled meanwhile is left alone.
fn begin(
    context: &Context,
    departure: &mut Departure,
    input: Result<PollInput, StoreError>,
) -> Result<PollUnderWay, String> {
    let mut input = input.map_err(|error| error.to_string())?;
    context.clusters.adopt(&mut input, &context.settings);
    if input.generation != departure.generation {
        let (poll, now) = (departure.generation, input.generation);
        return Err(format!("the job is stale: poll {poll}, now {now}"));
    }
    Ok(PollUnderWay::new(input, departure.cause.take(), context.clock.now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_jobs_need_several_messages() {
        let lengths = |n: usize| -> Vec<usize> {
            let messages = in_messages((0..n).collect());
            assert_eq!(messages.concat(), (0..n).collect::<Vec<_>>(), "in their order");
            messages.iter().map(Vec::len).collect()
        };
        assert_eq!(lengths(1), [1]);
        assert_eq!(lengths(256), [256]);
        assert_eq!(lengths(600), [256, 256, 88]);
    }
}
