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

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use feed::{Domain, EntryId};
use store::{ArticleRequest, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

use crate::context::Context;

pub use edited::{ask_again, edited_keys};
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
/// Requests that are read at once, and pages under way at the same time over all domains. Most of
/// them wait for the gap of their domain.
const DUE_MAX: u32 = 200;
const UNDER_WAY_MAX: usize = 256;

/// Follows the stream of entries and fetches pages until the program stops.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let mut pages: JoinSet<Domain> = JoinSet::new();
    let mut domains: HashSet<Domain> = HashSet::new();
    let mut next_retention = context.clock.now();
    while !*stop.borrow() {
        while let Some(ended) = pages.try_join_next() {
            match ended {
                Ok(domain) => {
                    domains.remove(&domain);
                }
                // A task that panicked does not say its domain: begin with all of them again.
                Err(_) => domains.clear(),
            }
        }
        let wait = match turn(&context, &mut pages, &mut domains).await {
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
    // Pages under way are fetched again at the next start.
    pages.abort_all();
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
async fn turn(
    context: &Arc<Context>,
    pages: &mut JoinSet<Domain>,
    domains: &mut HashSet<Domain>,
) -> Result<(), StoreError> {
    let (store, now) = (&context.store, context.clock.now());
    let wait = context.settings.articles.wait;
    while store.request_new_articles(now, wait, NEW_MAX).await? > 0 {}
    let late = store.pass_article_deadlines(now, LATE_MAX).await?;
    if late.n_matches > 0 {
        context.deliveries.notify_one();
    }
    for by_person in [true, false] {
        let mut after = EntryId(0);
        loop {
            if pages.len() >= UNDER_WAY_MAX {
                return Ok(());
            }
            let due = store.articles_due(now, by_person, after, DUE_MAX)?;
            let Some(last) = due.last() else { break };
            after = last.entry;
            let is_full = due.len() < DUE_MAX as usize;
            begin_pages(context, due, pages, domains);
            if is_full {
                break;
            }
        }
    }
    Ok(())
}

/// Begins pages: one at a time of each domain, so that at most one waits behind its polls.
fn begin_pages(
    context: &Arc<Context>,
    due: Vec<ArticleRequest>,
    pages: &mut JoinSet<Domain>,
    domains: &mut HashSet<Domain>,
) {
    for request in due {
        if pages.len() >= UNDER_WAY_MAX {
            return;
        }
        let url = request.link.as_deref().and_then(|link| Url::parse(link.trim()).ok());
        let domain = url.as_ref().map(Domain::of).unwrap_or_default();
        if !domains.insert(domain.clone()) {
            continue;
        }
        let context = Arc::clone(context);
        pages.spawn(async move {
            if let Err(error) = load(&context, &request).await {
                let entry = request.entry.0;
                tracing::error!(entry, %error, "cannot store an article; retrying");
                tokio::time::sleep(TROUBLE_WAIT).await;
            }
            domain
        });
    }
}
