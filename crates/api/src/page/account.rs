//! The page of the visitor's account: password, time zone, sessions, and tokens for programs and
//! reader apps.
//!
//! # Layout
//! - `password`: changes the password, or checks it before an act that needs it.
//! - `sessions`: the devices that are logged in. `tokens`: a token is shown once, when it is made.
//! - `sharing`: the services to which the visitor sends entries.
//! - `devices`: the browsers that get notifications.
//! - `leaving`: the export of everything that belongs to an account, and its deletion.

mod belongings;
mod devices;
mod leaving;
mod password;
mod sessions;
mod sharing;
mod tokens;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use store::{Digest, Identity, ShareTarget, TokenScope};

use super::frame::{Frame, NavSection, Visitor};
use super::notice::{notice, render, store_error};
use crate::auth::Person;
use crate::blocking::run_blocking;
use crate::sharing::{READY, ReadyService, without_secrets};
use crate::zone::Zone;
use crate::{ServerContext, session};
use devices::DeviceTableRow;
use sessions::SessionTableRow;
use tokens::TokenTableRow;

pub use devices::{add_device, remove_device};
pub use leaving::{confirm_delete, delete, export};
pub use password::change_password;
pub use sessions::{end_others, end_session};
pub use sharing::{add_service, remove_service};
pub use tokens::{make_token, revoke_token};

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: Frame,
    sessions: Vec<SessionTableRow>,
    tokens: Vec<TokenTableRow>,
    services: Vec<ShareTarget>,
    ready_services: [ReadyService; READY.len()],
    devices: Vec<DeviceTableRow>,
    /// The public key for notifications; `None` if they are switched off.
    push_key: Option<String>,
    scopes: [TokenScope; 3],
    role: &'static str,
    is_admin: bool,
    /// Whether a trusted proxy logs the visitor in. Then there is nothing to log out of.
    by_proxy: bool,
    /// Whether the account has a password that it can use.
    has_password: bool,
    /// The name of the identity provider, and whether the account is connected with it.
    provider: Option<(String, bool)>,
    /// The zone that the account chose; empty for none.
    zone: &'static str,
    zones: &'static [String],
    /// The token that was just created.
    secret: Option<String>,
    /// The result of the last action.
    message: Option<&'static str>,
}

/// The result of the last action, as the page shows it.
#[derive(Default)]
struct AccountResult {
    /// The token that was just created.
    secret: Option<String>,
    message: Option<&'static str>,
}

impl AccountResult {
    fn of(message: &'static str) -> AccountResult {
        AccountResult { secret: None, message: Some(message) }
    }
}

pub async fn account(
    State(context): State<ServerContext>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Response {
    let session = session::current_session(&context, &headers);
    page(&context, visitor, session, AccountResult::default()).await
}

async fn page(
    context: &ServerContext,
    visitor: Visitor,
    session: Option<Digest>,
    result: AccountResult,
) -> Response {
    let (store, account, now) = (context.store.clone(), visitor.account(), visitor.now(context));
    let name = login(&visitor);
    let (may_write, may_manage) = (visitor.may(TokenScope::Write), manages_self(&visitor));
    let push_key = Arc::clone(&context.push_key);
    let read = run_blocking(move || {
        let row = name.map(|name| store.account(&name)).transpose()?.flatten();
        // A token that may not manage the account does not see its sessions and tokens.
        let sessions = if may_manage { store.sessions(account, now.at)? } else { Vec::new() };
        let tokens = if may_manage { store.tokens(account)? } else { Vec::new() };
        let services = store.share_targets(account)?.into_iter();
        let services: Vec<ShareTarget> = match may_write {
            true => services.collect(),
            false => services.map(without_secrets).collect(),
        };
        let push = (store.push_devices(account)?, push_key()?);
        let identities = store.identities(account)?;
        Ok((row, sessions, services, tokens, identities, push))
    });
    let (row, sessions, services, tokens, identities, (devices, push_key)) = match read.await {
        Ok(found) => found,
        Err(error) => return store_error(context, visitor, &error),
    };
    let person = visitor.person.as_ref();
    render(&AccountPage {
        sessions: sessions.into_iter().map(|row| sessions::row(row, session, now)).collect(),
        tokens: tokens.into_iter().map(|row| tokens::row(row, now)).collect(),
        services,
        ready_services: READY,
        devices: devices.into_iter().map(|row| devices::row(row, now)).collect(),
        push_key,
        scopes: TokenScope::ALL,
        role: person.map_or("", |person| person.role.word()),
        is_admin: visitor.may(TokenScope::Admin),
        by_proxy: person.is_some_and(|person| person.by_proxy),
        has_password: row.as_ref().is_some_and(|row| context.login.has_password(row)),
        provider: provider(context, &identities),
        zone: visitor.choices.zone.map_or("", Zone::name),
        zones: Zone::names(),
        secret: result.secret,
        message: result.message,
        frame: Frame::new(context, visitor, Some(NavSection::Account)),
    })
}

/// Returns the name of the provider, and whether one of the identities is there.
fn provider(context: &ServerContext, identities: &[Identity]) -> Option<(String, bool)> {
    let provider = context.login.provider.as_ref()?;
    let is_connected = identities.iter().any(|one| one.issuer == provider.issuer());
    Some((provider.name().to_owned(), is_connected))
}

fn manages_self(visitor: &Visitor) -> bool {
    visitor.person.as_ref().is_some_and(Person::may_manage_self)
}

fn login(visitor: &Visitor) -> Option<String> {
    visitor.person.as_ref().and_then(|person: &Person| person.name.clone())
}

fn no_account(context: &ServerContext, visitor: Visitor) -> Response {
    let text =
        "There are no accounts yet. Create one with the command tidings user add NAME.".to_owned();
    notice(context, visitor, StatusCode::CONFLICT, "No account", text)
}
