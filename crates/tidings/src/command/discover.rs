//! `tidings discover`: lists the feeds that a page names. It sends one request per URL, plus
//! redirects, one after the other and with the gap between polls. A rule for a well-known site, or
//! a guess by the path, costs one more request if it is wrong or to check it. The command does not
//! know when a running daemon sent requests to the same domain.

mod journal;
mod listed;
mod progress;
mod result;

use ::parse::Limits;
use ::parse::discover::{self, Candidate};
use engine::Errands;
use fetch::{Fetched, Fetcher};
use serde_json::{Value, json};
use url::Url;

use crate::args::discover::DiscoverArgs;
use crate::args::{InstanceArgs, NetworkArgs};
use crate::config;
use crate::error::{CliError, failed_silently, input_error};
use crate::output::{complain, one_line, print_json, print_line, shown_url};

struct DiscoveredFeed {
    url: String,
    title: Option<String>,
    mime_type: Option<String>,
    /// The reason why it is left out, if it is the same as a listed feed.
    dropped: Option<String>,
}

pub async fn run(mut args: DiscoverArgs) -> Result<(), CliError> {
    let place = InstanceArgs { data: None, database: None, config: args.config.take() };
    let network = NetworkArgs { allow_private: args.allow_private, ..NetworkArgs::default() };
    let config = config::read(&place, &network)?;
    let gaps = config.engine.gaps;
    let longest_gap = gaps.by_domain.values().copied().max().unwrap_or_default().max(gaps.default);
    let errands = Errands::alone(Fetcher::new(config.fetch)?, gaps);
    match args.from.take() {
        Some(file) => {
            let journal = listed::run(&errands, &args, &file, longest_gap).await?;
            result::show(journal, &args)
        }
        None => pages(&errands, &args.urls, args.json).await,
    }
}

/// Shows the feeds of a few pages.
async fn pages(errands: &Errands, urls: &[String], json: bool) -> Result<(), CliError> {
    let mut any_failed = false;
    let mut answers: Vec<Value> = Vec::new();
    for text in urls {
        let url = feed::FeedUrl::parse(text).map_err(|e| input_error(e.to_string()))?;
        let answer = match feeds_of(errands, url.url().clone()).await {
            Ok(found) => {
                if !json {
                    print_found(&url.masked(), &found)?;
                }
                json!({ "url": url.masked(), "feeds": found.iter().filter(|f| f.dropped.is_none())
                    .map(|f| json!({ "url": f.url, "title": f.title, "type": f.mime_type }))
                    .collect::<Vec<_>>() })
            }
            Err(why) => {
                any_failed = true;
                complain(&format!("tidings: {}: {why}", url.masked()));
                json!({ "url": url.masked(), "feeds": [], "error": why })
            }
        };
        answers.push(answer);
    }
    if json {
        print_json(&answers)?;
    }
    if any_failed { Err(failed_silently()) } else { Ok(()) }
}

/// Returns the feeds of an address: by a rule for its site, or by the page itself.
async fn feeds_of(errands: &Errands, url: Url) -> Result<Vec<DiscoveredFeed>, String> {
    if let Some(why) = discover::why_no_feed(&url) {
        return Err(why.to_owned());
    }
    let known = discover::known_feeds(&url);
    if let Some((first, others)) = known.split_first()
        && let Ok(mut feeds) = named_by(errands, first.clone()).await
    {
        feeds.extend(others.iter().cloned().map(by_rule));
        return Ok(feeds);
    }
    let feeds = named_by(errands, url.clone()).await?;
    let guesses: Vec<Url> = discover::likely_feeds(&url);
    match guesses.first().filter(|guess| feeds.iter().all(|feed| feed.url == guess.as_str())) {
        Some(guess) => named_by(errands, guess.clone()).await.map_err(|_| NO_FEED.to_owned()),
        None => Ok(feeds),
    }
}

const INTERNAL_ERROR: &str = "internal error; please report it";

const NO_FEED: &str = "the page is not a feed and has no link to one; look for a feed link on the \
    site and use its address";

/// A feed that a rule names and nobody asked for yet.
fn by_rule(url: Url) -> DiscoveredFeed {
    found(Candidate { url, title: None, mime_type: None }, None)
}

/// Fetches a page and returns the feeds that it names.
async fn named_by(errands: &Errands, url: Url) -> Result<Vec<DiscoveredFeed>, String> {
    let (url, bytes, content_type) = fetched_page(errands, url).await?;
    read(&bytes, content_type.as_deref(), &url)
}

/// Fetches a page. Returns its last address, the body and the type, or why there is none.
pub async fn fetched_page(
    errands: &Errands,
    url: Url,
) -> Result<(Url, Vec<u8>, Option<String>), String> {
    let Some((url, fetched)) = errands.page(url).await else {
        return Err(INTERNAL_ERROR.to_owned());
    };
    match fetched {
        Fetched::Body { bytes, content_type, .. } => Ok((url, bytes.to_vec(), content_type)),
        Fetched::Moved { .. } => Err(format!("more than {} redirects", engine::PAGE_HOPS_MAX)),
        Fetched::Gone => Err("it is gone (410)".to_owned()),
        Fetched::Refused { status } => Err(format!("the server refused ({status})")),
        Fetched::Blocked { reason } => Err(reason),
        Fetched::Failed(failure) => Err(failure.detail),
        Fetched::NotModified { .. } => {
            Err("the server answered 304 (not modified) to a first request".to_owned())
        }
    }
}

fn read(
    bytes: &[u8],
    content_type: Option<&str>,
    url: &Url,
) -> Result<Vec<DiscoveredFeed>, String> {
    if let Ok(document) = ::parse::document(bytes, content_type, Some(url), &Limits::default()) {
        let itself = DiscoveredFeed {
            url: feed::mask_secrets(url),
            title: document.title,
            mime_type: content_type.map(str::to_owned),
            dropped: None,
        };
        return Ok(vec![itself]);
    }
    let candidates = discover::links(bytes, content_type, url);
    if candidates.is_empty() {
        return Err(NO_FEED.to_owned());
    }
    let urls: Vec<Url> = candidates.iter().map(|c| c.url.clone()).collect();
    let kept = discover::deduplicate(&urls);
    Ok(candidates.into_iter().zip(kept).map(|(c, (_, dropped))| found(c, dropped)).collect())
}

fn found(candidate: Candidate, dropped: Option<discover::Dropped>) -> DiscoveredFeed {
    DiscoveredFeed {
        url: feed::mask_secrets(&candidate.url),
        title: candidate.title,
        mime_type: candidate.mime_type,
        dropped: dropped.map(|d| d.to_string()),
    }
}

fn print_found(page: &str, found: &[DiscoveredFeed]) -> Result<(), CliError> {
    print_line(&shown_url(page))?;
    for feed in found {
        let title = one_line(feed.title.as_deref().unwrap_or(""), 100);
        match &feed.dropped {
            None => print_line(&format!("  {}  {title}", feed.url))?,
            Some(why) => complain(&format!("  skipped {}: {why}", feed.url)),
        }
    }
    Ok(())
}
