//! `[login]`: passwords, the header of a trusted proxy, and the identity provider.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use api::auth::provider::{Provider, ProviderSettings};
use api::auth::{LoginRules, Proxies, ProxyLogin};
use fetch::Fetcher;
use serde::Deserialize;
use url::Url;

use super::source::ConfigSource;
use crate::error::CliError;

pub const NAME: &str = "single sign-on";
const TABLE: &str = "login";
/// The path to which the provider sends people back.
const BACK: &str = "login/provider/back";
/// A secret of a client is a line.
const SECRET_BYTES_MAX: u64 = 4096;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoginTable {
    passwords: Option<bool>,
    create_accounts: Option<bool>,
    header: Option<String>,
    header_from: Option<Vec<String>>,
    oidc_issuer: Option<String>,
    oidc_client_id: Option<String>,
    oidc_client_secret_file: Option<PathBuf>,
    oidc_name: Option<String>,
}

/// The kinds of login, before anything is set up.
#[derive(Clone, Debug, Default)]
pub struct LoginSettings {
    without_passwords: bool,
    creates_accounts: bool,
    proxy: Option<ProxyLogin>,
    provider: Option<ProviderSettings>,
    /// Read when the daemon starts; other commands do not need it.
    secret_file: Option<PathBuf>,
}

impl LoginSettings {
    /// Returns the address of the identity provider, as it is compared.
    pub fn issuer(&self) -> Option<&str> {
        self.provider.as_ref().map(|provider| provider.issuer.as_str())
    }

    /// Returns whether passwords are accepted.
    pub fn takes_passwords(&self) -> bool {
        !self.without_passwords
    }

    /// Sets up the provider. `fetch` are the settings of all requests.
    pub fn rules(&self, fetch: &fetch::Settings) -> Result<LoginRules, CliError> {
        let provider = self.provider.clone().map(|mut settings| {
            settings.client_secret = self.secret_file.as_deref().map(secret).transpose()?;
            let mut outside = fetch.clone();
            // A person waits.
            outside.connect_timeout = Duration::from_secs(5);
            outside.header_timeout = Duration::from_secs(10);
            outside.body_timeout = Duration::from_secs(10);
            outside.keep_heads = false;
            let inside = fetch::Settings { allow_private: true, ..outside.clone() };
            let outside = Arc::new(Fetcher::new(outside)?);
            Ok::<_, CliError>(Arc::new(Provider::new(settings, Fetcher::new(inside)?, outside)))
        });
        Ok(LoginRules {
            without_passwords: self.without_passwords,
            creates_accounts: self.creates_accounts,
            proxy: self.proxy.clone(),
            provider: provider.transpose()?,
        })
    }
}

/// Reads the secret of the client.
fn secret(path: &Path) -> Result<String, CliError> {
    let shown = path.display();
    let wrong = |why: String| {
        crate::error::input_error(format!("[login] oidc_client_secret_file {shown}: {why}"))
    };
    let size = std::fs::metadata(path).map_err(|e| wrong(e.to_string()))?.len();
    if size > SECRET_BYTES_MAX {
        return Err(wrong("it is longer than any secret; put only the secret there".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
    match text.trim() {
        "" => Err(wrong("it is empty; write the secret of the client there".to_owned())),
        secret => Ok(secret.to_owned()),
    }
}

/// Reads the table. `trusted` are the proxies that may name the address of a client.
pub fn settings(
    table: &LoginTable,
    trusted: &Proxies,
    public_url: Option<&Url>,
    source: &ConfigSource,
) -> Result<LoginSettings, CliError> {
    let fault = |key: &str, why: &str| source.fault(TABLE, key, why);
    let proxy = proxy(table, trusted, source)?;
    let secret_file = table.oidc_client_secret_file.clone();
    let provider = provider(table, public_url, source)?;
    let settings = LoginSettings {
        without_passwords: table.passwords == Some(false),
        creates_accounts: table.create_accounts == Some(true),
        proxy,
        provider,
        secret_file,
    };
    let has_other = settings.proxy.is_some() || settings.provider.is_some();
    if settings.without_passwords && !has_other {
        let why = "nobody could log in; set `oidc_issuer` or `header` as well";
        return Err(fault("passwords", why));
    }
    if settings.creates_accounts && !has_other {
        return Err(fault("create_accounts", "it needs `oidc_issuer` or `header`"));
    }
    if settings.creates_accounts && settings.proxy.is_some() && settings.provider.is_some() {
        let why = "with both `header` and `oidc_issuer` one of them could take a name that belongs \
                   to a person of the other; create accounts with: tidings user add NAME";
        return Err(fault("create_accounts", why));
    }
    Ok(settings)
}

fn proxy(
    table: &LoginTable,
    trusted: &Proxies,
    source: &ConfigSource,
) -> Result<Option<ProxyLogin>, CliError> {
    let fault = |key: &str, why: String| source.fault(TABLE, key, why);
    let Some(header) = &table.header else {
        return match &table.header_from {
            Some(_) => Err(fault("header_from", "it needs `header`".to_owned())),
            None => Ok(None),
        };
    };
    let from = match &table.header_from {
        Some(texts) => Proxies::read(texts).map_err(|text| {
            fault("header_from", format!("`{text}` is neither an address nor a range of addresses"))
        })?,
        None => trusted.clone(),
    };
    if from.is_empty() {
        let why = "anybody could send it; name your proxy in `header_from` or `trusted_proxies`";
        return Err(fault("header", why.to_owned()));
    }
    let unnamed = || fault("header", format!("`{header}` is not the name of a header"));
    ProxyLogin::new(header, from).ok_or_else(unnamed).map(Some)
}

fn provider(
    table: &LoginTable,
    public_url: Option<&Url>,
    source: &ConfigSource,
) -> Result<Option<ProviderSettings>, CliError> {
    let fault = |key: &str, why: &str| source.fault(TABLE, key, why);
    let Some(issuer) = &table.oidc_issuer else {
        let others = [
            ("oidc_client_id", table.oidc_client_id.is_some()),
            ("oidc_client_secret_file", table.oidc_client_secret_file.is_some()),
            ("oidc_name", table.oidc_name.is_some()),
        ];
        return match others.into_iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => Err(fault(key, "it needs `oidc_issuer`")),
            None => Ok(None),
        };
    };
    let url = Url::parse(issuer).ok().filter(|url| matches!(url.scheme(), "https" | "http"));
    if url.is_none_or(|url| url.query().is_some() || url.fragment().is_some()) {
        return Err(fault("oidc_issuer", "it is not the address of a provider"));
    }
    let Some(client_id) = table.oidc_client_id.clone() else {
        return Err(fault("oidc_issuer", "it needs `oidc_client_id`"));
    };
    let Some(public_url) = public_url else {
        let why = "it needs `public_url`: the provider sends people back to that address";
        return Err(fault("oidc_issuer", why));
    };
    // Our routes start at the root of the host.
    let redirect = public_url.join(&format!("/{BACK}"));
    let redirect = redirect.map_err(|_| fault("oidc_issuer", "`public_url` has no host"))?;
    Ok(Some(ProviderSettings {
        issuer: issuer.clone(),
        client_id,
        client_secret: None,
        name: table.oidc_name.clone().unwrap_or(NAME.to_owned()),
        redirect,
    }))
}
