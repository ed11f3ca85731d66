//! What the operator decides, as values.

use std::collections::HashMap;
use std::time::Duration;

use dispatch::LocalForm;
use polling::policy::tide;
use polling::{Bounds, Policy, PolicySpec};
use store::Retention;
use url::Url;

use crate::{BudgetRule, DeliverySettings, Gaps};

/// Two seconds between two requests to one domain: what crawlers take for courtesy.
const GAP: Duration = Duration::from_secs(2);
/// Enough to keep 2 cores busy over slow servers, few enough that their bodies fit a small memory.
const POLLS_IN_FLIGHT: usize = 100;
/// The default bounds: no feed more often than every 5 minutes, none less often than daily.
const ALPHA: Duration = Duration::from_secs(5 * 60);
const BETA: Duration = Duration::from_secs(86_400);
const ETA: Duration = Duration::from_secs(3600);

/// A hub that stops without a word costs a day at most, and a poll a day harasses nobody.
const SAFETY_NET: Duration = Duration::from_secs(86_400);
/// Ten days, as the specification of WebSub proposes.
const LEASE: Duration = Duration::from_secs(10 * 86_400);

/// Which feeds are polled by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// All that are neither paused nor gone.
    All,
    /// None: only those that a caller asks for.
    Asked,
}

/// Settings of a running engine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The policy of feeds that have none of their own, by themselves or by a tag.
    pub policy: PolicySpec,
    pub bounds: Bounds,
    /// The configured budget; what `tidings budget` wrote into the store goes before it.
    pub budget: Option<BudgetRule>,
    /// Publisher hints are lower bounds; else they are ignored.
    pub follow_hints: bool,
    /// Feeds that queries read are polled as often as entries come that queries keep; else as often
    /// as any come.
    pub learn_relevant: bool,
    pub gaps: Gaps,
    pub polls_in_flight_max: usize,
    pub parse: parse::Limits,
    pub retention: Retention,
    pub delivery: DeliverySettings,
    pub push: PushSettings,
    /// What travels between controller and workers. Tests send the wire form.
    pub local_form: LocalForm,
    /// The seed of jitter.
    pub seed: u64,
}

/// How feeds are pushed to us.
#[derive(Clone, Debug)]
pub struct PushSettings {
    /// Under which address hubs reach us; without it none is asked.
    pub public_url: Option<Url>,
    /// While pushes are trusted, a feed is polled this often to check on them.
    pub safety_net: Duration,
    /// How long a subscription is asked to last; the hub decides.
    pub lease: Duration,
}

impl Settings {
    /// What holds where nothing is configured. The seed is the caller's to choose.
    #[expect(clippy::new_without_default, reason = "these are choices; a caller should read them")]
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
            local_form: LocalForm::Values,
            seed: 0,
        }
    }
}
