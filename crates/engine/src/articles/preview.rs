//! Tries a CSS selector on the page behind an entry, so that a person sees what it finds before it
//! becomes a setting. Nothing is recorded.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dispatch::ErrandRequest;
use feed::{Domain, Validators};
use fetch::Fetched;
use store::{EntryRow, StoreError};
use url::Url;

use super::asking::{PageTrouble, judged};
use super::extraction::{PageToExtract, extracted};
use super::load::n_words;
use super::wait::{class, room_for_page, without_room};
use crate::context::Context;
use crate::errand::{PAGE_HOPS_MAX, PlanHandle, follow, turn};
use crate::page_room::TakenRoom;

/// The time that a trial waits for its turn. Somebody looks at a browser meanwhile.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time for the whole page, with all redirects. A request that it cuts off counts as one
/// without an answer.
const PAGE_TIME: Duration = Duration::from_secs(60);
/// Bytes of the text that are shown.
const SHOWN_BYTES_MAX: usize = 6000;

/// The text that a trial found.
pub struct TrialText {
    pub title: Option<String>,
    pub n_words: u64,
    /// The beginning of the text, one line per block.
    pub text: String,
}

/// Extracts the page behind an entry by a selector, or by search without one. A page that the
/// operator keeps is not asked for again.
pub async fn preview(
    context: &Context,
    entry: &EntryRow,
    selector: Option<String>,
) -> Result<Result<TrialText, String>, StoreError> {
    let link = entry.link.as_deref().and_then(|link| Url::parse(link.trim()).ok());
    let Some(link) = link.filter(|link| matches!(link.scheme(), "http" | "https")) else {
        return Ok(Err("the entry has no link to a page".to_owned()));
    };
    // The room of the page is taken until the text is found.
    let (page, _room) = match kept(context, entry, selector.clone())? {
        Some(page) => (page, None),
        None => {
            let asking = asked(context, entry, link, selector);
            match tokio::time::timeout(PAGE_TIME, asking).await {
                Ok(Ok(page)) => page,
                Ok(Err(why)) => return Ok(Err(why)),
                Err(_) => {
                    let seconds = PAGE_TIME.as_secs();
                    return Ok(Err(format!("the page did not come within {seconds} s")));
                }
            }
        }
    };
    Ok(extracted(page).await.map_err(|why| why.to_string()).map(|article| {
        let n_words = n_words(&article.text);
        let mut text = article.text;
        text.truncate(text.floor_char_boundary(SHOWN_BYTES_MAX));
        TrialText { title: article.title, n_words, text }
    }))
}

/// Returns the page that was kept, if the operator keeps pages.
fn kept(
    context: &Context,
    entry: &EntryRow,
    selector: Option<String>,
) -> Result<Option<PageToExtract>, StoreError> {
    let Some(bytes) = context.store.article_page(entry.id)? else { return Ok(None) };
    let Some(row) = context.store.article(entry.id)? else { return Ok(None) };
    let Ok(url) = Url::parse(&row.url) else { return Ok(None) };
    Ok(Some(PageToExtract { bytes: Arc::new(bytes), content_type: None, url, selector }))
}

/// Asks for the page: a person wants it, so it comes before polls, in turn, as the first ones do.
async fn asked(
    context: &Context,
    entry: &EntryRow,
    url: Url,
    selector: Option<String>,
) -> Result<(PageToExtract, Option<TakenRoom>), String> {
    let region = context.region(entry.feed, &Domain::of(&url));
    let plan = PlanHandle::of(context).in_region(region);
    let room = Mutex::new(None);
    let send = async |url: Url| {
        let turn = turn(&plan, &url, class(context, &url, true));
        let turn = match tokio::time::timeout(PATIENCE, turn).await {
            Ok(turn) => turn.map_err(|why| format!("{why}; try again later"))?,
            Err(_) => {
                let why = "the site has other requests in its line; try again in a minute";
                return Err(why.to_owned());
            }
        };
        // As for the article itself: a login or cookie of the feed opens the pages of its own site.
        let own = context.fetch_book.of(entry.feed, &url).filter(|own| own.fault.is_none());
        let request = ErrandRequest::Page { validators: Validators::default(), own };
        let Some(mut taken) = room_for_page(context, true).await else {
            return Err(format!("{}; try again in a minute", without_room(context, &url).why));
        };
        let fetched = turn.fetch(context, &url, request).await.0;
        if let Fetched::Body { bytes, .. } = &fetched {
            taken.shrink(bytes.len());
            *room.lock().unwrap_or_else(PoisonError::into_inner) = Some(taken);
        }
        Ok::<_, String>(fetched)
    };
    let (url, fetched) = follow(url, PAGE_HOPS_MAX, send).await?;
    let page = judged(url, fetched).map_err(|trouble| match trouble {
        PageTrouble::Final(failure) => failure.detail,
        PageTrouble::Passing(why) => why,
        PageTrouble::Wait(wait) => wait.why,
    })?;
    let (bytes, content_type, url) = (page.bytes, page.content_type, page.url);
    let room = room.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((PageToExtract { bytes, content_type, url, selector }, room))
}
