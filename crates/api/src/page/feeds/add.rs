//! Adding feeds by any address: a feed, or a page that names one. Where a page names several, or
//! the address yields no feed, the person chooses.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::{AddedFeed, Command, CommandResult, NotAdded};

use crate::Context;
use crate::page::frame::{Frame, Ordered, Section};
use crate::page::read::{Of, Place};
use crate::page::{act, shown};

/// More than anybody ticks by hand.
const URLS_MAX: usize = 50;

#[derive(Template)]
#[template(path = "choice.html")]
struct Choice {
    frame: Frame,
    tags: String,
    not_added: Vec<Refused>,
}

/// An address that was not added.
struct Refused {
    shown: String,
    /// As it was typed, secrets included: it is sent again where the person insists.
    address: String,
    why: String,
    candidates: Vec<String>,
}

impl Refused {
    fn new(not_added: NotAdded, typed: &[String]) -> Refused {
        let is_it = |url: &&String| {
            feed::FeedUrl::parse(url).is_ok_and(|url| url.masked() == not_added.url)
        };
        let address = typed.iter().find(is_it).unwrap_or(&not_added.url).clone();
        let NotAdded { url, poll } = not_added;
        Refused { shown: url, address, why: poll.detail, candidates: poll.candidates }
    }
}

/// Adds what the form names, and leads to what there is to read. An address that yields no feed is
/// not added, unless the person says so.
pub async fn add(State(context): State<Context>, ordered: Ordered) -> Response {
    let Ordered(visitor, form) = ordered;
    let urls = form.all("url").map(str::trim).filter(|url| !url.is_empty());
    let urls: Vec<String> = urls.take(URLS_MAX).map(str::to_owned).collect();
    if urls.is_empty() {
        return Redirect::to(Section::Feeds.path()).into_response();
    }
    let force = form.text("force") == "yes";
    let typed = urls.clone();
    let command = Command::Add { urls, tags: tags(form.text("tags")), poll: true, force };
    let (feeds, not_added) = match act(&context, &visitor, command).await {
        Ok(CommandResult::Added { feeds, not_added }) => (feeds, not_added),
        // Nothing else answers this command.
        Ok(_) => (Vec::new(), Vec::new()),
        Err(refused) => return refused,
    };
    if !not_added.is_empty() {
        let frame = Frame::new(&context, visitor, Some(Section::Feeds));
        let not_added = not_added.into_iter().map(|one| Refused::new(one, &typed)).collect();
        return shown(&Choice { frame, tags: form.text("tags").to_owned(), not_added });
    }
    match feeds.as_slice() {
        [one] => Redirect::to(&to(one)).into_response(),
        _ => Redirect::to(Section::Read.path()).into_response(),
    }
}

/// Its entries where it has some; else its own page, which says what is wrong.
fn to(added: &AddedFeed) -> String {
    let works = added.poll.as_ref().is_none_or(|poll| poll.is_success());
    let feed = feed::FeedId(added.id);
    if works { Place::of(Of::Feed(feed)).href() } else { format!("/feed/{feed}") }
}

/// Tags as they are typed: with commas between them.
pub fn tags(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}
