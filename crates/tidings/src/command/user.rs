//! `tidings user`: accounts and tokens. They are rows of the store only. The daemon sees a change
//! at its next request.

use std::io::{self, BufRead, IsTerminal};

use engine::Clock;
use serde_json::json;
use store::{AccountRole, AccountRow, Identity, NO_PASSWORD, NewToken, Store, TokenScope};

use crate::args::{InstanceArgs, UserCommand};
use crate::error::{CliError, failed, input_error};
use crate::output::{print_json, print_line, tamed};
use crate::{access, config};

/// The longest name. People type names by hand, and apps send them in headers.
const NAME_CHARS_MAX: usize = 64;

pub fn run(user: UserCommand) -> Result<(), CliError> {
    match user {
        UserCommand::Add { name, role, password_stdin, no_password, place } => {
            let role = role.as_deref().and_then(AccountRole::from_word);
            let password = move || match no_password {
                true => Ok(NO_PASSWORD.to_owned()),
                false => new_password(password_stdin),
            };
            add(&name, role, password, &place)
        }
        UserCommand::Role { name, role, place } => {
            let store = open_existing(&place)?;
            let account = find(&store, &name)?;
            let role = AccountRole::from_word(&role)
                .ok_or_else(|| input_error(format!("{role} is neither admin nor reader")))?;
            let changed = store.set_role(account.id, role)?;
            changed.map_err(|e| input_error(format!("`{}`: {e}", account.name)))?;
            print_line(&format!("{} has the role {} now", account.name, role.word()))
        }
        UserCommand::Connect { name, subject, remove, place } => {
            connect(&name, subject, remove, &place)
        }
        UserCommand::Password { name, password_stdin, place } => {
            let store = open_existing(&place)?;
            let account = find(&store, &name)?;
            store.set_password(account.id, &new_password(password_stdin)?)?;
            print_line(&format!("{} has a new password and must log in again", account.name))
        }
        UserCommand::Token { name, label, scope, place } => token(&name, label, &scope, &place),
        UserCommand::List { json, place } => list(json, &place),
        UserCommand::Revoke { name, label, place } => revoke(&name, &label, &place),
        UserCommand::Remove { name, place } => {
            let store = open_existing(&place)?;
            let account = find(&store, &name)?;
            store.remove_account(account.id)?;
            print_line(&format!("{} is removed, with its read marks and stars", account.name))
        }
    }
}

/// Opens the store, or creates it: the first account may come before the first feed.
fn open(place: &InstanceArgs) -> Result<Store, CliError> {
    access::write(&config::read_offline(place)?)
}

/// Opens an existing store: a mistyped folder has no accounts.
fn open_existing(place: &InstanceArgs) -> Result<Store, CliError> {
    access::read(&config::read_offline(place)?)?;
    open(place)
}

fn find(store: &Store, name: &str) -> Result<AccountRow, CliError> {
    store.account(name)?.ok_or_else(|| {
        input_error(format!(
            "there is no account {}; list all with: tidings user list",
            name.chars().take(NAME_CHARS_MAX).collect::<String>()
        ))
    })
}

/// Connects an account with a subject of the configured provider.
fn connect(
    name: &str,
    subject: Option<String>,
    remove: bool,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    let config = config::read_offline(place)?;
    let store = open_existing(place)?;
    let account = find(&store, name)?;
    let Some(subject) = subject else {
        for identity in store.identities(account.id)? {
            let (issuer, subject) = (tamed(&identity.issuer), tamed(&identity.subject));
            print_line(&format!("{issuer}  {subject}"))?;
        }
        return Ok(());
    };
    let issuer = config.login.issuer().ok_or_else(|| {
        input_error("there is no identity provider; set `oidc_issuer` in [login]".to_owned())
    })?;
    let identity = Identity { issuer: issuer.to_owned(), subject };
    if remove {
        return match store.disconnect_identity(account.id, &identity)? {
            true => print_line(&format!("{} is no longer connected", account.name)),
            false => Err(input_error(format!("{} is not connected with it", account.name))),
        };
    }
    let done = store.connect_identity(account.id, &identity, Clock::System.now())?;
    done.map_err(|_| input_error("this login belongs to another account".to_owned()))?;
    print_line(&format!("{} can log in at {issuer} now", account.name))
}

fn add(
    name: &str,
    role: Option<AccountRole>,
    password: impl FnOnce() -> Result<String, CliError>,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    if api::auth::account_name(name).is_none_or(|fits| fits.len() != name.len()) {
        return Err(input_error(
            "a name is 1 to 64 letters, digits, dots, hyphens, underscores or @".to_owned(),
        ));
    }
    let store = open(place)?;
    if store.account(name)?.is_some() {
        return Err(input_error(format!("there is already an account {name}")));
    }
    let is_first = !store.has_accounts()?;
    if is_first && role == Some(AccountRole::Reader) {
        let why = "the first account must be an admin, because nobody else could change anything";
        return Err(input_error(why.to_owned()));
    }
    let password = password()?;
    let made = store.add_account_as(name, &password, role, Clock::System.now())?;
    made.map_err(|e| input_error(format!("`{name}`: {e}")))?;
    let role = store.account(name)?.map_or("reader", |account| account.role.word());
    print_line(&format!("{} can log in now (role {role})", name.to_lowercase()))
}

/// Asks for a password, twice on a terminal, and hashes it.
fn new_password(stdin: bool) -> Result<String, CliError> {
    let password = if stdin {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        line.trim_end_matches(['\r', '\n']).to_owned()
    } else if io::stdin().is_terminal() {
        let first = rpassword::prompt_password("Password: ")?;
        api::auth::check_password(&first).map_err(|e| input_error(e.to_string()))?;
        if rpassword::prompt_password("Once more: ")? != first {
            return Err(input_error("the two passwords differ; nothing was changed".to_owned()));
        }
        first
    } else {
        let text = "there is no terminal to ask for a password on; use --password-stdin";
        return Err(input_error(text.to_owned()));
    };
    api::auth::hash_password(&password).map_err(|e| input_error(e.to_string()))
}

fn token(
    name: &str,
    label: Option<String>,
    scope: &str,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    let store = open_existing(place)?;
    let account = find(&store, name)?;
    let now = Clock::System.now();
    let fresh = api::auth::fresh()?;
    let new = NewToken {
        account: account.id,
        name: label.unwrap_or_else(|| now.to_string()),
        scope: TokenScope::from_word(scope)
            .ok_or_else(|| failed(format!("{scope} is not a scope; use read, write or admin")))?,
        digest: fresh.digest,
        fever_digest: api::auth::fever_digest(&account.name, &fresh.secret),
    };
    let made = store.add_token(&new, now)?;
    made.map_err(|e| input_error(format!("`{}`: {e}", new.name)))?;
    eprintln!(
        "Token of {} for {} ({scope}). Copy it now: it is shown only once. It is the \
         password for reader apps.",
        account.name, new.name
    );
    print_line(&fresh.secret)
}

fn list(as_json: bool, place: &InstanceArgs) -> Result<(), CliError> {
    let store = access::read(&config::read_offline(place)?)?;
    let mut accounts = Vec::new();
    for account in store.accounts()? {
        let tokens = store.tokens(account.id)?;
        accounts.push((account, tokens));
    }
    if as_json {
        let list: Vec<_> = accounts
            .iter()
            .map(|(account, tokens)| {
                let tokens: Vec<_> = tokens
                    .iter()
                    .map(|token| {
                        json!({
                            "label": token.name,
                            "scope": token.scope.word(),
                            "created_at": token.created_at.to_string(),
                            "used_at": token.used_at.map(|at| at.to_string()),
                        })
                    })
                    .collect();
                json!({
                    "name": account.name,
                    "role": account.role.word(),
                    "created_at": account.created_at.to_string(),
                    "tokens": tokens,
                })
            })
            .collect();
        return print_json(&list);
    }
    if accounts.is_empty() {
        print_line("There is no account. Create one: tidings user add NAME")?;
    }
    for (account, tokens) in accounts {
        let (name, role) = (&account.name, account.role.word());
        print_line(&format!("{name}  {role}, since {}", account.created_at))?;
        for token in tokens {
            let used = token.used_at.map_or("never used".to_owned(), |at| format!("used {at}"));
            let (name, scope) = (tamed(&token.name), token.scope.word());
            print_line(&format!("  token `{name}` ({scope}), {used}"))?;
        }
    }
    Ok(())
}

fn revoke(name: &str, label: &str, place: &InstanceArgs) -> Result<(), CliError> {
    let store = open_existing(place)?;
    let account = find(&store, name)?;
    let token = store.tokens(account.id)?.into_iter().find(|token| token.name == label);
    let Some(token) = token else {
        return Err(input_error(format!(
            "{} has no token {label}; list all with: tidings user list",
            account.name
        )));
    };
    store.revoke_token(account.id, token.id)?;
    print_line(&format!("the token {label} of {} is revoked", account.name))
}
