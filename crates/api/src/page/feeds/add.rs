//! Adding feeds by the address of a feed or of a site. If a site has several feeds or none, the
//! person chooses.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::{AddedFeed, Command, CommandResult, NotAdded};

use crate::ServerContext;
use crate::page::frame::{Frame, NavSection, WriteForm};
use crate::page::notice::{render, run_command};
use crate::page::read::{ListScope, ReadingList};

/// More addresses than anybody selects by hand.
const URLS_MAX: usize = 50;

#[derive(Template)]
#[template(path = "choice.html")]
struct NotAddedPage {
    frame: Frame,
    tags: String,
    not_added: Vec<NotAddedAddress>,
}

/// An address that was not added, with the reason.
struct NotAddedAddress {
    shown: String,
    /// The address as typed, with its secrets. The form sends it again for "Add it anyway".
    address: String,
    why: String,
    candidates: Vec<String>,
}

impl NotAddedAddress {
    fn new(not_added: NotAdded, typed: &[String]) -> NotAddedAddress {
        let is_it = |url: &&String| {
            feed::FeedUrl::parse(url).is_ok_and(|url| url.masked() == not_added.url)
        };
        let address = typed.iter().find(is_it).unwrap_or(&not_added.url).clone();
        let NotAdded { url, poll } = not_added;
        NotAddedAddress { shown: url, address, why: poll.detail, candidates: poll.candidates }
    }
}

/// Adds the addresses of the form and redirects to the new entries. An address without a feed is
/// not added, unless the form says `force`.
pub async fn add(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let WriteForm { visitor, form } = sent;
    let urls = form.all("url").map(str::trim).filter(|url| !url.is_empty());
    let urls: Vec<String> = urls.take(URLS_MAX).map(str::to_owned).collect();
    if urls.is_empty() {
        return Redirect::to(NavSection::Feeds.path()).into_response();
    }
    let force = form.text("force") == "yes";
    let typed = urls.clone();
    let (tags, account) = (tags(form.text("tags")), visitor.subscriber());
    let command = Command::Add { urls, tags, poll: true, force, account };
    let (feeds, not_added) = match run_command(&context, &visitor, command).await {
        Ok(CommandResult::Added { feeds, not_added }) => (feeds, not_added),
        // The engine answers this command with `Added` only.
        Ok(_) => (Vec::new(), Vec::new()),
        Err(refused) => return refused,
    };
    if !not_added.is_empty() {
        let frame = Frame::new(&context, visitor, Some(NavSection::Feeds));
        let not_added =
            not_added.into_iter().map(|one| NotAddedAddress::new(one, &typed)).collect();
        return render(&NotAddedPage { frame, tags: form.text("tags").to_owned(), not_added });
    }
    match feeds.as_slice() {
        [one] => Redirect::to(&added_href(one)).into_response(),
        _ => Redirect::to(NavSection::Read.path()).into_response(),
    }
}

/// Returns the address of its entries, or of its own page if the first poll failed.
fn added_href(added: &AddedFeed) -> String {
    let works = added.poll.as_ref().is_none_or(|poll| poll.is_success());
    let feed = feed::FeedId(added.id);
    if works { ReadingList::of(ListScope::Feed(feed)).href() } else { format!("/feed/{feed}") }
}

/// Splits a text at its commas into tags.
pub fn tags(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}
