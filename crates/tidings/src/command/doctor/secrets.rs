//! Whether the stored secrets can be read with the key file.

use store::{FetchSettingRow, SecretError, Store};

use super::DoctorCheck;
use crate::config::Config;
use crate::error::CliError;

const ABOUT: &str = "secrets";

/// Checks the key file and every stored secret. Without secrets there is nothing to say.
pub fn check(store: &Store, config: &Config) -> Result<Option<DoctorCheck>, CliError> {
    let rows = store.fetch_settings()?;
    let n = rows.iter().filter(|row| row.sealed.is_some()).count();
    if n == 0 {
        return Ok(None);
    }
    let file = &config.engine.key_file;
    let readable = || -> Result<(), SecretError> {
        let Some(key) = file.existing(true)? else { return Ok(()) };
        for row in &rows {
            if let Some(sealed) = &row.sealed {
                key.open(&FetchSettingRow::context(&row.origin, &row.setting), sealed)?;
            }
        }
        Ok(())
    };
    let path = file.path().display();
    Ok(Some(match readable() {
        Err(error) => {
            let remedy = "put the key file back, or set `key_file` to its place";
            DoctorCheck::trouble(ABOUT, error.to_string(), remedy.to_owned())
        }
        Ok(()) if file.is_open_to_others() => DoctorCheck::trouble(
            ABOUT,
            format!("others on this machine can read the key file {path}"),
            format!("chmod 600 {path}"),
        ),
        Ok(()) => DoctorCheck::good(
            ABOUT,
            format!("{n} secrets of feeds can be read; keep a copy of {path} apart from backups"),
        ),
    }))
}
