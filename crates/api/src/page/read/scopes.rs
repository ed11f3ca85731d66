//! What else there is to read: everything, tags and queries, beside the list.

use store::{AccountId, Store, StoreError};

use super::{Of, Place};
use crate::words::count;

/// More tags are found on the page of feeds.
const TAGS_MAX: usize = 60;
const QUERIES_MAX: usize = 60;

pub struct Scopes {
    /// How much is unread in all.
    pub unread: String,
    pub groups: Vec<Group>,
}

pub struct Group {
    pub name: &'static str,
    pub scopes: Vec<Choice>,
}

pub struct Choice {
    pub name: String,
    pub href: String,
    pub chosen: bool,
}

pub fn scopes(store: &Store, account: AccountId, place: &Place) -> Result<Scopes, StoreError> {
    let choice =
        |of: Of, name: String| Choice { name, chosen: place.of == of, href: Place::of(of).href() };
    let tags = store.tags()?.into_iter().map(|row| row.tag);
    let tags = tags.filter(|tag| !tag.starts_with(store::QUERY_TAG)).take(TAGS_MAX);
    let queries = store.queries()?.into_iter().map(|row| row.name).take(QUERIES_MAX);
    let groups = vec![
        Group { name: "Tags", scopes: tags.map(|tag| choice(Of::Tag(tag.clone()), tag)).collect() },
        Group {
            name: "Queries",
            scopes: queries.map(|name| choice(Of::Query(name.clone()), name)).collect(),
        },
    ];
    let unread = count(store.read_marks(account)?.n_unread());
    let groups = groups.into_iter().filter(|group| !group.scopes.is_empty()).collect();
    Ok(Scopes { unread, groups })
}
