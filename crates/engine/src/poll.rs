//! One poll, from a granted request to a recorded result. Its path is DESIGN's table: fetch,
//! parse, identify, learn, record, and only then tell the loop.

mod context;
mod read;

pub use context::{Context, SET_BACK_MIN};
pub use read::{observe, parsed};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use feed::{Domain, FeedId, Outcome, RetryAfter, Time, Trouble};
use fetch::{Exchange, FailureKind, Fetched};
use polling::outage::Reach;
use polling::pace::DomainPace;
use store::{PollInput, StoreError};
use tokio::sync::oneshot;
use url::Url;

use crate::conclude::{self, Concluded, Reading};
use crate::event::{Answered, Event, Finished, PollAnswer};
use crate::plan::{Grant, Work};

/// More redirects than this are a loop or a trap.
const HOPS_MAX: u32 = 5;

const INTERNAL_ERROR: &str = "internal error; please report it";

/// A poll under way.
pub struct Poll {
    pub input: PollInput,
    /// Why it is made, in short, where a strategy planned it.
    cause: Option<String>,
    /// When its first request was sent.
    pub at: Option<Time>,
    /// Where the next request goes.
    url: Url,
    n_hops: u32,
    /// Every redirect so far was permanent.
    permanent: bool,
    /// The domains that redirected it, and when they answered.
    passed: Vec<(Domain, Time)>,
    bytes: u64,
    elapsed: Duration,
}

impl Poll {
    pub fn domain(&self) -> Domain {
        Domain::of(&self.url)
    }
}

/// Carries a job out in a task of its own: a fault in our code costs this poll and no other.
pub async fn guarded_step(context: &Arc<Context>, grant: Grant<Poll>) {
    let domain = grant.domain;
    let feed = match &grant.work {
        Work::Start(feed) => *feed,
        Work::Hop(poll) => poll.input.id,
    };
    let (task, reported) = (Arc::clone(context), Arc::new(AtomicBool::new(false)));
    let told = Arc::clone(&reported);
    if !ended_well(feed, async move { step(&task, grant, &told).await }).await {
        if !reported.load(Ordering::SeqCst) {
            let (at, answer) = (context.clock.now(), Answered::Heard);
            send(context, Event::Exchanged { domain, at, answer });
        }
        abandon(context, feed, INTERNAL_ERROR.to_owned());
    }
}

/// Ends a poll whose redirect leads to a domain that asked us to wait; in a task of its own too, or
/// a panic would leave the feed in flight for ever.
pub async fn guarded_give_up(context: &Arc<Context>, poll: Poll, until: Time) {
    let (task, feed) = (Arc::clone(context), poll.input.id);
    end_guarded(context, feed, async move { give_up(&task, poll, until).await }).await;
}

/// Runs the end of a poll. Whatever becomes of it, the loop is told that the poll is over.
async fn end_guarded(
    context: &Context,
    feed: FeedId,
    end: impl Future<Output = ()> + Send + 'static,
) {
    if !ended_well(feed, end).await {
        abandon(context, feed, INTERNAL_ERROR.to_owned());
    }
}

/// Runs a part of a poll in a task of its own; answers whether it ended without a panic.
async fn ended_well(feed: FeedId, part: impl Future<Output = ()> + Send + 'static) -> bool {
    let ended = tokio::spawn(part).await.is_ok();
    if !ended {
        tracing::error!(feed = feed.0, "internal error during a poll; please report it");
    }
    ended
}

/// Carries out one granted request and what follows from it.
async fn step(context: &Context, grant: Grant<Poll>, reported: &AtomicBool) {
    let mut poll = match grant.work {
        Work::Hop(poll) => *poll,
        Work::Start(feed) => match begin(context, feed, grant.generation, grant.cause) {
            Ok(poll) => poll,
            Err(why) => {
                let (domain, at) = (grant.domain, context.clock.now());
                send(context, Event::Exchanged { domain, at, answer: Answered::NotSent });
                return abandon(context, feed, why);
            }
        },
    };
    let at = *poll.at.get_or_insert_with(|| context.clock.now().floor_to_second());
    let validators = conclude::validators(&poll.input, &poll.url);
    let mut cut = context.cut.clone();
    let exchange = tokio::select! {
        exchange = context.fetcher.fetch(&poll.url, &validators) => exchange,
        _ = cut.wait_for(|cut| *cut) => return,
    };
    poll.bytes += exchange.facts.wire_bytes;
    poll.elapsed += exchange.facts.elapsed;
    reported.store(true, Ordering::SeqCst);
    let verdict = report(context, grant.domain, &poll, &exchange).await;
    if let Fetched::Moved { to, permanent } = exchange.fetched {
        poll.passed.push((poll.domain(), context.clock.now()));
        return hop(context, poll, to, permanent).await;
    }
    let reading = read::read(context, &poll, at, exchange.fetched, &exchange.facts, &verdict).await;
    finish(context, poll, reading, &exchange.facts, verdict.pace).await;
}

/// Reads what the store knows of the feed. A job that was overtaken is dropped.
fn begin(
    context: &Context,
    feed: FeedId,
    generation: u32,
    cause: Option<String>,
) -> Result<Poll, String> {
    let input = context.store.poll_input(feed).map_err(|e| e.to_string())?;
    if input.generation != generation {
        return Err(format!("the job is stale: poll {generation}, now {}", input.generation));
    }
    let url = input.location.current().url().clone();
    Ok(Poll {
        input,
        cause,
        at: None,
        url,
        n_hops: 0,
        permanent: true,
        passed: Vec::new(),
        bytes: 0,
        elapsed: Duration::ZERO,
    })
}

/// A poll that ends without a record: the feed goes back to the time that the store has for it.
fn abandon(context: &Context, feed: FeedId, why: String) {
    let at = context.clock.now() + RECORD_RETRY;
    tracing::debug!(feed = feed.0, why, "poll abandoned");
    let current = context.store.due(feed).ok().flatten();
    let finished = match current {
        Some((domain, due)) => {
            let next_at = Some(due.next_at.map_or(at, |t| t.max(at)));
            Finished { feed, domain, next_at, generation: due.generation, budgeted: None }
        }
        None => {
            let domain = Domain::default();
            Finished { feed, domain, next_at: None, generation: 0, budgeted: None }
        }
    };
    let answer = PollAnswer {
        feed,
        outcome: Outcome::Failed,
        n_new: 0,
        suspected_miss: false,
        next_poll: None,
        detail: why,
        candidates: Vec::new(),
        bytes: 0,
        not_recorded: None,
    };
    send(context, Event::Finished { finished, answer });
}

/// What the loop said about an exchange.
#[derive(Default)]
pub struct Verdict {
    /// The domain's pace, where it asked for less.
    pub pace: Option<DomainPace>,
    /// The failure is our network's.
    pub our_network: bool,
}

/// Tells the loop how the request ended, and hears what follows for the domain.
async fn report(context: &Context, domain: u32, poll: &Poll, exchange: &Exchange) -> Verdict {
    let at = context.clock.now();
    let facts = &exchange.facts;
    let tell = |answer| send(context, Event::Exchanged { domain, at, answer });
    let reach = match &exchange.fetched {
        Fetched::Failed(f) => reach(f.kind),
        _ => Reach::Answered,
    };
    match reach {
        Reach::Unreachable | Reach::NoSuchHost => {
            let (ours, verdict) = oneshot::channel();
            tell(Answered::Unreachable { feed: poll.input.id, reach, ours });
            Verdict { our_network: verdict.await.unwrap_or(false), ..Verdict::default() }
        }
        _ if matches!(facts.status, Some(429 | 503)) => {
            let retry_after = facts.retry_after.map(|wish| self::wish(wish, facts.date));
            let (pace, answer) = oneshot::channel();
            tell(Answered::AskedToWait { retry_after, pace });
            Verdict { pace: answer.await.ok(), ..Verdict::default() }
        }
        _ => {
            tell(Answered::Heard);
            Verdict::default()
        }
    }
}

/// Turns a date to wait for into a duration from the answer's own `date`, if it has one: by a clock
/// that is behind ours the date would be over already.
pub fn wish(retry_after: RetryAfter, date: Option<Time>) -> RetryAfter {
    match (retry_after, date) {
        (RetryAfter::At(at), Some(date)) => RetryAfter::After(at.since(date)),
        (wish, _) => wish,
    }
}

fn reach(kind: FailureKind) -> Reach {
    match kind {
        FailureKind::NoSuchHost => Reach::NoSuchHost,
        kind if kind.may_be_our_network() => Reach::Unreachable,
        _ => Reach::Answered,
    }
}

/// A redirect: the next request needs a grant of its own, for it may go to another domain.
async fn hop(context: &Context, mut poll: Poll, to: Url, permanent: bool) {
    poll.n_hops += 1;
    if poll.n_hops > HOPS_MAX {
        let detail = format!(
            "more than {HOPS_MAX} redirects; the last one leads to {}",
            feed::mask_secrets(&to)
        );
        let (kind, candidates) = (Trouble::Redirect, Vec::new());
        let reading = Reading::Failed { kind, detail, our_network: false, candidates };
        return finish(context, poll, reading, &fetch::ExchangeFacts::default(), None).await;
    }
    poll.permanent &= permanent;
    poll.url = to;
    send(context, Event::Hop(Box::new(poll)));
}

/// The redirect's target asked us to wait: the poll ends here.
async fn give_up(context: &Context, poll: Poll, until: Time) {
    let detail = format!("it redirects to {}, which asked us to wait until {until}", poll.domain());
    let pace = DomainPace { not_before: Some(until), ..DomainPace::default() };
    let reading = Reading::Refused { kind: Trouble::Waiting, detail };
    finish(context, poll, reading, &fetch::ExchangeFacts::default(), Some(pace)).await;
}

/// Records the poll and tells the loop.
async fn finish(
    context: &Context,
    poll: Poll,
    reading: Reading,
    facts: &fetch::ExchangeFacts,
    pace: Option<DomainPace>,
) {
    // No later than now, should the clock have been set back meanwhile.
    let now = context.clock.now().floor_to_second();
    let at = poll.at.map_or(now, |at| at.min(now));
    let feed = poll.input.id;
    let trip = conclude::Trip {
        at,
        ended: context.clock.now(),
        cause: poll.cause.as_deref(),
        url: &poll.url,
        permanent: poll.permanent && poll.n_hops > 0,
        passed: &poll.passed,
        bytes: poll.bytes,
        elapsed: poll.elapsed,
        facts,
        pace,
    };
    let budget = context.budget();
    let concluded =
        conclude::conclude(&poll.input, reading, &trip, &context.settings, budget.as_ref());
    let Concluded { record, mut finished, mut answer, later } = concluded;
    let due = record.decision.next.at;
    let recorded = match later {
        None => context.store.record(record).await,
        Some(later) => {
            let decided = context.store.record_deciding(record, move |shown| later.decide(shown));
            decided.await.map(|(recorded, (next_at, budgeted))| {
                conclude::settle(&mut finished, &mut answer, next_at, budgeted);
                recorded
            })
        }
    };
    let overtaken = matches!(recorded, Err(StoreError::Stale { .. }));
    match recorded {
        Ok(recorded) if recorded.new_ids.is_empty() => {}
        Ok(_) => context.deliveries.notify_one(),
        Err(error) => {
            // Nothing of this poll is kept, so nothing may be forgotten: the same poll is due
            // again.
            if !matches!(error, StoreError::Stale { .. } | StoreError::NoFeed(_)) {
                context.log_trouble(feed, &error);
                answer.not_recorded = Some(error.to_string());
            }
            answer.outcome = Outcome::Failed;
            answer.n_new = 0;
            answer.detail = format!("the poll could not be recorded: {error}");
            let retry_at = context.clock.now() + RECORD_RETRY;
            finished.next_at = finished.next_at.map(|_| retry_at);
            finished.generation = poll.input.generation;
            finished.budgeted = None;
        }
    }
    send(context, Event::Finished { finished, answer });
    // Paused when its poll began, it may have been resumed since: then it was laid down in vain.
    // Overtaken, it may have moved to another domain.
    if (poll.input.settings.paused || overtaken)
        && let Ok(Some(asked)) = context.asked(feed, due)
    {
        send(context, Event::Rest(asked));
    }
}

/// How long after a poll that could not be recorded the feed is polled again.
const RECORD_RETRY: Duration = Duration::from_secs(60);

fn send(context: &Context, event: Event) {
    // The loop ends only with the engine; then nobody needs to know.
    let _ = context.events.send(event);
}

#[cfg(test)]
mod tests {
    use std::sync::RwLock;
    use std::sync::atomic::AtomicI64;

    use tokio::sync::{Notify, mpsc, watch};

    use super::*;

    #[tokio::test]
    async fn a_panic_at_the_end_of_a_poll_takes_the_feed_out_of_flight() {
        let folder = tempfile::tempdir().unwrap();
        let store = store::Store::open(folder.path(), store::OpenMode::ReadWrite).unwrap();
        let (events, mut told) = mpsc::unbounded_channel();
        let (_cut, cut) = watch::channel(false);
        let context = Context {
            store,
            fetcher: fetch::Fetcher::new(fetch::Settings::new("https://example.org/")).unwrap(),
            clock: crate::Clock::manual(Time::from_secs(1_700_000_000)),
            settings: crate::Settings::new(),
            events,
            cut,
            budget: RwLock::new(None),
            trouble_logged: AtomicI64::new(0),
            deliveries: Notify::new(),
        };
        end_guarded(&context, FeedId(7), async { panic!("an end that nobody thought of") }).await;
        let Ok(Event::Finished { finished, answer }) = told.try_recv() else {
            panic!("the loop was not told that the poll is over")
        };
        assert_eq!((finished.feed, answer.outcome), (FeedId(7), Outcome::Failed));
    }

    #[test]
    fn a_date_to_wait_for_counts_from_the_servers_own() {
        let (ours, two_minutes) = (Time::from_secs(1_700_000_000), Duration::from_secs(120));
        let at = RetryAfter::At(ours);
        let slow = Some(ours - two_minutes);
        assert_eq!(wish(at, slow), RetryAfter::After(two_minutes), "its clock is behind ours");
        assert_eq!(wish(at, None), RetryAfter::At(ours));
        let after = RetryAfter::After(two_minutes);
        assert_eq!(wish(after, slow), RetryAfter::After(two_minutes));
    }
}
