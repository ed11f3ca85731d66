//! `[keys]`, `[mail]` and `[delivery]`: the settings of deliveries.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use engine::{DeliverySettings, Mail, MailSecurity};
use serde::Deserialize;
use store::Location;

use super::source::ConfigSource;
use crate::error::CliError;

/// The folder for delivered files, inside the data folder and separate from the database.
const FOLDER: &str = "deliveries";
/// The ports for mail submission (RFC 6409, RFC 8314) and for plain SMTP.
const PORT_STARTTLS: u16 = 587;
const PORT_TLS: u16 = 465;
const PORT_PLAIN: u16 = 25;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailTable {
    server: String,
    port: Option<u16>,
    /// `starttls` (the default), `tls` or `none`.
    security: Option<String>,
    user: Option<String>,
    password: Option<String>,
    from: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeliveryTable {
    folder: Option<PathBuf>,
}

/// Returns the folder for delivered files. On PostgreSQL another machine may take over, so the
/// operator must name a folder.
pub fn folder(table: DeliveryTable, data: &Path, store: &Location) -> Option<PathBuf> {
    let folder = match (table.folder, store) {
        (Some(folder), _) => folder,
        (None, Location::Folder(_)) => PathBuf::from(FOLDER),
        (None, Location::Postgres(_)) => return None,
    };
    // An absolute path replaces the data folder.
    Some(data.join(folder))
}

pub fn settings(
    keys: BTreeMap<String, String>,
    mail: Option<MailTable>,
    listen: SocketAddr,
    source: &ConfigSource,
) -> Result<DeliverySettings, CliError> {
    if let Some((name, _)) = keys.iter().find(|(_, key)| key.len() < 16) {
        return Err(source.fault("keys", name, "a key has at least 16 letters"));
    }
    Ok(DeliverySettings {
        keys,
        mail: mail.map(|table| server(table, source)).transpose()?,
        folder: None,
        own: Some(listen),
        own_url: None,
    })
}

fn server(table: MailTable, source: &ConfigSource) -> Result<Mail, CliError> {
    let (security, port) = match table.security.as_deref() {
        None | Some("starttls") => (MailSecurity::StartTls, PORT_STARTTLS),
        Some("tls") => (MailSecurity::Tls, PORT_TLS),
        Some("none") => (MailSecurity::None, PORT_PLAIN),
        Some(other) => {
            let what = format!("`{other}` is not starttls, tls or none");
            return Err(source.fault("mail", "security", what));
        }
    };
    if security == MailSecurity::None && table.password.is_some() {
        let what = "a password is not sent without TLS";
        return Err(source.fault("mail", "security", what));
    }
    Ok(Mail {
        server: table.server,
        port: table.port.unwrap_or(port),
        security,
        user: table.user,
        password: table.password,
        from: table.from,
    })
}
