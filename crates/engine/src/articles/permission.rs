//! Whether a page may be fetched without being asked: the ceilings of a day, and robots.txt.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dispatch::ErrandRequest;
use feed::{Domain, Time};
use fetch::{FailureKind, Fetched};
use store::{RobotsRow, StoreError};
use url::Url;

use super::robots;
use super::wait::without_turn;
use crate::context::Context;
use crate::errand::{NoTurn, PAGE_HOPS_MAX, PlanHandle, follow, turn};
use crate::page_work::PageWait;
use crate::plan::ErrandClass;

/// How long the rules of a site hold.
const ROBOTS_AGE: Duration = Duration::from_secs(86_400);
/// How long a site is left alone that did not say its rules, at first.
const FAILED_AGE: Duration = Duration::from_secs(3600);
/// The beginning of what is stored instead of rules if a site did not say them.
const NO_ANSWER: &str = "no answer: ";
/// Bytes of a file that are received at most for the [`robots::ROBOTS_BYTES_MAX`] that are read. A
/// compressed file may have less text than bytes on the wire.
const FILE_BYTES_MAX: usize = 4 * robots::ROBOTS_BYTES_MAX;
const DAY: Duration = Duration::from_secs(86_400);

/// The answer for one page.
pub enum PagePermission {
    Granted,
    /// The site does not want it.
    Refused,
    /// Not before the end of this wait.
    Later(PageWait),
}

/// Asks for all that a page needs which nobody asked for.
pub async fn permission(
    context: &Context,
    plan: &PlanHandle,
    url: &Url,
) -> Result<PagePermission, StoreError> {
    let now = context.clock.now();
    let domain = Domain::of(url);
    let (of_domain, of_all) = context.store.articles_today(domain.as_str(), now)?;
    let settings = &context.settings.articles;
    if of_domain >= u64::from(settings.per_domain_max) || of_all >= u64::from(settings.per_day_max)
    {
        let why = format!("{domain} has given all the pages that it may give in a day");
        let whose = domain.as_str().to_owned();
        return Ok(PagePermission::Later(PageWait { whose, at: tomorrow(now), why }));
    }
    allowed(context, plan, url).await
}

fn tomorrow(now: Time) -> Time {
    let day = i64::try_from(DAY.as_millis()).unwrap_or(i64::MAX);
    Time::from_millis((now.millis().div_euclid(day) + 1) * day)
}

/// Returns whether robots.txt of the site allows a page. It is asked for as the page is: in turn,
/// and from the same region.
pub async fn allowed(
    context: &Context,
    plan: &PlanHandle,
    url: &Url,
) -> Result<PagePermission, StoreError> {
    let now = context.clock.now();
    let origin = url.origin().ascii_serialization();
    let stored = context.store.robots(&origin)?;
    let is_fresh = |row: &&RobotsRow| row.expires_at > now && row.fetched_at <= now;
    let row = match stored.as_ref().filter(is_fresh) {
        Some(row) => row.clone(),
        None => {
            let row = match asked(context, plan, url).await {
                Ok(rules) => {
                    RobotsRow { origin, fetched_at: now, expires_at: now + ROBOTS_AGE, rules }
                }
                Err(NoRules::NotAsked(wait)) => {
                    let wait = PageWait { whose: origin, ..wait };
                    return Ok(PagePermission::Later(wait));
                }
                // A site that does not say its rules is asked once, not once for each page.
                Err(NoRules::NoAnswer(why)) => {
                    let rules = format!("{NO_ANSWER}{why}");
                    let expires_at = now + patience(stored.as_ref());
                    RobotsRow { origin, fetched_at: now, expires_at, rules }
                }
            };
            context.store.put_robots(row.clone()).await?;
            row
        }
    };
    if let Some(why) = row.rules.strip_prefix(NO_ANSWER) {
        let (whose, at) = (row.origin.clone(), row.expires_at);
        return Ok(PagePermission::Later(PageWait { whose, at, why: why.to_owned() }));
    }
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    Ok(match robots::is_allowed(&row.rules, &path) {
        true => PagePermission::Granted,
        false => PagePermission::Refused,
    })
}

/// Returns how long a site is left alone that did not say its rules: an hour, and twice as long as
/// before after each further failure, up to a day.
fn patience(before: Option<&RobotsRow>) -> Duration {
    let last = before
        .filter(|row| row.rules.starts_with(NO_ANSWER))
        .map(|row| row.expires_at.since(row.fetched_at));
    last.map_or(FAILED_AGE, |last| (last * 2).clamp(FAILED_AGE, ROBOTS_AGE))
}

/// Why the rules of a site are not known.
enum NoRules {
    NoAnswer(String),
    /// The site was not asked, and that is not its fault.
    NotAsked(PageWait),
}

/// Asks a site for its rules. A site without the file allows everything; one that does not answer
/// is asked later.
async fn asked(context: &Context, plan: &PlanHandle, url: &Url) -> Result<String, NoRules> {
    let Ok(file) = url.join("/robots.txt") else { return Ok(String::new()) };
    let is_sent = AtomicBool::new(false);
    let send = async |url: Url| {
        let turn = turn(plan, &url, ErrandClass::AfterPolls).await.map_err(|why| {
            // A site that redirects to one that cannot be asked is not asked again every minute.
            match without_turn(context, &url, &why) {
                Err(wait) if is_sent.load(Ordering::Relaxed) => NoRules::NoAnswer(wait.why),
                Ok(wait) | Err(wait) => NoRules::NotAsked(wait),
            }
        })?;
        is_sent.store(true, Ordering::Relaxed);
        let request = ErrandRequest::beginning(robots::ROBOTS_BYTES_MAX, FILE_BYTES_MAX);
        Ok::<_, NoRules>(turn.fetch(context, &url, request).await.0)
    };
    let (_, fetched) = follow(file, PAGE_HOPS_MAX, send).await?;
    match fetched {
        Fetched::Body { bytes, .. } => Ok(robots::rules(&bytes)),
        Fetched::Refused { status: 429 } => Err(NoRules::NoAnswer(NoTurn::AskedToWait.to_string())),
        Fetched::Failed(failure) => match failure.kind {
            FailureKind::Status(status) if (400..500).contains(&status) => Ok(String::new()),
            _ => Err(NoRules::NoAnswer(format!("robots.txt: {}", failure.detail))),
        },
        Fetched::Blocked { reason } => Err(NoRules::NoAnswer(reason)),
        Fetched::Gone
        | Fetched::Refused { .. }
        | Fetched::Moved { .. }
        | Fetched::NotModified { .. } => Ok(String::new()),
    }
}
