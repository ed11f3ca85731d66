//! Adding feeds by any address: a feed, or a page that names one. Where a page names several, the
//! person chooses.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::{AddedFeed, Command, Done};

use crate::Context;
use crate::page::frame::{Frame, Ordered, Section, Visitor};
use crate::page::read::{Of, Place};
use crate::page::{act, shown};

/// More than anybody ticks by hand.
const URLS_MAX: usize = 50;

#[derive(Template)]
#[template(path = "choice.html")]
struct Choice {
    frame: Frame,
    asked: String,
    tags: String,
    candidates: Vec<String>,
}

/// Adds what the form names, and leads to what there is to read.
pub async fn add(State(context): State<Context>, ordered: Ordered) -> Response {
    let Ordered(visitor, form) = ordered;
    let urls = form.all("url").map(str::trim).filter(|url| !url.is_empty());
    let urls: Vec<String> = urls.take(URLS_MAX).map(str::to_owned).collect();
    if urls.is_empty() {
        return Redirect::to(Section::Feeds.path()).into_response();
    }
    let asked = urls.join(", ");
    let command = Command::Add { urls, tags: tags(form.text("tags")), poll: true };
    let feeds = match act(&context, &visitor, command).await {
        Ok(Done::Added { feeds }) => feeds,
        // Nothing else answers this command.
        Ok(_) => Vec::new(),
        Err(refused) => return refused,
    };
    match feeds.as_slice() {
        [one] => match candidates(one) {
            Some(candidates) => {
                choose(&context, visitor, one, asked, form.text("tags"), candidates).await
            }
            None => Redirect::to(&to(one)).into_response(),
        },
        _ => Redirect::to(Section::Read.path()).into_response(),
    }
}

/// Whether the address was a page that names several feeds.
fn candidates(added: &AddedFeed) -> Option<Vec<String>> {
    let poll = added.poll.as_ref().filter(|poll| !added.existed && !poll.is_success())?;
    (poll.candidates.len() > 1).then(|| poll.candidates.clone())
}

async fn choose(
    context: &Context,
    visitor: Visitor,
    added: &AddedFeed,
    asked: String,
    tags: &str,
    candidates: Vec<String>,
) -> Response {
    // The page itself is no feed, and would only be polled in vain.
    let remove = Command::Remove { feed: added.id.to_string() };
    if let Err(refused) = act(context, &visitor, remove).await {
        return refused;
    }
    let frame = Frame::new(context, visitor, Some(Section::Feeds));
    shown(&Choice { frame, asked, tags: tags.to_owned(), candidates })
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
