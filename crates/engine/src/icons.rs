//! Icons of sites: found politely and stored once for each origin. An icon is looked for once in 30
//! days, and 7 days after a failure, with at most three requests. It waits behind the polls of its
//! domain.

use std::sync::Arc;
use std::time::Duration;

use article::icon::{ICON_BYTES_MAX, check_icon, declared_icons};
use dispatch::ErrandRequest;
use feed::{Domain, FeedId};
use fetch::Fetched;
use sha2::{Digest, Sha256};
use store::{IconDue, IconLook, IconRecord, IconRow, StoreError};
use tokio::sync::watch;
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
/// Origins and feeds of one round.
const DUE_MAX: u32 = 8;
const FEEDS_MAX: u32 = 500;

/// Looks for icons until the program stops.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    if !context.settings.articles.icons {
        return;
    }
    while !*stop.borrow() {
        let round = round(&context);
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

async fn round(context: &Arc<Context>) -> Result<(), StoreError> {
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
    let mut looks = tokio::task::JoinSet::new();
    for due in context.store.icons_due(now, DUE_MAX)? {
        let context = Arc::clone(context);
        looks.spawn(async move {
            let (found, age) = match look(&context, &due).await {
                Ok(found @ IconLook::Nothing { .. }) => (found, FAILED_AGE),
                Ok(found) => (found, FOUND_AGE),
                Err(why) => (IconLook::Nothing { error: why.to_string() }, NOT_ASKED_AGE),
            };
            let at = context.clock.now();
            let record = IconRecord { origin: due.origin, found, at, next_at: at + age };
            if let Err(error) = context.store.record_icon(record).await {
                tracing::error!(%error, "cannot store an icon");
            }
        });
    }
    while looks.join_next().await.is_some() {}
    Ok(())
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
        let mut candidates: Vec<Url> = declared.into_iter().collect();
        if candidates.is_empty()
            && let Some(site) = due.site.as_deref().and_then(|site| Url::parse(site).ok())
        {
            let none = feed::Validators::default();
            if let Some((url, Fetched::Body { bytes, content_type, .. })) =
                self.get(site, &none, PAGE_BYTES_MAX).await
            {
                let icons = declared_icons(&bytes, content_type.as_deref(), &url);
                let urls = icons.iter().filter_map(|icon| Url::parse(&icon.url).ok());
                candidates.extend(urls.take(1));
            }
        }
        candidates.extend(usual);
        for url in candidates {
            let none = feed::Validators::default();
            let Some((url, fetched)) = self.get(url, &none, ICON_BYTES_MAX).await else { break };
            if let Some(found) = icon(&url, fetched) {
                return Some(found);
            }
        }
        None
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
            let request = ErrandRequest::File { validators, bytes_max, within: None };
            match turn.fetch(self.context, &url, request).await.0 {
                Fetched::Moved { to, .. } => url = to,
                fetched => return Some((url, fetched)),
            }
        }
        None
    }
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
