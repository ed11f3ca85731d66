//! The configuration file, read once and passed down as values. The order of precedence is: flags,
//! the store, this file, the built-in defaults.

mod delivery;
mod images;
mod proxies;
pub mod reference;
mod source;

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{BudgetRule, Gaps};
use polling::budget::Spender;
use polling::{Bounds, PolicySpec};
use serde::Deserialize;

use crate::args::{InstanceArgs, NetworkArgs, duration};
use crate::error::{CliError, input_error};
use source::ConfigSource;
pub use source::position;

/// The address in the User-Agent if the operator sets no contact.
const CONTACT: &str = "https://tidings.example/about-this-reader";

/// The default data folder and the default address of the page.
const DATA: &str = "tidings-data";
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

// A test checks that `reference` describes every key.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    listen: Option<SocketAddr>,
    data: Option<PathBuf>,
    database: Option<String>,
    contact: Option<String>,
    domain_gap: Option<DurationText>,
    #[serde(default)]
    allow_private: bool,
    workers: Option<usize>,
    /// Send `Cache-Control: no-cache` with every poll.
    no_cache: Option<bool>,
    #[serde(default)]
    domain: BTreeMap<String, DomainTable>,
    #[serde(default)]
    defaults: Defaults,
    budget: Option<BudgetTable>,
    #[serde(default)]
    limits: LimitsTable,
    #[serde(default)]
    resolve: BTreeMap<String, Addresses>,
    /// The address under which others reach this program, for the links in published feeds.
    public_url: Option<String>,
    /// Proxies in front of this program whose `X-Forwarded-For` is trusted.
    #[serde(default)]
    trusted_proxies: Vec<String>,
    #[serde(default)]
    keys: BTreeMap<String, String>,
    mail: Option<delivery::MailTable>,
    /// `proxy` (the default) or `off`.
    images: Option<String>,
    #[serde(default)]
    push: PushTable,
}

/// A duration as text, e.g. `"2s"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct DurationText(Duration);

impl TryFrom<String> for DurationText {
    type Error = String;
    fn try_from(text: String) -> Result<DurationText, String> {
        duration(&text).map(DurationText)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainTable {
    gap: DurationText,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Defaults {
    policy: Option<String>,
    alpha: Option<DurationText>,
    beta: Option<DurationText>,
    eta: Option<DurationText>,
    /// `lower` (the default) or `ignore`.
    hints: Option<String>,
    /// The entries from which Tidings learns about feeds that queries read: `all` (the default) or
    /// `relevant`.
    learn: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetTable {
    /// `1000/1h`, with bytes `1000/1h,50MB`, or with a price `1000/1h:1+20/MB+5/s`.
    polls: String,
    strategy: Option<String>,
    estimator: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    body_bytes: Option<usize>,
    items: Option<usize>,
    entry_age: Option<DurationText>,
    entries_per_feed: Option<u64>,
    entries: Option<u64>,
    key_age: Option<DurationText>,
}

/// The settings for feeds that hubs push to us.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PushTable {
    /// The interval at which a feed is polled while its hub pushes.
    safety_net: Option<DurationText>,
    lease: Option<DurationText>,
    /// Whether to subscribe to hubs, if there is a `public_url`.
    subscribe: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Addresses {
    One(IpAddr),
    Many(Vec<IpAddr>),
}

/// All settings that the commands need.
#[derive(Clone, Debug)]
pub struct Config {
    pub data: PathBuf,
    /// The place of the store: the data folder, or a database.
    pub store: store::Location,
    pub listen: SocketAddr,
    pub engine: engine::Settings,
    pub fetch: fetch::Settings,
    /// The origin of the settings, for `doctor`.
    pub origin: String,
    /// The position of `[resolve]` in the file.
    resolve_at: String,
    /// Whether the operator named a contact.
    pub has_contact: bool,
    /// Whether the call has flags about the network.
    pub has_network_flags: bool,
    /// The address under which others reach this program.
    pub public_url: Option<url::Url>,
    /// Proxies that are trusted to name the address of a client.
    pub proxies: api::auth::Proxies,
    /// Whether pictures of entries are shown, through our own proxy.
    pub shows_images: bool,
}

/// Reads the configuration for a command that makes requests.
pub fn read(place: &InstanceArgs, network: &NetworkArgs) -> Result<Config, CliError> {
    let config = combine(place, network)?;
    match config.resolve_fault() {
        Some(fault) => Err(input_error(fault)),
        None => Ok(config),
    }
}

/// Reads the configuration for a command that makes no requests.
pub fn read_offline(place: &InstanceArgs) -> Result<Config, CliError> {
    combine(place, &NetworkArgs::default())
}

impl Config {
    /// Returns the fault of `[resolve]`, if there is one.
    pub fn resolve_fault(&self) -> Option<String> {
        let unasked = !self.fetch.resolve.is_empty() && !self.fetch.allow_private;
        unasked.then(|| {
            format!(
                "{}: [resolve] needs --allow-private (or `allow_private = true`), since it can \
                 point names at private addresses",
                self.resolve_at
            )
        })
    }
}

fn combine(place: &InstanceArgs, network: &NetworkArgs) -> Result<Config, CliError> {
    let (source, file) = match &place.config {
        Some(path) => ConfigSource::read(path)?,
        None => (ConfigSource::default(), ConfigFile::default()),
    };
    let origin = match &place.config {
        Some(path) => path.display().to_string(),
        None => "built-in settings".to_owned(),
    };
    if let Some(contact) = &file.contact {
        check_contact(contact).map_err(|reason| source.fault("", "contact", reason))?;
    }
    let fetch = fetch_settings(&file, network.allow_private || file.allow_private);
    let mut engine = engine_settings(&file, network, &source)?;
    let data = data_folder(place, file.data, &source)?;
    let store = store_location(place, file.database.as_deref(), &data, &source)?;
    let listen = file.listen.unwrap_or(LISTEN);
    engine.delivery = delivery::settings(file.keys, file.mail, &data, listen, &source)?;
    let public_url = file.public_url.map(|text| public_url(&text)).transpose();
    let public_url = public_url.map_err(|reason| source.fault("", "public_url", reason))?;
    engine.delivery.own_url.clone_from(&public_url);
    let push = &mut engine.push;
    push.public_url = public_url.clone().filter(|_| file.push.subscribe != Some(false));
    push.safety_net = file.push.safety_net.map_or(push.safety_net, |t| t.0);
    push.lease = file.push.lease.map_or(push.lease, |t| t.0);
    Ok(Config {
        data,
        store,
        listen,
        engine,
        fetch,
        proxies: proxies::trusted(&file.trusted_proxies, &source)?,
        shows_images: images::shown(file.images.as_deref(), &source)?,
        public_url,
        resolve_at: source.place_of("resolve"),
        origin,
        has_contact: file.contact.is_some(),
        has_network_flags: *network != NetworkArgs::default(),
    })
}

/// Returns the folder of the flag, or of the file, or the default. It need not exist yet.
fn data_folder(
    place: &InstanceArgs,
    of_file: Option<PathBuf>,
    source: &ConfigSource,
) -> Result<PathBuf, CliError> {
    let data = place.data.clone().or(of_file).unwrap_or_else(|| DATA.into());
    if !data.is_file() {
        return Ok(data);
    }
    let reason = format!("{} is a file, not a folder", data.display());
    Err(match place.data {
        Some(_) => input_error(format!("--data: {reason}; for example: --data ./{DATA}")),
        None => source.fault("", "data", reason),
    })
}

/// Returns the database of the flag, or of the file; without one, the store is in the data folder.
fn store_location(
    place: &InstanceArgs,
    of_file: Option<&str>,
    data: &Path,
    source: &ConfigSource,
) -> Result<store::Location, CliError> {
    let Some(text) = place.database.as_deref().or(of_file) else {
        return Ok(store::Location::Folder(data.to_owned()));
    };
    match store::PgAddress::parse(text, &|name| std::env::var(name).ok()) {
        Ok(address) => Ok(store::Location::Postgres(address)),
        Err(error) if place.database.is_some() => Err(input_error(format!("--database: {error}"))),
        Err(error) => Err(source.fault("", "database", error.to_string())),
    }
}

/// Checks that a contact is a page or an e-mail address, which a person can use.
fn check_contact(text: &str) -> Result<(), String> {
    let schemes = ["https://", "http://", "mailto:"];
    if schemes.iter().any(|scheme| text.starts_with(scheme)) {
        return Ok(());
    }
    let scheme = if text.contains('@') { "mailto:" } else { "https://" };
    Err(format!("`{text}` has no scheme; did you mean `{scheme}{text}`?"))
}

/// Reads the outer address. A bare host is refused, because we cannot know whether others use http
/// or https.
fn public_url(text: &str) -> Result<url::Url, String> {
    if !text.contains("://") {
        return Err(format!("`{text}` has no scheme; did you mean `https://{text}`?"));
    }
    feed::FeedUrl::parse(text).map(|url| url.url().clone()).map_err(|e| e.to_string())
}

fn fetch_settings(file: &ConfigFile, allow_private: bool) -> fetch::Settings {
    let mut fetch = fetch::Settings::new(file.contact.as_deref().unwrap_or(CONTACT));
    fetch.allow_private = allow_private;
    fetch.no_cache = file.no_cache.unwrap_or(true);
    if let Some(bytes) = file.limits.body_bytes {
        fetch.body_bytes_max = bytes;
    }
    fetch.resolve = file
        .resolve
        .iter()
        .map(|(name, addresses)| {
            let addresses = match addresses {
                Addresses::One(one) => vec![*one],
                Addresses::Many(many) => many.clone(),
            };
            (name.to_ascii_lowercase(), addresses)
        })
        .collect::<HashMap<_, _>>();
    fetch
}

fn engine_settings(
    file: &ConfigFile,
    network: &NetworkArgs,
    source: &ConfigSource,
) -> Result<engine::Settings, CliError> {
    let wrong = |key: &str, reason: String| source.fault("defaults", key, reason);
    let mut settings = engine::Settings::new();
    let defaults = &file.defaults;
    if let Some(spec) = &defaults.policy {
        settings.policy = spec.parse::<PolicySpec>().map_err(|e| wrong("policy", e.to_string()))?;
    }
    let eta = defaults.eta.as_ref().map_or(settings.bounds.eta, |t| t.0);
    let alpha = defaults.alpha.as_ref().map_or(settings.bounds.alpha, |t| t.0);
    let beta = defaults.beta.as_ref().map_or(settings.bounds.beta, |t| t.0);
    settings.bounds =
        Bounds::new(alpha, beta, eta).map_err(|e| wrong("alpha", e.to_string()))?.by_cause();
    settings.follow_hints = match defaults.hints.as_deref() {
        None | Some("lower") => true,
        Some("ignore") => false,
        Some(other) => {
            return Err(wrong("hints", format!("`{other}` is neither lower nor ignore")));
        }
    };
    settings.learn_relevant = match defaults.learn.as_deref() {
        None | Some("all") => false,
        Some("relevant") => true,
        Some(other) => {
            return Err(wrong("learn", format!("`{other}` is neither all nor relevant")));
        }
    };
    settings.budget = file.budget.as_ref().map(|table| budget(table, source)).transpose()?;
    settings.gaps = Gaps {
        default: network
            .domain_gap
            .or(file.domain_gap.as_ref().map(|t| t.0))
            .unwrap_or(settings.gaps.default),
        by_domain: file.domain.iter().map(|(d, t)| (d.to_ascii_lowercase(), t.gap.0)).collect(),
    };
    if let Some(n) = network.workers.or(file.workers) {
        if n == 0 {
            let reason = "0 would never poll; give 1 or more";
            return Err(match network.workers {
                Some(_) => input_error(format!("--workers: {reason}")),
                None => source.fault("", "workers", reason),
            });
        }
        settings.polls_in_flight_max = n;
    }
    refuse_zero(&file.limits, source)?;
    if let Some(items) = file.limits.items {
        settings.parse.items_max = items;
    }
    settings.retention.entries_age_max = file.limits.entry_age.as_ref().map(|t| t.0);
    settings.retention.entries_per_feed_max = file.limits.entries_per_feed;
    settings.retention.entries_max = file.limits.entries;
    settings.retention.keys_age_max = file.limits.key_age.as_ref().map(|t| t.0);
    Ok(settings)
}

/// Refuses zero as a limit. Elsewhere 0 often means "no limit"; here it would drop every stored
/// entry.
fn refuse_zero(limits: &LimitsTable, source: &ConfigSource) -> Result<(), CliError> {
    let zeros = [
        ("body_bytes", limits.body_bytes == Some(0)),
        ("items", limits.items == Some(0)),
        ("entry_age", limits.entry_age.as_ref().is_some_and(|age| age.0.is_zero())),
        ("entries_per_feed", limits.entries_per_feed == Some(0)),
        ("entries", limits.entries == Some(0)),
    ];
    match zeros.into_iter().find(|(_, is_zero)| *is_zero) {
        Some((name, _)) => {
            let reason = "0 would keep nothing; leave the key out for no limit";
            Err(source.fault("limits", name, reason))
        }
        None => Ok(()),
    }
}

fn budget(table: &BudgetTable, source: &ConfigSource) -> Result<BudgetRule, CliError> {
    let wrong = |key: &str, reason: String| source.fault("budget", key, reason);
    let (polls, price) = BudgetRule::limit(&table.polls).map_err(|e| wrong("polls", e))?;
    let mut rule = BudgetRule { price, ..BudgetRule::new(polls) };
    if let Some(name) = &table.strategy {
        let spender: Spender =
            name.parse().map_err(|e: polling::SpecError| wrong("strategy", e.to_string()))?;
        rule = rule.under(spender);
    }
    if let Some(name) = &table.estimator {
        rule.model =
            name.parse().map_err(|e: polling::SpecError| wrong("estimator", e.to_string()))?;
    }
    Ok(rule)
}
