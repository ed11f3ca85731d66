//! The last step of a poll: judges the result, concludes and records it. The loop hears of the end
//! of the poll only after the record is stored, or after it failed.

use std::mem;
use std::time::Duration;

use dispatch::machine::Verdict;
use dispatch::{EndPoint, PollReading, PollResult, ReadDocument, SoFar};
use feed::{
    DocumentDates, EntryKey, ExchangeFacts, FeedId, KeyedItem, Observed, Outcome, RawAnswer, Time,
    Trouble, identify_again,
};
use polling::budget::PollCost;
use polling::pace::DomainPace;
use store::{ErrorKind, PollInput, RecordedAnswer, StoreError};
use terminal::without_panic;

use super::under_way::{PollCourse, PollUnderWay};
use crate::articles;
use crate::conclude::{self, Concluded, JudgedReading};
use crate::confirmation::Confirmation;
use crate::context::Context;
use crate::event::{Event, Finished, PollAnswer};
use crate::facts;
use crate::observe::observe;
use crate::plan::grant_life;

/// The shortest wait after a poll that could not be recorded.
pub const RECORD_RETRY: Duration = Duration::from_secs(60);
/// The wait of a poll that its terminal did not send, or did not answer until its grant ended.
pub const SEND_RETRY: Duration = Duration::from_secs(1);

pub const INTERNAL_ERROR: &str = "internal error; please report it";

/// The controller's verdict on an exchange.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExchangeVerdict {
    /// The domain's pace, if it asked for less.
    pub pace: Option<DomainPace>,
    /// The failure is our network's.
    pub our_network: bool,
}

/// The end of a poll's last exchange.
pub struct ExchangeEnd {
    pub at: Time,
    pub facts: ExchangeFacts,
    pub verdict: ExchangeVerdict,
    /// The messages of the exchange, for a recording.
    pub raw: Option<Box<RawAnswer>>,
}

/// Concludes a poll from what its worker read, and records it.
pub async fn conclude_and_record(
    context: &Context,
    poll: PollUnderWay,
    reading: PollReading,
    mut end: ExchangeEnd,
) {
    let feed = poll.feed();
    let ending = async {
        let (input, mut course) = poll.split();
        let at = sent_at(&course, end.at);
        let is_kept = course.confirmation.is_some();
        match judge(context, &input, reading, &end, at, is_kept) {
            Ok(reading) => record(context, &input, &mut course, reading, &mut end).await,
            // Its terminal keeps the document until it is confirmed, and sends it again.
            Err(error) => {
                context.log_trouble(feed, &error);
                drop(course);
                let why = format!("the store could not be read: {error}");
                abandon(context, feed, why, RECORD_RETRY);
            }
        }
    };
    end_contained(context, feed, ending).await;
}

/// Records the result of an earlier grant, if no other poll of the feed was recorded since.
pub async fn record_late(
    context: &Context,
    result: PollResult,
    confirmation: Confirmation,
    at: Time,
) {
    let PollResult { grant, feed, generation, so_far, held, facts, reading, raw, .. } = result;
    let life = grant_life(context.fetcher.exchange_time_max());
    let so_far = believed(so_far, at, held + life);
    let input = match context.store.poll_input(feed) {
        Ok(input) if input.generation == generation => input,
        Ok(_) | Err(StoreError::NoFeed(_)) => {
            confirmation.answer(Verdict::Stale);
            return context.send(Event::NotAdopted { feed });
        }
        Err(error) => {
            context.log_trouble(feed, &error);
            // The terminal sends it again.
            return context.send(Event::NotAdopted { feed });
        }
    };
    let mut poll = PollUnderWay::resumed(input, grant, so_far, at);
    poll.confirmation = Some(confirmation);
    let verdict = ExchangeVerdict::default();
    conclude_and_record(context, poll, reading, ExchangeEnd { at, facts, verdict, raw }).await;
}

/// Bounds the time that a terminal claims for the first request: not longer ago than this.
pub(super) fn believed(so_far: SoFar, at: Time, longest: Duration) -> SoFar {
    let first_sent_at = so_far.first_sent_at.map(|sent| sent.max((at - longest).floor_to_second()));
    SoFar { first_sent_at, ..so_far }
}

/// Ends a poll whose redirect leads to a domain that asked us to wait.
pub async fn give_up(context: &Context, poll: PollUnderWay, until: Time) {
    let (feed, domain) = (poll.feed(), poll.domain());
    let ending = async {
        let (input, mut course) = poll.split();
        let detail = format!("it redirects to {domain}, which asked us to wait until {until}");
        let reading = JudgedReading::Refused { kind: Trouble::Waiting, detail };
        let pace = DomainPace { not_before: Some(until), ..DomainPace::default() };
        let verdict = ExchangeVerdict { pace: Some(pace), our_network: false };
        let (at, facts) = (context.clock.now(), ExchangeFacts::default());
        let mut end = ExchangeEnd { at, facts, verdict, raw: None };
        record(context, &input, &mut course, reading, &mut end).await;
    };
    end_contained(context, feed, ending).await;
}

/// Runs the end of a poll. The loop hears that the poll is over even if the end panics.
pub(super) async fn end_contained(context: &Context, feed: FeedId, end: impl Future<Output = ()>) {
    if without_panic(end).await.is_none() {
        tracing::error!(feed = feed.0, "internal error during a poll; please report it");
        abandon(context, feed, INTERNAL_ERROR.to_owned(), RECORD_RETRY);
    }
}

/// Ends a poll without a record. The feed goes back to the time that the store has for it.
pub fn abandon(context: &Context, feed: FeedId, why: String, wait: Duration) {
    let at = context.clock.now() + wait;
    tracing::debug!(feed = feed.0, why, "poll abandoned");
    let (domain, next_at, generation) = match context.store.due(feed) {
        Ok(Some((domain, due))) => {
            let next_at = due.next_at.map_or(at, |t| t.max(at));
            (Some(domain), Some(next_at), due.generation)
        }
        Ok(None) => (None, None, 0),
        // The store does not answer. The feed must not drop out of the plan for that.
        Err(_) => (None, Some(at), 0),
    };
    let finished = Finished { feed, domain, next_at, generation, budgeted: None };
    let answer = PollAnswer::without_record(feed, Outcome::Failed, why);
    context.send(Event::Finished { finished, answer });
}

/// When the poll's first request was sent, but not later than `now`: the clock may have been set
/// back since.
fn sent_at(course: &PollCourse, now: Time) -> Time {
    let now = now.floor_to_second();
    course.so_far.first_sent_at.map_or(now, |at| at.min(now))
}

/// Adds the controller's verdict to a reading, and compares a document with the store. Fails if the
/// store does not answer and the terminal keeps the document.
fn judge(
    context: &Context,
    input: &PollInput,
    reading: PollReading,
    end: &ExchangeEnd,
    at: Time,
    is_kept: bool,
) -> Result<JudgedReading, StoreError> {
    let ExchangeVerdict { pace, our_network } = end.verdict;
    let failed =
        |kind, detail, candidates| JudgedReading::Failed { kind, detail, our_network, candidates };
    Ok(match reading {
        PollReading::NotModified { validators } | PollReading::Same { validators } => {
            JudgedReading::Unchanged { validators }
        }
        PollReading::Gone => JudgedReading::Gone,
        PollReading::Refused { status } => JudgedReading::Refused {
            kind: Trouble::Status,
            detail: conclude::refusal(status, pace.as_ref()),
        },
        PollReading::Blocked { reason } => {
            JudgedReading::Refused { kind: Trouble::NotPublic, detail: reason }
        }
        PollReading::Failed { trouble, detail } => failed(trouble, detail, Vec::new()),
        PollReading::Moved { to, .. } => {
            let detail = format!("redirect to {} not followed", feed::mask_secrets(&to));
            failed(Trouble::Redirect, detail, Vec::new())
        }
        PollReading::NotAFeed { detail, is_damaged: true, .. }
            if !input.document.window.entries().is_empty() =>
        {
            JudgedReading::Damaged { warnings: vec![detail] }
        }
        PollReading::NotAFeed { detail, candidates, .. } => {
            failed(Trouble::NotAFeed, detail, candidates)
        }
        PollReading::NotSent | PollReading::WorkerFailed => {
            failed(Trouble::Internal, INTERNAL_ERROR.to_owned(), Vec::new())
        }
        PollReading::Document(mut document) => {
            // The terminal may not have known the window.
            document.items = identify_again(mem::take(&mut document.items), &input.document.window);
            let dates = DocumentDates::new(document.on_the_fly, end.facts.date, at);
            let mut observed = compared(context, input, &document, dates, at);
            if observed.is_err() {
                // A connection to the database may just have ended.
                observed = compared(context, input, &document, dates, at);
            }
            match observed {
                Ok(observed) => JudgedReading::Document { document, observed, dates },
                // If the store answers other questions, the document itself is the trouble.
                Err(error) if is_kept && context.store.due(input.id).is_err() => return Err(error),
                Err(error) => JudgedReading::Failed {
                    kind: Trouble::Internal,
                    detail: format!("the store could not be read: {error}"),
                    our_network: true,
                    candidates: Vec::new(),
                },
            }
        }
    })
}

/// Compares the items of a document with what the store knows.
fn compared(
    context: &Context,
    input: &PollInput,
    document: &ReadDocument,
    dates: DocumentDates,
    at: Time,
) -> Result<Observed, StoreError> {
    let (items, partial) = (&document.items, document.partial);
    look_up_whole(context, input, items)?;
    observe(&context.store, input, items, dates, at, partial)
}

/// Looks up the items that the window holds too, as a program without windows does.
fn look_up_whole(
    context: &Context,
    input: &PollInput,
    items: &[KeyedItem],
) -> Result<(), StoreError> {
    if !context.settings.reads_whole {
        return Ok(());
    }
    let keys: Vec<EntryKey> = items.iter().map(|keyed| keyed.key).collect();
    context.store.known(input.id, &keys).map(drop)
}

/// Records the poll and tells the loop.
async fn record(
    context: &Context,
    input: &PollInput,
    course: &mut PollCourse,
    reading: JudgedReading,
    end: &mut ExchangeEnd,
) {
    let at = sent_at(course, end.at);
    let PollCourse { cause, url, so_far, grants, confirmation } = course;
    let facts = conclude::PollFacts {
        at,
        ended: end.at,
        cause: cause.as_deref(),
        url,
        permanent: so_far.permanent && so_far.n_hops > 0,
        passed: &so_far.passed,
        bytes: so_far.bytes,
        elapsed: so_far.elapsed,
        facts: &end.facts,
        pace: end.verdict.pace,
    };
    let budget = context.budget();
    let concluded = conclude::conclude(input, reading, &facts, &context.settings, budget.as_ref());
    let Concluded { mut record, mut finished, mut answer, later } = concluded;
    if context.grants.is_some() {
        record.grants = grants.iter().map(|grant| grant.0).collect();
    }
    record.raw = end.raw.take().map(|raw| {
        let (url, hops) = (url.to_string(), so_far.n_hops);
        Box::new(RecordedAnswer { url, hops, answer: *raw })
    });
    answer.cost =
        PollCost { requests: so_far.n_hops + 1, bytes: so_far.bytes, parse: so_far.parse };
    facts::complete(&mut record, input, &context.settings.articles);
    let (feed, due) = (input.id, record.decision.next.at);
    let edited = articles::edited_keys(record.document().map(|document| &document.entries));
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
    if recorded.is_ok() {
        dispatch::end_at(EndPoint::PollRecorded);
    }
    let overtaken = matches!(recorded, Err(StoreError::Stale { .. }));
    confirm(confirmation.take(), recorded.as_ref().err());
    match recorded {
        Ok(recorded) => {
            context.trouble.end(feed);
            articles::ask_again(context, input, edited).await;
            if !recorded.new_ids.is_empty() {
                context.deliveries.notify_one();
            }
        }
        Err(error) => not_recorded(context, input, &error, &mut finished, &mut answer),
    }
    context.send(Event::Finished { finished, answer });
    // A feed that was paused when its poll began may have been resumed since; one that was
    // overtaken may have moved to another domain. Schedule both again.
    if (input.settings.paused || overtaken)
        && let Ok(Some(scheduled)) = context.scheduled(feed, due)
    {
        context.send(Event::Schedule(scheduled));
    }
}

/// Tells the terminal whether its result is recorded.
fn confirm(confirmation: Option<Confirmation>, error: Option<&StoreError>) {
    let Some(confirmation) = confirmation else { return };
    match error {
        None => confirmation.answer(Verdict::Recorded),
        Some(StoreError::Stale { .. } | StoreError::NoFeed(_)) => {
            confirmation.answer(Verdict::Stale);
        }
        // It would be refused each time. The feed is polled again, with the same validators.
        Some(error) if error.kind() == ErrorKind::Value => {
            confirmation.answer(Verdict::Refused { why: error.to_string() });
        }
        // The terminal keeps the result and sends it again.
        Some(_) => drop(confirmation),
    }
}

/// Makes the end of a poll that the store could not record: the same poll is due again.
fn not_recorded(
    context: &Context,
    input: &PollInput,
    error: &StoreError,
    finished: &mut Finished,
    answer: &mut PollAnswer,
) {
    let mut wait = RECORD_RETRY;
    if !matches!(error, StoreError::Stale { .. } | StoreError::NoFeed(_)) {
        context.log_trouble(input.id, error);
        answer.not_recorded = Some(error.to_string());
        wait = context.trouble.note(input.id, error, RECORD_RETRY);
    }
    answer.outcome = Outcome::Failed;
    answer.n_new = 0;
    answer.detail = format!("the poll could not be recorded: {error}");
    let retry_at = context.clock.now() + wait;
    finished.next_at = finished.next_at.map(|_| retry_at);
    finished.generation = input.generation;
    finished.budgeted = None;
}
