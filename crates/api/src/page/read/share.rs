//! The part of an entry that shares it: links to the services of the visitor, mail, and buttons for
//! their webhooks. The script adds the dialog of the phone and a button that copies the link.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use dispatch::command::{Command, CommandResult};
use feed::EntryId;
use store::{ShareKind, ShareTarget};

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::WriteForm;
use crate::page::notice::{not_found, notice, run_command, store_error};
use crate::sharing::{encoded, fill, is_shareable};

/// The ways to share an entry.
pub struct SharePart {
    /// The link of the entry; `None`: there is nothing to share.
    pub link: Option<String>,
    pub title: String,
    pub mail: String,
    /// Names and addresses.
    pub links: Vec<(String, String)>,
    /// Numbers and names.
    pub webhooks: Vec<(i64, String)>,
}

impl SharePart {
    pub fn new(link: Option<&str>, title: &str, targets: Vec<ShareTarget>) -> SharePart {
        let link = link.filter(|link| is_shareable(link)).map(str::to_owned);
        let (mut links, mut webhooks) = (Vec::new(), Vec::new());
        let shared = link.as_deref().unwrap_or_default();
        for target in targets {
            match target.kind {
                ShareKind::Link => {
                    links.push((target.name, fill(&target.template, shared, title)));
                }
                ShareKind::Webhook => webhooks.push((target.position, target.name)),
            }
        }
        let mail = format!("mailto:?subject={}&body={}", encoded(title), encoded(shared));
        SharePart { link, title: title.to_owned(), mail, links, webhooks }
    }
}

/// Posts an entry to a webhook of the visitor and says what became of it.
pub async fn send(
    State(context): State<ServerContext>,
    Path(id): Path<String>,
    WriteForm { visitor, form }: WriteForm,
) -> Response {
    let (Ok(entry), Ok(position)) = (id.parse(), form.text("service").parse()) else {
        let text = "The entry or the service does not exist. Open the entry and choose again.";
        return not_found(&context, visitor, text.to_owned());
    };
    let (store, reader) = (context.store.clone(), visitor.account());
    let seen = run_blocking(move || store.visible_entries(reader, &[EntryId(entry)]));
    match seen.await {
        Ok(seen) if seen.is_empty() => {
            let text = "The entry does not exist. It may have been removed.";
            return not_found(&context, visitor, text.to_owned());
        }
        Ok(_) => {}
        Err(error) => return store_error(&context, visitor, &error),
    }
    let account = reader.0;
    match run_command(&context, &visitor, Command::Share { account, position, entry }).await {
        Ok(CommandResult::Sent { service }) => {
            let text = format!("{service} has the entry now.");
            notice(&context, visitor, StatusCode::OK, "Sent", text)
        }
        Ok(_) => notice(
            &context,
            visitor,
            StatusCode::INTERNAL_SERVER_ERROR,
            "Could not send the entry",
            "The engine gave an unexpected answer. Please report it.".to_owned(),
        ),
        Err(refused) => refused,
    }
}
