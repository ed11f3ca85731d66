//! The configuration file, read once and passed down as values. The order of precedence is: flags,
//! the store, this file, the built-in defaults.

mod articles;
mod budget_table;
pub mod bus;
mod delivery;
mod engine_part;
mod images;
mod login;
mod notifications;
mod people;
mod place;
mod proxies;
mod recording;
pub mod reference;
mod source;

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::args::{InstanceArgs, NetworkArgs, duration};
use crate::error::{CliError, input_error};
use budget_table::BudgetTable;
pub use place::MachineSettings;
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
    /// Proxies that may stand on private addresses and look up names themselves.
    #[serde(default)]
    outgoing_proxies: Vec<String>,
    /// The file with the key of stored secrets.
    key_file: Option<PathBuf>,
    /// Proxies in front of this program whose `X-Forwarded-For` is trusted.
    #[serde(default)]
    trusted_proxies: Vec<String>,
    #[serde(default)]
    keys: BTreeMap<String, String>,
    mail: Option<delivery::MailTable>,
    /// `proxy` (the default) or `off`.
    images: Option<String>,
    /// `direct` (the default) or `proxy`.
    media: Option<String>,
    #[serde(default)]
    push: PushTable,
    #[serde(default)]
    articles: articles::ArticlesTable,
    #[serde(default)]
    people: people::PeopleTable,
    #[serde(default)]
    store: place::StoreTable,
    #[serde(default)]
    machine: place::MachineTable,
    #[serde(default)]
    delivery: delivery::DeliveryTable,
    #[serde(default)]
    recording: recording::RecordingTable,
    #[serde(default)]
    login: login::LoginTable,
    #[serde(default)]
    notifications: notifications::NotificationsTable,
    #[serde(default)]
    bus: bus::BusTable,
    #[serde(default)]
    terminal: bus::TerminalTable,
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
    gap: Option<DurationText>,
    region: Option<String>,
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

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    body_bytes: Option<usize>,
    items: Option<usize>,
    entry_age: Option<DurationText>,
    entries_per_feed: Option<u64>,
    entries: Option<u64>,
    key_age: Option<DurationText>,
    header_timeout: Option<DurationText>,
    body_timeout: Option<DurationText>,
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
    /// The origin of the settings, for `doctor`, and the position of `[resolve]`.
    pub origin: String,
    resolve_at: String,
    /// Whether the operator named a contact, and a policy for all feeds.
    pub has_contact: bool,
    pub notifications: notifications::NotificationsSettings,
    pub has_policy: bool,
    /// Whether the call has flags about the network.
    pub has_network_flags: bool,
    /// The address under which others reach this program.
    pub public_url: Option<url::Url>,
    /// Proxies that may name the address of a client.
    pub proxies: api::auth::Proxies,
    /// The kinds of login.
    pub login: login::LoginSettings,
    /// Whether pictures of entries are shown, through our own proxy.
    pub shows_images: bool,
    /// Whether recordings come through our own proxy.
    pub passes_media_on: bool,
    /// After so long without a sign of life, the process that records is replaced.
    pub seat_silence: Duration,
    pub recording: recording::RecordingSettings,
    /// How this process is called, and where it stands.
    pub machine: MachineSettings,
    /// The road to other machines.
    pub bus: bus::BusConfig,
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
    let mut fetch = fetch_settings(&file, network.allow_private || file.allow_private);
    let mut engine = engine_part::engine_settings(&file, network, &source)?;
    let data = place::data_folder(place, file.data, &source)?;
    let store =
        place::store_location(place, file.database.as_deref(), &file.store, &data, &source)?;
    fetch.outgoing_proxies = proxies::outgoing(&file.outgoing_proxies, &source)?;
    engine.key_file = match file.key_file {
        Some(path) => store::KeyFile::new(path),
        None => store::KeyFile::in_folder(&data),
    };
    let listen = file.listen.unwrap_or(LISTEN);
    engine.delivery = delivery::settings(file.keys, file.mail, listen, &source)?;
    engine.delivery.folder = delivery::folder(file.delivery, &data, &store);
    let public_url = file.public_url.map(|text| public_url(&text)).transpose();
    let public_url = public_url.map_err(|reason| source.fault("", "public_url", reason))?;
    engine.delivery.own_url.clone_from(&public_url);
    let push = &mut engine.push;
    push.public_url = public_url.clone().filter(|_| file.push.subscribe != Some(false));
    push.safety_net = file.push.safety_net.map_or(push.safety_net, |t| t.0);
    push.lease = file.push.lease.map_or(push.lease, |t| t.0);
    let proxies = proxies::trusted(&file.trusted_proxies, &source)?;
    let login = login::settings(&file.login, &proxies, public_url.as_ref(), &source)?;
    engine.articles = articles::settings(file.articles, &source)?;
    engine.people = people::settings(file.people, &source)?;
    Ok(Config {
        data,
        store,
        listen,
        engine,
        fetch,
        proxies,
        login,
        shows_images: images::shown(file.images.as_deref(), &source)?,
        passes_media_on: images::media_passed_on(file.media.as_deref(), &source)?,
        seat_silence: place::seat_silence(&file.machine, &source)?,
        recording: file.recording.settings(&source)?,
        machine: place::machine(&file.machine, &source)?,
        bus: bus::bus(file.bus, &file.terminal, &source)?,
        public_url,
        resolve_at: source.place_of("resolve"),
        origin,
        notifications: notifications::settings(
            &file.notifications,
            file.contact.as_deref().unwrap_or(CONTACT),
        ),
        has_contact: file.contact.is_some(),
        has_policy: file.defaults.policy.is_some(),
        has_network_flags: *network != NetworkArgs::default(),
    })
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
    fetch.header_timeout =
        file.limits.header_timeout.as_ref().map_or(fetch.header_timeout, |t| t.0);
    fetch.body_timeout = file.limits.body_timeout.as_ref().map_or(fetch.body_timeout, |t| t.0);
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
