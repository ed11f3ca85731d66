//! Asks for one page: permission, the turn at its domain, the request and its redirects. It says
//! whether a page that did not come may still come, and whether a try was made at all.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dispatch::ErrandRequest;
use feed::{Domain, Validators};
use fetch::{FailureKind, Fetched};
use store::{ArticleFailure, ArticleRequest, ArticleTry, StoreError};
use url::Url;

use super::known::{known, validators};
use super::permission::{PagePermission, allowed, permission};
use super::wait::{class, room_for_page, short_wait, without_room, without_turn};
use crate::context::Context;
use crate::errand::{PAGE_HOPS_MAX, PlanHandle, follow, turn};
use crate::page_room::TakenRoom;
use crate::page_work::PageWait;

/// A page is due again so long after its request was sent, if nothing was recorded since.
const UNRECORDED_WAIT: Duration = Duration::from_secs(120);

/// A page as it came.
pub struct ArrivedPage {
    pub url: Url,
    pub bytes: Arc<Vec<u8>>,
    pub content_type: Option<String>,
    pub validators: Validators,
    /// The header of the answer asks that copies are not shown elsewhere.
    pub noarchive: bool,
    /// Its room in memory, until it is extracted and recorded.
    pub room: Option<TakenRoom>,
}

/// A page that was asked for.
pub enum AskedPage {
    Arrived(ArrivedPage),
    /// It has not changed, so its article stays.
    Unchanged {
        n_words: u64,
    },
}

/// Why a page did not come.
pub enum PageTrouble {
    /// It never will.
    Final(ArticleFailure),
    /// It may come later.
    Passing(String),
    /// Not our turn: no try was made.
    Wait(PageWait),
}

/// Fetches a page. Pages that nobody asked for need the permission of each site on their way.
pub async fn fetch(
    context: &Context,
    request: &ArticleRequest,
    url: Url,
) -> Result<Result<AskedPage, PageTrouble>, StoreError> {
    let (is_asked, domain) = (request.by_person, Domain::of(&url));
    let plan = PlanHandle::of(context).in_region(context.region(request.feed, &domain));
    if !is_asked && let Err(trouble) = granted(permission(context, &plan, &url).await?) {
        return Ok(Err(trouble));
    }
    let first = url.clone();
    let known = known(context, request.entry, request.feed)?;
    let (noarchive, is_sent) = (AtomicBool::new(false), AtomicBool::new(false));
    let room = Mutex::new(None);
    let send = async |url: Url| {
        let untaken = |error: StoreError| PageTrouble::Wait(short_wait(context, &url, &error));
        if !is_asked && url != first {
            granted(allowed(context, &plan, &url).await.map_err(untaken)?)?;
        }
        let class = class(context, &url, is_asked);
        let turn = turn(&plan, &url, class).await.map_err(|why| {
            // A site that redirects to one that cannot be asked is not asked again and again.
            match without_turn(context, &url, &why) {
                Ok(wait) => PageTrouble::Wait(wait),
                Err(wait) if is_sent.load(Ordering::Relaxed) => PageTrouble::Passing(wait.why),
                Err(wait) => PageTrouble::Wait(wait),
            }
        })?;
        let Some(mut taken) = room_for_page(context, is_asked).await else {
            let wait = without_room(context, &url);
            return Err(match is_sent.load(Ordering::Relaxed) {
                true => PageTrouble::Passing(wait.why),
                false => PageTrouble::Wait(wait),
            });
        };
        if !is_sent.swap(true, Ordering::Relaxed) {
            begin(context, request, &domain).await.map_err(untaken)?;
        }
        // A login or cookie of the feed opens the pages of its own site too.
        let own = context.fetch_book.of(request.feed, &url).filter(|own| own.fault.is_none());
        let validators = validators(known.as_ref(), &url);
        let page = ErrandRequest::Page { validators, own };
        let (fetched, facts) = turn.fetch(context, &url, page).await;
        noarchive.store(facts.noarchive, Ordering::Relaxed);
        if let Fetched::Body { bytes, .. } = &fetched {
            taken.shrink(bytes.len());
            *room.lock().unwrap_or_else(PoisonError::into_inner) = Some(taken);
        }
        Ok(fetched)
    };
    Ok(match follow(url, PAGE_HOPS_MAX, send).await {
        Ok((_, Fetched::NotModified { .. })) if known.is_some() => {
            let n_words = known.as_ref().map_or(0, |known| known.n_words);
            Ok(AskedPage::Unchanged { n_words })
        }
        Ok((url, fetched)) => judged(url, fetched).map(|page| {
            let noarchive = noarchive.load(Ordering::Relaxed);
            let room = room.into_inner().unwrap_or_else(PoisonError::into_inner);
            AskedPage::Arrived(ArrivedPage { noarchive, room, ..page })
        }),
        Err(trouble) => Err(trouble),
    })
}

fn granted(permission: PagePermission) -> Result<(), PageTrouble> {
    match permission {
        PagePermission::Granted => Ok(()),
        PagePermission::Refused => {
            let detail = "the site does not want programs to fetch this page (robots.txt)";
            Err(PageTrouble::Final(failure("robots", detail)))
        }
        PagePermission::Later(wait) => Err(PageTrouble::Wait(wait)),
    }
}

/// Notes a try before its request is sent. Otherwise a page whose end cannot be recorded would be
/// asked for without end. A page that nobody asked for counts against the ceilings of the day.
async fn begin(
    context: &Context,
    request: &ArticleRequest,
    domain: &Domain,
) -> Result<(), StoreError> {
    let at = context.clock.now();
    let one = ArticleTry {
        entry: request.entry,
        tries: request.tries + 1,
        at,
        next_at: at + UNRECORDED_WAIT,
        counted_for: (!request.by_person).then(|| domain.as_str().to_owned()),
    };
    context.store.begin_article(one).await
}

pub fn failure(code: &str, detail: impl Into<String>) -> ArticleFailure {
    ArticleFailure { code: code.to_owned(), detail: detail.into() }
}

/// Judges the answer to the last request for a page.
pub fn judged(url: Url, fetched: Fetched) -> Result<ArrivedPage, PageTrouble> {
    let last = |code: &str, detail: String| Err(PageTrouble::Final(failure(code, detail)));
    match fetched {
        Fetched::Body { mut bytes, content_type, validators, .. } => {
            // A body that grew in steps may have taken twice its length.
            bytes.shrink_to_fit();
            if !is_html(content_type.as_deref()) {
                let shown = content_type.unwrap_or_default();
                return last("not-html", format!("the link leads to a file ({shown})"));
            }
            let (bytes, noarchive, room) = (Arc::new(bytes), false, None);
            Ok(ArrivedPage { url, bytes, content_type, validators, noarchive, room })
        }
        Fetched::Gone => last("gone", "the page is gone (410)".to_owned()),
        Fetched::Refused { status: 429 } => {
            Err(PageTrouble::Passing("the server asked us to wait (429)".to_owned()))
        }
        Fetched::Refused { status } => {
            last("refused", format!("the server refused the page ({status})"))
        }
        Fetched::Blocked { reason } => last("blocked", reason),
        Fetched::Moved { .. } => last("redirects", format!("more than {PAGE_HOPS_MAX} redirects")),
        Fetched::NotModified { .. } => {
            Err(PageTrouble::Passing("the server answered 304 to a first request".to_owned()))
        }
        Fetched::Failed(failed) => match failed.kind {
            FailureKind::Status(status) if (400..500).contains(&status) && status != 408 => {
                last("refused", failed.detail)
            }
            FailureKind::TooLarge => last("too-large", failed.detail),
            _ => Err(PageTrouble::Passing(failed.detail)),
        },
    }
}

/// Returns whether a type is that of a page. Without a type the extraction looks at the bytes.
fn is_html(content_type: Option<&str>) -> bool {
    let Some(text) = content_type else { return true };
    let kind = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(kind.as_str(), "text/html" | "application/xhtml+xml")
}
