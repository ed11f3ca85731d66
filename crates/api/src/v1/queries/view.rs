//! A query in the format of the API. Secrets in its addresses are masked, and its keys are not
//! shown.

use query::Access;
use store::{AccountId, QueryRow, Store, StoreError, StreamCursor};

use crate::v1::schema::answer;

answer! {
    /// A standing query.
    Query {
        /// Its name.
        name: String,
        /// The statement, secrets in its addresses masked.
        text: String,
        /// The access to its feed: `private`, `secret-link` or `public`.
        access: &'static str,
        /// The path of its feed on this instance, without the key of a secret link.
        feed: String,
        /// The number of its stored matches.
        entries: u64,
        /// Its last position, as a cursor of the stream.
        cursor: String,
        /// When it was created.
        created_at: String,
        /// When it was changed last.
        changed_at: String,
        /// The number of its receivers.
        receivers: usize,
        /// Whether it belongs to you; otherwise somebody shares it, or it is the instance's.
        own: bool,
        /// Whether everybody on the instance sees its matches.
        shared: bool,
    }
}

impl Query {
    pub fn new(store: &Store, account: AccountId, row: &QueryRow) -> Result<Query, StoreError> {
        let access = match query::parse_create(&row.text).map(|create| create.query.access) {
            Some(Access::Public) => "public",
            Some(Access::SecretLink) => "secret-link",
            Some(Access::Private) | None => "private",
        };
        Ok(Query {
            name: row.name.clone(),
            text: query::masked(&row.text),
            access,
            feed: format!("/feeds/{}.atom", row.name),
            entries: store.n_query_entries(row.id)?,
            cursor: StreamCursor::Query(row.id, row.last_position).to_string(),
            created_at: row.created_at.to_string(),
            changed_at: row.changed_at.to_string(),
            receivers: store.deliveries(Some(row.id))?.len(),
            own: account == AccountId::LOCAL || row.scope.owner == Some(account),
            shared: row.scope.shared,
        })
    }
}
