//! Articles: the pages behind entries. A request of a person or a new entry of a feed that wants
//! every page becomes an errand behind the polls of its domain. Its main text is stored next to the
//! text of the feed.
//!
//! No poll and no record waits for anything here.

mod asking;
mod edited;
mod extraction;
mod known;
mod load;
mod permission;
mod preview;
mod robots;
mod wait;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use dispatch::Stopwatch;
use feed::{Domain, EntryId};
use store::{ArticleRequest, PostponedArticle, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

use crate::context::Context;

pub use edited::{ask_again, edited_keys};
use load::load_due;
pub use load::{LoadedArticle, load};
pub use permission::{PagePermission, allowed};
pub use preview::{TrialText, preview};

/// The interval at which the store is asked for new requests. It is real time.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The wait after an error of the store.
const TROUBLE_WAIT: Duration = Duration::from_secs(10);
/// Requests for new entries that one transaction makes.
const NEW_MAX: u32 = 500;
/// Deadlines that one transaction passes.
const LATE_MAX: u32 = 100;
/// Requests that are read at once, and pages under way at the same time over all domains: those of
/// people, and the others. Most of them wait for the gap of their domain.
const DUE_MAX: u32 = 200;
const OF_PEOPLE_MAX: usize = 64;
const UNDER_WAY_MAX: usize = 256;
/// Reading all due requests takes this part of the time at most. A backlog may have very many.
const SCAN_SHARE: u32 = 10;

/// The line in which a page waits: its domain, and whether a person waits for it. A page that
/// nobody waits for may wait long behind polls, and no person waits behind it.
type PageLine = (Domain, bool);

/// The pages under way, one of each line at a time.
struct PagesUnderWay {
    tasks: JoinSet<PageLine>,
    lines: HashSet<PageLine>,
    stopwatch: Stopwatch,
    /// When the requests that nobody waits for are read again.
    next_scan: Duration,
}

impl PagesUnderWay {
    fn is_full(&self, by_person: bool) -> bool {
        let n = self.lines.iter().filter(|(_, is_asked)| *is_asked == by_person).count();
        n >= if by_person { OF_PEOPLE_MAX } else { UNDER_WAY_MAX }
    }

    /// Frees the lines of pages that have ended.
    fn free_ended(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            match ended {
                Ok(line) => {
                    self.lines.remove(&line);
                }
                // A task that panicked does not say its line: begin with all of them again.
                Err(_) => self.lines.clear(),
            }
        }
    }
}

/// Follows the stream of entries and fetches pages until the program stops.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let (tasks, lines) = (JoinSet::new(), HashSet::new());
    let (stopwatch, next_scan) = (Stopwatch::start(), Duration::ZERO);
    let mut pages = PagesUnderWay { tasks, lines, stopwatch, next_scan };
    let mut next_retention = context.clock.now();
    while !*stop.borrow() {
        pages.free_ended();
        let wait = match turn(&context, &mut pages).await {
            Ok(()) => LOOK_EVERY,
            Err(error) => {
                tracing::error!(%error, "cannot look for articles; retrying");
                TROUBLE_WAIT
            }
        };
        if let Some(age) = context.settings.articles.age_max
            && context.clock.now() >= next_retention
        {
            next_retention = context.clock.now() + Duration::from_secs(3600);
            retain(&context, age).await;
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = context.articles.asked.notified() => {}
            _ = stop.changed() => {}
        }
    }
    // Pages under way are tried again at the next start.
    pages.tasks.abort_all();
}

async fn retain(context: &Arc<Context>, age: Duration) {
    let (store, now) = (context.store.clone(), context.clock.now());
    match tokio::task::spawn_blocking(move || store.retain_articles(age, now)).await {
        Ok(Ok(0)) | Err(_) => {}
        Ok(Ok(articles)) => tracing::info!(articles, "retention of articles"),
        Ok(Err(error)) => tracing::error!(%error, "retention of articles failed; retrying"),
    }
}

/// Makes requests for new entries, passes deadlines, and begins pages whose domain is free.
async fn turn(context: &Arc<Context>, pages: &mut PagesUnderWay) -> Result<(), StoreError> {
    let (store, now) = (&context.store, context.clock.now());
    let wait = context.settings.articles.wait;
    while store.request_new_articles(now, wait, NEW_MAX).await? > 0 {}
    let late = store.pass_article_deadlines(now, LATE_MAX).await?;
    if late.n_matches > 0 {
        context.deliveries.notify_one();
    }
    begin_due(context, pages, true).await?;
    let begun = pages.stopwatch.elapsed();
    if begun >= pages.next_scan {
        begin_due(context, pages, false).await?;
        let lasted = pages.stopwatch.elapsed().saturating_sub(begun);
        pages.next_scan = begun + lasted * SCAN_SHARE;
    }
    Ok(())
}

/// Reads the due requests of people, or all others, and begins the pages whose domain is free.
async fn begin_due(
    context: &Arc<Context>,
    pages: &mut PagesUnderWay,
    by_person: bool,
) -> Result<(), StoreError> {
    let now = context.clock.now();
    let mut after = EntryId(0);
    while !pages.is_full(by_person) {
        let store = context.store.clone();
        let read = move || store.articles_due(now, by_person, after, DUE_MAX);
        // Joining fails only if the runtime ends, and the store with it.
        let due = tokio::task::spawn_blocking(read).await.unwrap_or(Err(StoreError::Closed))?;
        let Some(last) = due.last() else { break };
        after = last.entry;
        let is_last = due.len() < DUE_MAX as usize;
        let postponed = begin_pages(context, due, pages);
        if !postponed.is_empty() {
            context.store.postpone_articles(postponed).await?;
        }
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Begins pages: one at a time of each line, so that at most one waits behind the polls of a
/// domain. Returns the pages that wait for their site.
fn begin_pages(
    context: &Arc<Context>,
    due: Vec<ArticleRequest>,
    pages: &mut PagesUnderWay,
) -> Vec<PostponedArticle> {
    let (now, mut postponed) = (context.clock.now(), Vec::new());
    for request in due {
        if pages.is_full(request.by_person) {
            break;
        }
        let url = request.link.as_deref().and_then(|link| Url::parse(link.trim()).ok());
        let domain = url.as_ref().map(Domain::of).unwrap_or_default();
        if !request.by_person {
            let origin = url.map(|url| url.origin().ascii_serialization()).unwrap_or_default();
            if let Some(wait) = context.articles.waits(&[domain.as_str(), &origin], now) {
                let (entry, until, why) = (request.entry, wait.at, wait.why);
                postponed.push(PostponedArticle { entry, until, why });
                continue;
            }
            // A page that does not come holds its domain until the time limit, and polls wait.
            if context.articles.rests(&domain, now) {
                continue;
            }
        }
        let line = (domain, request.by_person);
        if !pages.lines.insert(line.clone()) {
            continue;
        }
        let context = Arc::clone(context);
        pages.tasks.spawn(async move {
            if let Err(error) = load_due(&context, &request).await {
                let entry = request.entry.0;
                tracing::error!(entry, %error, "cannot store an article; trying again");
                tokio::time::sleep(TROUBLE_WAIT).await;
            }
            line
        });
    }
    postponed
}
