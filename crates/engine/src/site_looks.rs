//! Searches the pages of sites for feeds: sites that several feeds of a person link to and that the
//! person does not read. The page of a site is read once in 30 days, behind the polls of its domain
//! and only if robots.txt allows it. A page that cannot be read counts as read.

use std::sync::Arc;
use std::time::Duration;

use dispatch::ErrandRequest;
use feed::FeedUrl;
use fetch::Fetched;
use parse::discover::links;
use store::{SiteCandidate, SiteFeed, StoreError};
use tokio::sync::watch;
use url::Url;

use crate::articles::{PagePermission, allowed};
use crate::context::Context;
use crate::errand::{PAGE_HOPS_MAX, PlanHandle, follow, turn};
use crate::plan::ErrandClass;
use crate::titles::shortened;

/// The interval between two searches for sites. It is real time.
const SEARCH_EVERY: Duration = Duration::from_secs(600);
/// The wait before the first search, so that a start is not slowed down.
const FIRST_AFTER: Duration = Duration::from_secs(5);
/// Links count for this long.
const LINKS_COUNT: Duration = Duration::from_secs(30 * 86_400);
/// A page is read again after this long.
const LOOK_AGAIN: Duration = Duration::from_secs(30 * 86_400);
const DAY: Duration = Duration::from_secs(86_400);
/// The feeds of one person that must link to a site.
const FEEDS_MIN: u64 = 3;
/// Sites of one search, and of one day.
const SITES_MAX: u32 = 20;
const PER_DAY_MAX: u64 = 200;
/// Bytes of a page. Its feeds are named at its beginning.
const PAGE_BYTES_MAX: usize = 1_000_000;
/// Feeds that are kept of one page, and bytes of an address and of a title.
const FEEDS_MAX: usize = 5;
const URL_BYTES_MAX: usize = 1000;
const TITLE_BYTES_MAX: usize = 400;

/// Searches until the program stops.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    if !context.settings.people.suggestions {
        return;
    }
    let mut wait = FIRST_AFTER;
    while !*stop.borrow() {
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = stop.changed() => return,
        }
        wait = SEARCH_EVERY;
        tokio::select! {
            done = search(&context) => if let Err(error) = done {
                tracing::error!(%error, "cannot search sites for feeds; retrying");
            },
            _ = stop.changed() => return,
        }
    }
}

/// Reads the pages of the next sites, one after the other.
async fn search(context: &Context) -> Result<(), StoreError> {
    let now = context.clock.now();
    let store = context.store.clone();
    let sites = tokio::task::spawn_blocking(move || {
        store.forget_links(now - LINKS_COUNT)?;
        let left = PER_DAY_MAX.saturating_sub(store.n_site_looks(now - DAY)?);
        let limit = u32::try_from(left).unwrap_or(u32::MAX).min(SITES_MAX);
        store.site_candidates(FEEDS_MIN, now - LINKS_COUNT, now - LOOK_AGAIN, limit)
    });
    // Joining fails only if the runtime ends, and the store with it.
    for site in sites.await.unwrap_or(Err(StoreError::Closed))? {
        let found = look(context, &site).await?;
        tracing::debug!(site = %site.site, feeds = found.len(), "searched a site for feeds");
        context.store.record_site_look(&site.site, found, context.clock.now())?;
    }
    Ok(())
}

/// Returns the feeds that the page of a site names.
async fn look(context: &Context, site: &SiteCandidate) -> Result<Vec<SiteFeed>, StoreError> {
    let Ok(url) = Url::parse(&site.origin) else { return Ok(Vec::new()) };
    let plan = PlanHandle::of(context);
    let send = async |url: Url| {
        match allowed(context, &plan, &url).await.map_err(Some)? {
            PagePermission::Granted => {}
            PagePermission::Refused | PagePermission::Later(_) => return Err(None),
        }
        let turn = turn(&plan, &url, ErrandClass::AfterPolls).await.map_err(|_| None)?;
        let request = ErrandRequest::file(PAGE_BYTES_MAX);
        Ok(turn.fetch(context, &url, request).await.0)
    };
    Ok(match follow(url, PAGE_HOPS_MAX, send).await {
        Ok((url, Fetched::Body { bytes, content_type, .. })) => {
            named(&site.site, &bytes, content_type.as_deref(), &url)
        }
        Ok(_) | Err(None) => Vec::new(),
        Err(Some(error)) => return Err(error),
    })
}

/// Returns the feeds that a page declares with their type. Guesses are left out, and addresses
/// with a secret.
fn named(site: &str, bytes: &[u8], content_type: Option<&str>, page: &Url) -> Vec<SiteFeed> {
    let declared = links(bytes, content_type, page).into_iter();
    let declared = declared.filter(|one| one.mime_type.is_some());
    let feeds = declared.filter_map(|one| {
        let url = FeedUrl::parse(one.url.as_str()).ok()?;
        let is_plain = url.masked() == url.as_str() && url.as_str().len() <= URL_BYTES_MAX;
        let title = one.title.as_deref().and_then(|title| shortened(title, TITLE_BYTES_MAX));
        is_plain.then(|| SiteFeed { site: site.to_owned(), url: url.as_str().to_owned(), title })
    });
    feeds.take(FEEDS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_declared_feeds_without_secrets_are_taken() {
        let page = Url::parse("https://site.example/").expect("a URL");
        let html = b"<link rel=alternate type='application/rss+xml' title=' News ' href=/rss>\
            <link rel=alternate type='application/atom+xml' href='/atom?token=abcdefghijklmnop'>\
            <a href='/other.rss'>RSS</a>";
        let found = named("site.example", html, Some("text/html"), &page);
        let expect = SiteFeed {
            site: "site.example".to_owned(),
            url: "https://site.example/rss".to_owned(),
            title: Some("News".to_owned()),
        };
        assert_eq!(found, [expect]);
        let guess = b"<a href='/other.rss'>RSS</a>";
        assert!(named("site.example", guess, Some("text/html"), &page).is_empty());
    }
}
