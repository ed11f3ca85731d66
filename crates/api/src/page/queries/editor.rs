//! The editor: a statement, a preview below it, and for a query that exists its receivers.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use query::Access;
use store::{DeliveryRow, QueryRow, Store, StoreError, TokenScope};

use super::preview::{Preview, named};
use super::{Health, Letter, Receiver, health, receiver_name};
use crate::Context;
use crate::blocking::run_blocking;
use crate::page::feeds::sentence;
use crate::page::frame::{Frame, Section, Visitor};
use crate::page::{failed, no_such, shown};
use crate::words::{Moment, Now, plural};

/// Dead letters that are named; the rest is counted with the others.
const LETTERS_MAX: usize = 20;

const EXAMPLE: &str = "CREATE FEED Volcano AS\nRETURN ALL FEEDS\n\
                       WHERE ITEM CONTAINS \"volcano\" OR \"eruption\"\n";

#[derive(Template)]
#[template(path = "query.html")]
pub struct Editor {
    frame: Frame,
    /// Empty for a new one.
    name: String,
    text: String,
    preview: Preview,
    may_change: bool,
    about: Option<About>,
}

/// What there is to say of a query that exists.
struct About {
    kept: String,
    link: Option<String>,
    changed: Moment,
    receivers: Vec<Receiver>,
    has_dead: bool,
}

impl Editor {
    pub fn new(frame: Frame, name: String, text: String, preview: Preview) -> Editor {
        let may_change = frame.visitor.may(TokenScope::Admin);
        Editor { frame, name, text, preview, may_change, about: None }
    }
}

/// An editor with an example in it.
pub async fn new(State(context): State<Context>, visitor: Visitor) -> Response {
    let frame = Frame::new(&context, visitor, Some(Section::Queries));
    shown(&Editor::new(frame, String::new(), EXAMPLE.to_owned(), Preview::none()))
}

/// A query that exists.
pub async fn edit(
    State(context): State<Context>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Response {
    let (store, now, asked) = (context.store.clone(), visitor.now(&context), name.clone());
    let with_secrets = visitor.may(TokenScope::Admin);
    match run_blocking(move || find(&store, &asked, with_secrets, now)).await {
        Ok(Some((text, about))) => {
            let frame = Frame::new(&context, visitor, Some(Section::Queries));
            let editor = Editor::new(frame, name, text, Preview::none());
            shown(&Editor { about: Some(about), ..editor })
        }
        Ok(None) => no_such(&context, visitor, format!("There is no query {name}.")),
        Err(error) => failed(&context, visitor, &error),
    }
}

fn find(
    store: &Store,
    name: &str,
    with_secrets: bool,
    now: Now,
) -> Result<Option<(String, About)>, StoreError> {
    let Some(row) = store.query(name)? else { return Ok(None) };
    let mut receivers = Vec::new();
    for delivery in store.deliveries(Some(row.id))? {
        receivers.push(receiver(store, &delivery, now)?);
    }
    let about = About {
        kept: plural(store.n_query_entries(row.id)?, "entry", "entries"),
        link: link(&row, with_secrets),
        changed: Moment::new(row.changed_at, now),
        has_dead: receivers.iter().any(|receiver| !receiver.letters.is_empty()),
        receivers,
    };
    // Addresses in a statement may carry passwords: who cannot change it need not see it.
    let text = if with_secrets { row.text } else { String::new() };
    Ok(Some((text, about)))
}

fn receiver(store: &Store, row: &DeliveryRow, now: Now) -> Result<Receiver, StoreError> {
    let letters = if row.n_dead > 0 { store.dead_letters(row.id)? } else { Vec::new() };
    let letters = letters.into_iter().take(LETTERS_MAX).map(|letter| {
        Ok(Letter {
            entry: store.entry(letter.entry)?.map(|entry| named(&entry, now.at)),
            at: Moment::new(letter.at, now),
            attempts: letter.attempts,
            error: sentence(&letter.error),
        })
    });
    let Health { text, class } = health(&[row]);
    Ok(Receiver {
        name: receiver_name(&row.receiver),
        health: Health { text, class },
        delivered: row.delivered_at.map(|at| Moment::new(at, now)),
        next: row
            .next_at
            .filter(|at| row.attempts > 0 && *at > now.at)
            .map(|at| Moment::new(at, now)),
        error: row.error.as_deref().map(sentence).unwrap_or_default(),
        letters: letters.collect::<Result<_, StoreError>>()?,
    })
}

/// Where its feed is published, if it is.
fn link(row: &QueryRow, with_secrets: bool) -> Option<String> {
    match query::parse_create(&row.text)?.query.access {
        Access::Private => None,
        Access::Public => Some(format!("/feeds/{}.atom", row.name)),
        Access::SecretLink if with_secrets => {
            Some(format!("/feeds/{}.atom?key={}", row.name, row.link_key))
        }
        Access::SecretLink => None,
    }
}
