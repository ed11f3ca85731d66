//! The configuration file, read once and passed down as values. Flags win over the store, the
//! store over this file, this file over what is built in.

mod delivery;
mod images;
pub mod reference;

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{BudgetRule, Gaps};
use polling::budget::Spender;
use polling::{Bounds, PolicySpec};
use serde::Deserialize;

use crate::args::{Network, Place, duration};
use crate::failure::{Failure, input_error};

/// What the User-Agent points to where the operator gives no contact of their own.
const CONTACT: &str = "https://tidings.example/about-this-reader";

/// Where the data lies and where the page is, unless the operator says otherwise.
const DATA: &str = "tidings-data";
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

// Every key is described in `reference`, by test.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<SocketAddr>,
    data: Option<PathBuf>,
    contact: Option<String>,
    domain_gap: Option<Text>,
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
    /// Under which address others reach this program, for the links in published feeds.
    public_url: Option<String>,
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
struct Text(Duration);

impl TryFrom<String> for Text {
    type Error = String;
    fn try_from(text: String) -> Result<Text, String> {
        duration(&text).map(Text)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainTable {
    gap: Text,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Defaults {
    policy: Option<String>,
    alpha: Option<Text>,
    beta: Option<Text>,
    eta: Option<Text>,
    /// `lower` (the default) or `ignore`.
    hints: Option<String>,
    /// From which entries feeds that queries read are learned: `all` (the default) or `relevant`.
    learn: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetTable {
    /// `1000/1h`, or with bytes `1000/1h,50MB`.
    polls: String,
    strategy: Option<String>,
    estimator: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    body_bytes: Option<usize>,
    items: Option<usize>,
    entry_age: Option<Text>,
    entries_per_feed: Option<u64>,
    entries: Option<u64>,
    key_age: Option<Text>,
}

/// How feeds are pushed to us by their hubs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PushTable {
    /// While pushes come, a feed is polled this often to check on them.
    safety_net: Option<Text>,
    lease: Option<Text>,
    /// Hubs are asked where there is a `public_url`, unless this says no.
    subscribe: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Addresses {
    One(IpAddr),
    Many(Vec<IpAddr>),
}

/// Everything the commands need to know.
#[derive(Clone, Debug)]
pub struct Config {
    pub data: PathBuf,
    pub listen: SocketAddr,
    pub engine: engine::Settings,
    pub fetch: fetch::Settings,
    /// Where the settings came from, for `doctor`.
    pub origin: String,
    /// Whether the operator named a contact.
    pub has_contact: bool,
    /// Whether the call itself says how the network may be used.
    pub has_network_flags: bool,
    /// Under which address others reach this program.
    pub public_url: Option<url::Url>,
    /// Pictures of entries are shown, through our own proxy.
    pub shows_images: bool,
}

/// Reads the configuration for a command that makes requests.
pub fn read(place: &Place, network: &Network) -> Result<Config, Failure> {
    let config = combine(place, network)?;
    match config.resolve_fault() {
        Some(fault) => Err(input_error(fault)),
        None => Ok(config),
    }
}

/// Reads the configuration for a command that asks nobody anything.
pub fn read_offline(place: &Place) -> Result<Config, Failure> {
    combine(place, &Network::default())
}

impl Config {
    /// What is wrong with `[resolve]`, if something is.
    pub fn resolve_fault(&self) -> Option<String> {
        let unasked = !self.fetch.resolve.is_empty() && !self.fetch.allow_private;
        unasked.then(|| {
            format!(
                "{}: [resolve] needs --allow-private (or `allow_private = true`), since it can \
                 point names at private addresses",
                self.origin
            )
        })
    }
}

fn combine(place: &Place, network: &Network) -> Result<Config, Failure> {
    let file = match &place.config {
        Some(path) => read_file(path)?,
        None => File::default(),
    };
    let origin = match &place.config {
        Some(path) => path.display().to_string(),
        None => "built-in settings".to_owned(),
    };
    let fetch = fetch_settings(&file, network.allow_private || file.allow_private);
    let mut engine = engine_settings(&file, network, &origin)?;
    let data = place.data.clone().or(file.data).unwrap_or_else(|| DATA.into());
    let listen = file.listen.unwrap_or(LISTEN);
    engine.delivery = delivery::settings(file.keys, file.mail, &data, listen, &origin)?;
    let public_url = file.public_url.map(|text| public_url(&text, &origin)).transpose()?;
    engine.delivery.own_url.clone_from(&public_url);
    let push = &mut engine.push;
    push.public_url = public_url.clone().filter(|_| file.push.subscribe != Some(false));
    push.safety_net = file.push.safety_net.map_or(push.safety_net, |t| t.0);
    push.lease = file.push.lease.map_or(push.lease, |t| t.0);
    Ok(Config {
        data,
        listen,
        engine,
        fetch,
        shows_images: images::shown(file.images.as_deref(), &origin)?,
        public_url,
        origin,
        has_contact: file.contact.is_some(),
        has_network_flags: *network != Network::default(),
    })
}

fn public_url(text: &str, origin: &str) -> Result<url::Url, Failure> {
    let url = feed::FeedUrl::parse(text);
    url.map(|url| url.url().clone()).map_err(|e| input_error(format!("{origin}: public_url: {e}")))
}

fn read_file(path: &Path) -> Result<File, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| input_error(format!("cannot read the configuration {shown}: {e}")))?;
    toml::from_str(&text).map_err(|e| {
        let (line, column) = e.span().map_or((1, 1), |s| position(&text, s.start));
        input_error(format!("{shown}:{line}:{column}: {}", e.message()))
    })
}

/// Line and column (from 1) of a byte in a text.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
    (line, column)
}

fn fetch_settings(file: &File, allow_private: bool) -> fetch::Settings {
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
    file: &File,
    network: &Network,
    origin: &str,
) -> Result<engine::Settings, Failure> {
    let wrong = |what: String| input_error(format!("{origin}: [defaults] {what}"));
    let mut settings = engine::Settings::new();
    let defaults = &file.defaults;
    if let Some(spec) = &defaults.policy {
        settings.policy = spec.parse::<PolicySpec>().map_err(|e| wrong(format!("policy: {e}")))?;
    }
    let eta = defaults.eta.as_ref().map_or(settings.bounds.eta, |t| t.0);
    let alpha = defaults.alpha.as_ref().map_or(settings.bounds.alpha, |t| t.0);
    let beta = defaults.beta.as_ref().map_or(settings.bounds.beta, |t| t.0);
    settings.bounds = Bounds::new(alpha, beta, eta).map_err(|e| wrong(e.to_string()))?.by_cause();
    settings.follow_hints = match defaults.hints.as_deref() {
        None | Some("lower") => true,
        Some("ignore") => false,
        Some(other) => return Err(wrong(format!("hints: `{other}` is neither lower nor ignore"))),
    };
    settings.learn_relevant = match defaults.learn.as_deref() {
        None | Some("all") => false,
        Some("relevant") => true,
        Some(other) => return Err(wrong(format!("learn: `{other}` is neither all nor relevant"))),
    };
    settings.budget = file.budget.as_ref().map(|table| budget(table, origin)).transpose()?;
    settings.gaps = Gaps {
        default: network
            .domain_gap
            .or(file.domain_gap.as_ref().map(|t| t.0))
            .unwrap_or(settings.gaps.default),
        by_domain: file.domain.iter().map(|(d, t)| (d.to_ascii_lowercase(), t.gap.0)).collect(),
    };
    if let Some(n) = network.workers.or(file.workers) {
        if n == 0 {
            let said = match network.workers {
                Some(_) => "--workers 0".to_owned(),
                None => format!("{origin}: workers = 0"),
            };
            return Err(input_error(format!("{said}: at least one poll must be under way")));
        }
        settings.polls_in_flight_max = n;
    }
    refuse_zero(&file.limits, origin)?;
    if let Some(items) = file.limits.items {
        settings.parse.items_max = items;
    }
    settings.retention.entries_age_max = file.limits.entry_age.as_ref().map(|t| t.0);
    settings.retention.entries_per_feed_max = file.limits.entries_per_feed;
    settings.retention.entries_max = file.limits.entries;
    settings.retention.keys_age_max = file.limits.key_age.as_ref().map(|t| t.0);
    Ok(settings)
}

/// Elsewhere 0 often means that there is no limit; here it would drop everything that is kept.
fn refuse_zero(limits: &LimitsTable, origin: &str) -> Result<(), Failure> {
    let zeros = [
        ("body_bytes", limits.body_bytes == Some(0)),
        ("items", limits.items == Some(0)),
        ("entry_age", limits.entry_age.as_ref().is_some_and(|age| age.0.is_zero())),
        ("entries_per_feed", limits.entries_per_feed == Some(0)),
        ("entries", limits.entries == Some(0)),
    ];
    match zeros.into_iter().find(|(_, is_zero)| *is_zero) {
        Some((name, _)) => Err(input_error(format!(
            "{origin}: [limits] {name}: under 0 nothing would be kept; leave it out if there is \
             to be no limit of yours"
        ))),
        None => Ok(()),
    }
}

fn budget(table: &BudgetTable, origin: &str) -> Result<BudgetRule, Failure> {
    let wrong = |what: String| input_error(format!("{origin}: [budget] {what}"));
    let mut rule = BudgetRule::new(table.polls.parse().map_err(|e| wrong(format!("polls: {e}")))?);
    if let Some(name) = &table.strategy {
        let spender: Spender = name.parse().map_err(|e| wrong(format!("strategy: {e}")))?;
        rule = rule.under(spender);
    }
    if let Some(name) = &table.estimator {
        rule.model = name.parse().map_err(|e| wrong(format!("estimator: {e}")))?;
    }
    Ok(rule)
}
