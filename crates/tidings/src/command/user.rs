//! `tidings user`: accounts and tokens. They are rows of the store only. The daemon sees a change
//! at its next request.

use std::io::{self, BufRead, IsTerminal};

use engine::Clock;
use serde_json::json;
use store::{AccountRow, NewToken, Store, TokenScope};

use crate::args::{InstanceArgs, UserCommand};
use crate::error::{CliError, failed, input_error};
use crate::output::{print_json, print_line, tamed};
use crate::{access, config};

/// The longest name. People type names by hand, and apps send them in headers.
const NAME_CHARS_MAX: usize = 64;

pub fn run(user: UserCommand) -> Result<(), CliError> {
    match user {
        UserCommand::Add { name, password_stdin, place } => add(&name, password_stdin, &place),
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

fn add(name: &str, password_stdin: bool, place: &InstanceArgs) -> Result<(), CliError> {
    let speakable = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(speakable) {
        return Err(input_error(
            "a name is 1 to 64 letters, digits, dots, hyphens, underscores or @".to_owned(),
        ));
    }
    let store = open(place)?;
    if store.account(name)?.is_some() {
        return Err(input_error(format!("there is already an account {name}")));
    }
    let password = new_password(password_stdin)?;
    let made = store.add_account(name, &password, Clock::System.now())?;
    made.map_err(|e| input_error(format!("`{name}`: {e}")))?;
    print_line(&format!("{} can log in now", name.to_lowercase()))
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
        print_line(&format!("{}  since {}", account.name, account.created_at))?;
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
