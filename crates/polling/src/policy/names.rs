//! The names of the policies and their parameters, as the contract writes them:
//! `NAME[:PARAMETERS]`.
//!
//! ```
//! use polling::Policy;
//!
//! let policy: Policy = "indhist-ttl:0.7,0.1,60m,2".parse().unwrap();
//! assert_eq!(policy.to_string(), "indhist-ttl:0.7,0.1,1h,2");
//! let error = "mavsink".parse::<Policy>().unwrap_err().to_string();
//! assert!(error.contains("did you mean `mavsync`"));
//! ```

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Policy;
use super::advarss::RunInterval;
use super::tide;
use super::window_share::WindowTarget;
use crate::model::ModelKind;
use crate::model::histogram::Period;
use crate::spec::{KnownName, Parameters, SpecError, unknown};
use crate::{Bounds, Decimal, parse_duration, written};

const fn known(name: &'static str, example: &'static str, needs: &'static str) -> KnownName {
    KnownName { name, example, needs }
}

/// All names, each with an example and its parameters.
const KNOWN: [KnownName; 19] = [
    known("fix", "fix:1h", "an interval of at least 1 s"),
    known("fix-learned-w", "fix-learned-w", "no parameter"),
    known("fix-learned-a", "fix-learned-a", "no parameter"),
    known("adaptive-ttl", "adaptive-ttl:0.1", "a factor above 0"),
    known("lru-2", "lru-2", "no parameter"),
    known("mavsync", "mavsync", "no parameter or `kappa=5s`"),
    known("indhist", "indhist:0.7", "a number of entries above 0, and optionally `week`"),
    known(
        "indhist-ttl",
        "indhist-ttl:0.7,0.1,1h,2",
        "entries, factor, span and burst ratio, all above 0",
    ),
    known("indhist-agg", "indhist-agg:0.7,0.5", "entries and a ratio, both above 0"),
    known("lihz", "lihz:1.0", "a sum of probabilities above 0"),
    known("advarss", "advarss", "no parameter, `seed=7`, or `fixed=8m`"),
    known("advarss-hybrid", "advarss-hybrid", "no parameter"),
    known("window-share", "window-share:0.8", "a share above 0, and optionally a model"),
    known("window-left", "window-left:3", "a whole number of entries, and optionally a model"),
    known("entry-frequency", "entry-frequency", "no parameter or a factor above 0"),
    known("empirical", "empirical", "no parameter"),
    known("adaptive-fetch", "adaptive-fetch", "no parameter"),
    known("recording", "recording", "no parameter"),
    known(
        "tide",
        "tide",
        "no parameter, a price such as `55m`, or that and the price of a miss: `55m,365d`",
    ),
];

/// The default factor of miniflux.
const ONE: Decimal = Decimal::new(1, 0);

impl Policy {
    /// Returns an example of every policy, in the order of the contract.
    pub fn examples() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|known| known.example)
    }
}

impl FromStr for Policy {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Policy, SpecError> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
            return Err(unknown("policy", name, &KNOWN));
        };
        let mut p = Parameters::new(text, known, rest);
        let policy = match known.name {
            "fix" => Policy::Fix { every: p.duration()? },
            "fix-learned-w" => Policy::FixLearnedW,
            "fix-learned-a" => Policy::FixLearnedA,
            "adaptive-ttl" => Policy::AdaptiveTtl { factor: p.decimal()? },
            "lru-2" => Policy::Lru2,
            "mavsync" => Policy::MavSync { kappa: p.kappa()? },
            "indhist" => {
                let theta = p.decimal()?;
                let period = match p.take() {
                    None | Some("day") => Period::Day,
                    Some("week") => Period::Week,
                    Some(_) => return Err(p.refuse()),
                };
                Policy::IndHist { theta, period }
            }
            "indhist-ttl" => {
                let (theta, factor, span) = (p.decimal()?, p.decimal()?, p.duration()?);
                Policy::IndHistTtl { theta, factor, span, t_burst: p.decimal()? }
            }
            "indhist-agg" => Policy::IndHistAgg { theta: p.decimal()?, t_ind: p.decimal()? },
            "lihz" => Policy::Lihz { sigma: p.decimal()? },
            "advarss" => Policy::AdvaRss { run: run_interval(&mut p)? },
            "advarss-hybrid" => Policy::AdvaRssHybrid,
            "window-share" => {
                let room = WindowTarget::Share(p.decimal()?);
                Policy::Window { room, model: model_kind(&mut p)? }
            }
            "window-left" => {
                let left = p.take().and_then(|text| text.parse().ok()).ok_or_else(|| p.refuse())?;
                Policy::Window { room: WindowTarget::Left(left), model: model_kind(&mut p)? }
            }
            "entry-frequency" => Policy::EntryFrequency { factor: p.decimal_or(ONE)? },
            "empirical" => Policy::Empirical,
            "adaptive-fetch" => Policy::AdaptiveFetch,
            "recording" => Policy::Recording,
            _ => {
                let price = p.duration_or(tide::PRICE)?;
                Policy::Tide { price, miss: p.duration_or(tide::MISS)? }
            }
        };
        p.end(policy)
    }
}

/// Takes the model that a policy uses, which may be left out.
fn model_kind(parameters: &mut Parameters<'_>) -> Result<ModelKind, SpecError> {
    let Some(text) = parameters.take() else { return Ok(ModelKind::Window) };
    let kind = ModelKind::ALL.into_iter().find(|kind| kind.word() == text);
    kind.ok_or_else(|| parameters.refuse())
}

/// Takes `seed=N` or `fixed=DURATION`; without either, chance with seed 0.
fn run_interval(parameters: &mut Parameters<'_>) -> Result<RunInterval, SpecError> {
    let Some(text) = parameters.take() else { return Ok(RunInterval::Random { seed: 0 }) };
    let seed = text.strip_prefix("seed=").and_then(|seed| seed.parse().ok());
    let fixed = text.strip_prefix("fixed=").and_then(|every| parse_duration(every).ok());
    let fixed = fixed.filter(|every| *every >= Bounds::ALPHA_MIN).map(RunInterval::Fixed);
    let run = seed.map(|seed| RunInterval::Random { seed }).or(fixed);
    run.ok_or_else(|| parameters.refuse())
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Fix { every } => write!(f, "fix:{}", written(*every)),
            Policy::FixLearnedW => f.write_str("fix-learned-w"),
            Policy::FixLearnedA => f.write_str("fix-learned-a"),
            Policy::AdaptiveTtl { factor } => write!(f, "adaptive-ttl:{factor}"),
            Policy::Lru2 => f.write_str("lru-2"),
            Policy::MavSync { kappa: Duration::ZERO } => f.write_str("mavsync"),
            Policy::MavSync { kappa } => write!(f, "mavsync:kappa={}", written(*kappa)),
            Policy::IndHist { theta, period: Period::Day } => write!(f, "indhist:{theta}"),
            Policy::IndHist { theta, period: Period::Week } => write!(f, "indhist:{theta},week"),
            Policy::IndHistTtl { theta, factor, span, t_burst } => {
                write!(f, "indhist-ttl:{theta},{factor},{},{t_burst}", written(*span))
            }
            Policy::IndHistAgg { theta, t_ind } => write!(f, "indhist-agg:{theta},{t_ind}"),
            Policy::Lihz { sigma } => write!(f, "lihz:{sigma}"),
            Policy::AdvaRss { run: RunInterval::Random { seed: 0 } } => f.write_str("advarss"),
            Policy::AdvaRss { run: RunInterval::Random { seed } } => {
                write!(f, "advarss:seed={seed}")
            }
            Policy::AdvaRss { run: RunInterval::Fixed(every) } => {
                write!(f, "advarss:fixed={}", written(*every))
            }
            Policy::AdvaRssHybrid => f.write_str("advarss-hybrid"),
            Policy::Window { room, model } => {
                match room {
                    WindowTarget::Share(share) => write!(f, "window-share:{share}")?,
                    WindowTarget::Left(left) => write!(f, "window-left:{left}")?,
                }
                if *model == ModelKind::Window { Ok(()) } else { write!(f, ",{}", model.word()) }
            }
            Policy::EntryFrequency { factor } if *factor == ONE => f.write_str("entry-frequency"),
            Policy::EntryFrequency { factor } => write!(f, "entry-frequency:{factor}"),
            Policy::Empirical => f.write_str("empirical"),
            Policy::AdaptiveFetch => f.write_str("adaptive-fetch"),
            Policy::Recording => f.write_str("recording"),
            Policy::Tide { price: tide::PRICE, miss: tide::MISS } => f.write_str("tide"),
            Policy::Tide { price, miss: tide::MISS } => write!(f, "tide:{}", written(*price)),
            Policy::Tide { price, miss } => {
                write!(f, "tide:{},{}", written(*price), written(*miss))
            }
        }
    }
}
