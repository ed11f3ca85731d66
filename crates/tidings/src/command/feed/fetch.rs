//! `tidings feed set` for the requests of a feed: headers, cookies, login, proxy. Secrets are
//! encrypted here, before they reach the store or the daemon.

use std::io::Read;

use api::fetch_change::{FetchEdit, FetchEditError};
use dispatch::command::Command;
use feed::{FeedId, FetchSetting, FetchSettingError};
use store::Store;

use crate::args::fetch::FetchArgs;
use crate::config::Config;
use crate::error::{CliError, failed, input_error};

/// More bytes than all settings of a feed may have.
const FILE_BYTES_MAX: u64 = 16 * 1024;
const REMOVED: &str = "default";

/// Returns the command for the flags; `None` if there are none.
pub fn command(
    args: &FetchArgs,
    config: &Config,
    store: &Store,
    feed: FeedId,
    account: Option<i64>,
) -> Result<Option<Command>, CliError> {
    let mut edit = edit(args)?;
    if args.plain_requests {
        let rows = store.fetch_settings_of(feed)?;
        edit.remove.extend(rows.into_iter().map(|row| row.setting));
        if edit.is_empty() {
            return Err(input_error("the feed has no settings for its requests".to_owned()));
        }
    }
    if edit.is_empty() {
        return Ok(None);
    }
    if edit.set.iter().any(|(setting, _)| *setting == FetchSetting::InsecureTls) {
        eprintln!(
            "tidings: certificates of this feed are not checked from now on: anybody on the way \
             can read and change its requests and answers"
        );
    }
    match edit.command(store, &config.engine.key_file, feed, account) {
        Ok(command) => Ok(Some(command)),
        Err(FetchEditError::Setting(error)) => Err(refused(&error)),
        Err(FetchEditError::Secret(error)) => Err(failed(error.to_string())),
        Err(FetchEditError::Store(error)) => Err(error.into()),
    }
}

fn refused(error: &FetchSettingError) -> CliError {
    input_error(error.to_string())
}

fn edit(args: &FetchArgs) -> Result<FetchEdit, CliError> {
    let mut edit = FetchEdit::default();
    for text in &args.header {
        let text = value("--header", text)?;
        let Some((name, value)) = text.split_once(':') else {
            return Err(input_error("--header: write it as `NAME: VALUE`".to_owned()));
        };
        let setting = FetchSetting::header(name).map_err(|error| refused(&error))?;
        edit.set.push((setting, value.to_owned()));
    }
    for name in &args.no_header {
        edit.remove.push(FetchSetting::header(name).map_err(|error| refused(&error))?);
    }
    for (flag, setting, text) in [
        ("--cookie", FetchSetting::Cookie, &args.cookie),
        ("--user-agent", FetchSetting::UserAgent, &args.user_agent),
        ("--login", FetchSetting::Login, &args.login),
        ("--proxy", FetchSetting::Proxy, &args.proxy),
    ] {
        match text.as_deref() {
            None => {}
            Some(REMOVED) => edit.remove.push(setting),
            Some(text) => edit.set.push((setting, value(flag, text)?)),
        }
    }
    match args.tls.as_deref() {
        None => {}
        Some("ignore") => edit.set.push((FetchSetting::InsecureTls, String::new())),
        Some("check" | REMOVED) => edit.remove.push(FetchSetting::InsecureTls),
        Some(other) => {
            return Err(input_error(format!("--tls: `{other}` is neither `check` nor `ignore`")));
        }
    }
    Ok(edit)
}

/// Returns the value of a flag, which may be in a file.
fn value(flag: &str, text: &str) -> Result<String, CliError> {
    let Some(path) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    let unreadable = |error: std::io::Error| input_error(format!("{flag} @{path}: {error}"));
    let mut found = String::new();
    match path {
        "-" => std::io::stdin().take(FILE_BYTES_MAX).read_to_string(&mut found),
        path => {
            let file = std::fs::File::open(path).map_err(unreadable)?;
            file.take(FILE_BYTES_MAX).read_to_string(&mut found)
        }
    }
    .map_err(unreadable)?;
    Ok(found.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_an_edit() {
        let args = FetchArgs {
            header: vec!["X-Key: a:b".to_owned()],
            no_header: vec!["X-Old".to_owned()],
            cookie: Some("default".to_owned()),
            login: Some("anna:pw".to_owned()),
            tls: Some("ignore".to_owned()),
            ..FetchArgs::default()
        };
        let edit = edit(&args).ok().unwrap();
        let header = |name: &str| FetchSetting::header(name).unwrap();
        assert_eq!(edit.set[0], (header("x-key"), " a:b".to_owned()));
        assert_eq!(edit.remove, [header("x-old"), FetchSetting::Cookie]);
        assert!(edit.needs_admin());
        for wrong in ["X-Key", "Host: x", "a b: c"] {
            let args = FetchArgs { header: vec![wrong.to_owned()], ..FetchArgs::default() };
            assert!(super::edit(&args).is_err(), "{wrong}");
        }
        let args = FetchArgs { tls: Some("yes".to_owned()), ..FetchArgs::default() };
        assert!(super::edit(&args).is_err());
    }
}
