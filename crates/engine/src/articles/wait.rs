//! Waits of pages that cannot be asked for now, and the place of their requests among the polls.

use std::time::Duration;

use feed::Domain;
use url::Url;

use crate::context::Context;
use crate::errand::NoTurn;
use crate::page_room::TakenRoom;
use crate::page_work::PageWait;
use crate::plan::ErrandClass;

/// The wait of a page that cannot be asked for at the moment, if nobody knows for how long.
const SHORT_WAIT: Duration = Duration::from_secs(60);
/// The wait of a page without room in memory. Others are extracted meanwhile.
const ROOM_WAIT: Duration = Duration::from_secs(5);
/// The longest wait until a turn is asked for again. A clock that was set back makes the stored
/// time far.
const WAIT_MAX: Duration = Duration::from_secs(86_400);

/// Returns the wait of a page that got no turn. `Err`: nobody knows how long it takes.
pub fn without_turn(context: &Context, url: &Url, why: &NoTurn) -> Result<PageWait, PageWait> {
    let wait = short_wait(context, url, why);
    if *why != NoTurn::AskedToWait {
        return Err(wait);
    }
    let until = context.store.domain_not_before(&Domain::of(url)).ok().flatten();
    let now = context.clock.now();
    match until.filter(|at| *at > now) {
        Some(at) => Ok(PageWait { at: at.min(now + WAIT_MAX), ..wait }),
        // The answer that asked us to wait is not stored yet, or the engine ends.
        None => Err(wait),
    }
}

pub fn short_wait(context: &Context, url: &Url, why: &impl ToString) -> PageWait {
    let whose = Domain::of(url).as_str().to_owned();
    PageWait { whose, at: context.clock.now() + SHORT_WAIT, why: why.to_string() }
}

/// Takes the room in memory for a page before its request is sent.
pub async fn room_for_page(context: &Context, by_person: bool) -> Option<TakenRoom> {
    context.articles.room.take(context.fetcher.body_bytes_max(), by_person).await
}

/// Returns the wait of a page for which there is no room.
pub fn without_room(context: &Context, url: &Url) -> PageWait {
    let why = "too many other pages are being read at the moment";
    PageWait { at: context.clock.now() + ROOM_WAIT, ..short_wait(context, url, &why) }
}

/// Returns the class of a request. A person waits for a page, so it goes before the polls of its
/// domain, unless people ask for many.
pub fn class(context: &Context, url: &Url, by_person: bool) -> ErrandClass {
    let domain = Domain::of(url);
    let gap = context.settings.gaps.of(&domain);
    let may_hurry = || context.articles.may_hurry(&domain, gap, context.clock.now());
    match by_person && may_hurry() {
        true => ErrandClass::BeforePolls,
        false => ErrandClass::AfterPolls,
    }
}
