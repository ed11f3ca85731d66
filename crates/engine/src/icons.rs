//! Icons of sites: found politely and stored once for each origin. An icon is looked for once in 30
//! days, and 7 days after a failure, with at most three requests. It waits behind the polls of its
//! domain.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use article::icon::{ICON_BYTES_MAX, check_icon, declared_icons};
use dispatch::ErrandRequest;
use feed::{Domain, FeedId};
use fetch::Fetched;
use sha2::{Digest, Sha256};
use store::{IconDue, IconLook, IconRecord, IconRow, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

use crate::context::Context;
use crate::errand::{NoTurn, PlanHandle, turn};
use crate::plan::ErrandClass;

const LOOK_EVERY: Duration = Duration::from_secs(5);
const FOUND_AGE: Duration = Duration::from_secs(30 * 86_400);
const FAILED_AGE: Duration = Duration::from_secs(7 * 86_400);
/// The wait if no request could be sent. That is not the fault of the site.
const NOT_ASKED_AGE: Duration = Duration::from_secs(3600);
/// Requests for one origin, redirects included.
const REQUESTS_MAX: usize = 3;
/// Bytes of a site's page. Its icons are named at its beginning.
const PAGE_BYTES_MAX: usize = 3_000_000;
/// The interval at which the icons of removed feeds are deleted.
const FORGET_EVERY: Duration = Duration::from_secs(3600);
/// Origins that are looked at at the same time. Some wait long for their turn.
const UNDER_WAY_MAX: usize = 8;
/// The time for one origin. It is real time. A domain whose polls leave no turn is tried later, so
/// that it does not keep the others waiting.
const LOOK_TIME_MAX: Duration = Duration::from_secs(600);
/// Feeds of one step.
const FEEDS_MAX: u32 = 500;

/// Looks for icons until the program stops.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    if !context.settings.articles.icons {
        return;
    }
    let mut next_forget = context.clock.now();
    let mut looks = IconLooks::default();
    while !*stop.borrow() {
        if context.clock.now() >= next_forget {
            next_forget = context.clock.now() + FORGET_EVERY;
            forget(&context).await;
        }
        let round = round(&context, &mut looks);
        tokio::select! {
            done = round => if let Err(error) = done {
                tracing::error!(%error, "cannot look for icons; retrying");
            },
            _ = stop.changed() => return,
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = stop.changed() => return,
        }
    }
}

/// Deletes the icons of sites whose feeds were removed.
async fn forget(context: &Arc<Context>) {
    let store = context.store.clone();
    if let Ok(Err(error)) = tokio::task::spawn_blocking(move || store.forget_icon_origins()).await {
        tracing::error!(%error, "cannot delete icons of removed feeds; retrying");
    }
}

/// The origins that are looked at. They end with this value.
#[derive(Default)]
struct IconLooks {
    tasks: JoinSet<String>,
    origins: HashSet<String>,
}

impl IconLooks {
    fn free_ended(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            match ended {
                Ok(origin) => {
                    self.origins.remove(&origin);
                }
                // A task that panicked does not say its origin: begin with all of them again.
                Err(_) => self.origins.clear(),
            }
        }
    }
}

/// Notes the origins of new feeds, and begins looks while there is room.
async fn round(context: &Arc<Context>, looks: &mut IconLooks) -> Result<(), StoreError> {
    let now = context.clock.now();
    let mut after = FeedId(0);
    loop {
        let feeds = context.store.iconless_feeds(after, FEEDS_MAX)?;
        let Some(last) = feeds.last() else { break };
        after = last.feed;
        let origins = feeds.iter().filter_map(|feed| {
            let origin = feed.site.as_deref().and_then(origin_of).or_else(|| origin_of(&feed.url));
            Some((feed.feed, origin?))
        });
        context.store.note_icon_origins(origins.collect(), now).await?;
    }
    looks.free_ended();
    // Those under way are due as well.
    for due in context.store.icons_due(now, 2 * UNDER_WAY_MAX as u32)? {
        if looks.tasks.len() >= UNDER_WAY_MAX {
            break;
        }
        if looks.origins.insert(due.origin.clone()) {
            looks.tasks.spawn(look_and_record(Arc::clone(context), due));
        }
    }
    Ok(())
}

/// Looks for one icon within the time limit and stores what was found. Returns its origin.
async fn look_and_record(context: Arc<Context>, due: IconDue) -> String {
    let looked = tokio::time::timeout(LOOK_TIME_MAX, look(&context, &due)).await;
    let (found, age) = match looked {
        Ok(Ok(found @ IconLook::Nothing { .. })) => (found, FAILED_AGE),
        Ok(Ok(found)) => (found, FOUND_AGE),
        Ok(Err(why)) => (IconLook::Nothing { error: why.to_string() }, NOT_ASKED_AGE),
        Err(_) => {
            let error = "the site had no free turn for its icon".to_owned();
            (IconLook::Nothing { error }, NOT_ASKED_AGE)
        }
    };
    let (origin, at) = (due.origin, context.clock.now());
    let record = IconRecord { origin: origin.clone(), found, at, next_at: at + age };
    if let Err(error) = context.store.record_icon(record).await {
        tracing::error!(%error, "cannot store an icon");
    }
    origin
}

/// Returns scheme, host and port of a web address.
fn origin_of(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
}

/// The requests that are left for one origin.
struct IconRequests<'a> {
    context: &'a Context,
    plan: PlanHandle,
    left: usize,
    /// Why the last request got no turn.
    no_turn: Option<NoTurn>,
}

/// Looks for the icon of an origin: the known address, the one that the feed declares, those of the
/// site's page, and the usual one. Fails if a request got no turn.
async fn look(context: &Context, due: &IconDue) -> Result<IconLook, NoTurn> {
    let domain = Url::parse(&due.origin).map(|origin| Domain::of(&origin)).unwrap_or_default();
    let plan = PlanHandle::of(context).in_region(context.region(due.feed, &domain));
    let mut requests = IconRequests { context, plan, left: REQUESTS_MAX, no_turn: None };
    let found = requests.look(due).await;
    match (found, requests.no_turn) {
        (None, Some(why)) => Err(why),
        (found, _) => Ok(found.unwrap_or_else(|| {
            let error = "the site has no icon that we can show".to_owned();
            IconLook::Nothing { error }
        })),
    }
}

impl IconRequests<'_> {
    async fn look(&mut self, due: &IconDue) -> Option<IconLook> {
        if let Some((url, etag)) = &due.known
            && let Ok(url) = Url::parse(url)
        {
            let validators = feed::Validators { etag: etag.clone(), last_modified: None };
            match self.get(url.clone(), &validators, ICON_BYTES_MAX).await {
                Some((_, Fetched::NotModified { .. })) => return Some(IconLook::Unchanged),
                Some((url, fetched)) => {
                    if let Some(found) = icon(&url, fetched) {
                        return Some(found);
                    }
                }
                None => {}
            }
        }
        let declared = due.declared.as_deref().and_then(|url| Url::parse(url).ok());
        let usual = Url::parse(&due.origin).and_then(|origin| origin.join("/favicon.ico")).ok();
        if let Some(url) = declared
            && let Some(found) = self.icon_at(url).await
        {
            return Some(found);
        }
        let mut candidates = Vec::new();
        if let Some(site) = due.site.as_deref().and_then(|site| Url::parse(site).ok()) {
            let none = feed::Validators::default();
            if let Some((url, Fetched::Body { bytes, content_type, .. })) =
                self.get(site, &none, PAGE_BYTES_MAX).await
            {
                candidates.extend(named(bytes, content_type, url).await);
            }
        }
        candidates.extend(usual);
        for url in candidates {
            if let Some(found) = self.icon_at(url).await {
                return Some(found);
            }
        }
        None
    }

    /// Asks for an icon that is not known yet.
    async fn icon_at(&mut self, url: Url) -> Option<IconLook> {
        let none = feed::Validators::default();
        let (url, fetched) = self.get(url, &none, ICON_BYTES_MAX).await?;
        icon(&url, fetched)
    }

    /// Sends a request and follows redirects, while requests are left.
    async fn get(
        &mut self,
        mut url: Url,
        validators: &feed::Validators,
        bytes_max: usize,
    ) -> Option<(Url, Fetched)> {
        while self.left > 0 && matches!(url.scheme(), "http" | "https") {
            self.left -= 1;
            let turn = match turn(&self.plan, &url, ErrandClass::AfterPolls).await {
                Ok(turn) => turn,
                Err(why) => {
                    self.no_turn = Some(why);
                    return None;
                }
            };
            let validators = validators.clone();
            let request =
                ErrandRequest::File { validators, bytes_max, first_bytes: None, within: None };
            match turn.fetch(self.context, &url, request).await.0 {
                Fetched::Moved { to, .. } => url = to,
                fetched => return Some((url, fetched)),
            }
        }
        None
    }
}

/// Returns the best icon that a page names. A hostile page takes long to read, so it is read on a
/// thread on which nothing else waits.
async fn named(bytes: Vec<u8>, content_type: Option<String>, url: Url) -> Option<Url> {
    let read = move || {
        let icons = declared_icons(&bytes, content_type.as_deref(), &url);
        icons.iter().find_map(|icon| Url::parse(&icon.url).ok())
    };
    tokio::task::spawn_blocking(read).await.ok().flatten()
}

/// Returns the icon of an answer, if its bytes are one.
fn icon(url: &Url, fetched: Fetched) -> Option<IconLook> {
    let Fetched::Body { bytes, validators, .. } = fetched else { return None };
    let checked = check_icon(&bytes).ok()?;
    let digest = Sha256::digest(&bytes);
    let hash = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let icon = IconRow {
        hash,
        mime_type: checked.icon_type.mime_type().to_owned(),
        width: checked.width,
        height: checked.height,
        bytes,
    };
    Some(IconLook::Found { icon, url: url.to_string(), etag: validators.etag })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_of_the_web_only() {
        assert_eq!(
            origin_of("https://Example.org:443/a?b"),
            Some("https://example.org".to_owned())
        );
        assert_eq!(origin_of("http://e.org:8080/"), Some("http://e.org:8080".to_owned()));
        assert_eq!(origin_of("mailto:a@e.org"), None);
    }

    #[test]
    fn only_bytes_of_a_picture_are_an_icon() {
        let url = Url::parse("https://e.org/favicon.ico").expect("a URL");
        let body = |bytes: &[u8]| Fetched::Body {
            bytes: bytes.to_vec(),
            content_type: Some("image/png".to_owned()),
            validators: feed::Validators::default(),
            partial: false,
        };
        assert!(icon(&url, body(b"<html>not found</html>")).is_none());
        assert!(icon(&url, body(b"<svg xmlns='http://www.w3.org/2000/svg'/>")).is_none());
        let mut gif = b"GIF89a".to_vec();
        gif.extend([16, 0, 16, 0, 0, 0, 0, 0x3b]);
        let found = icon(&url, body(&gif));
        assert!(matches!(found, Some(IconLook::Found { icon, .. }) if icon.width == 16));
    }
}
