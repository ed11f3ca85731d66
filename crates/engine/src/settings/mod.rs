//! The settings of the engine, as values. They are read from no file here.

mod articles;
mod delivery;
mod people;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use dispatch::LocalForm;
use polling::policy::tide;
use polling::{Bounds, Policy, PolicySpec};
use store::{KeyFile, Retention};
use url::Url;

use crate::budget::BudgetRule;
use crate::plan::Gaps;
pub use articles::ArticlesSettings;
pub use delivery::{DeliverySettings, Mail, MailSecurity};
pub use people::{PeopleSettings, WeightRule};

/// Two seconds between two requests to one domain, as polite crawlers do.
const GAP: Duration = Duration::from_secs(2);
/// Enough to keep 2 cores busy over slow servers, few enough that their bodies fit a small memory.
const POLLS_IN_FLIGHT: usize = 100;
/// The default bounds: no feed more often than every 5 minutes, none less often than daily.
const ALPHA: Duration = Duration::from_secs(5 * 60);
const BETA: Duration = Duration::from_secs(86_400);
const ETA: Duration = Duration::from_secs(3600);

/// A hub that stops silently costs a day at most, and a poll a day is cheap for every server.
const SAFETY_NET: Duration = Duration::from_secs(86_400);
/// Ten days, as the specification of WebSub proposes.
const LEASE: Duration = Duration::from_secs(10 * 86_400);

/// Most answers arrive within a second, and a service manager waits ten seconds or more.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// Which feeds are polled by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// All that are neither paused nor gone.
    All,
    /// None: only those that a caller asks for.
    OnRequest,
}

/// Settings of a running engine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The policy of feeds that have none of their own or by a tag.
    pub policy: PolicySpec,
    pub bounds: Bounds,
    /// The configured budget. A budget that `tidings budget` stored takes precedence.
    pub budget: Option<BudgetRule>,
    /// Publisher hints are lower bounds; else they are ignored.
    pub follow_hints: bool,
    /// Feeds that queries read are polled by the rate of entries that queries keep; else by the
    /// rate of all entries.
    pub learn_relevant: bool,
    pub gaps: Gaps,
    pub polls_in_flight_max: usize,
    pub parse: parse::Limits,
    pub retention: Retention,
    pub delivery: DeliverySettings,
    pub push: PushSettings,
    pub articles: ArticlesSettings,
    pub people: PeopleSettings,
    /// The time that polls under way have to end by themselves when the engine stops.
    pub stop_grace: Duration,
    /// Every answer is kept as it came, for a recording. The fetcher must keep the heads.
    pub keeps_answers: bool,
    /// Every document is read and looked up as if it were the first one of its feed: neither its
    /// hash nor the window saves anything. Only for comparisons.
    pub reads_whole: bool,
    /// The form of jobs and results on the local channel. Tests use the wire form.
    pub local_form: LocalForm,
    /// The key of stored secrets.
    pub key_file: KeyFile,
    /// The seed of jitter.
    pub seed: u64,
    /// The regions of domains, by name.
    pub regions: HashMap<String, String>,
}

/// Settings of WebSub subscriptions: hubs push feeds to us.
#[derive(Clone, Debug)]
pub struct PushSettings {
    /// The address at which hubs reach us; without it the engine subscribes to none.
    pub public_url: Option<Url>,
    /// The interval of polls that check on pushes while they are trusted.
    pub safety_net: Duration,
    /// The requested duration of a subscription; the hub decides.
    pub lease: Duration,
}

impl Settings {
    /// Returns the defaults. The caller chooses the seed.
    #[expect(clippy::new_without_default, reason = "a caller should read these choices")]
    pub fn new() -> Settings {
        let bounds = Bounds { alpha: ALPHA, beta: BETA, eta: ETA, ..Bounds::EVALUATION };
        Settings {
            policy: Policy::Tide { price: tide::PRICE, miss: tide::MISS }.into(),
            bounds: bounds.by_cause(),
            budget: None,
            follow_hints: true,
            learn_relevant: false,
            gaps: Gaps { default: GAP, by_domain: HashMap::new() },
            polls_in_flight_max: POLLS_IN_FLIGHT,
            parse: parse::Limits::default(),
            retention: Retention::off(),
            delivery: DeliverySettings::default(),
            push: PushSettings { public_url: None, safety_net: SAFETY_NET, lease: LEASE },
            articles: ArticlesSettings::default(),
            people: PeopleSettings::default(),
            stop_grace: STOP_GRACE,
            keeps_answers: false,
            reads_whole: false,
            local_form: LocalForm::Values,
            key_file: KeyFile::new(PathBuf::new()),
            seed: 0,
            regions: HashMap::new(),
        }
    }
}
