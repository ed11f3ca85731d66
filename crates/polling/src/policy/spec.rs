//! Policies as they are written on the command line and in configuration: `NAME[:PARAMETERS]`,
//! and `SPEC@1m..1d` to bind one policy to its own α and β.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::parameters::{Known, Parameters, SpecError, shortened, unknown};
use super::window_share::Room;
use super::{ModelKind, Policy};
use crate::model::histogram::Period;
use crate::{Bounds, Decimal, parse_duration, written};

const fn known(name: &'static str, example: &'static str, needs: &'static str) -> Known {
    Known { name, example, needs }
}

/// Every name, with an example and what its parameters are.
const KNOWN: [Known; 17] = [
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
    known("advarss", "advarss", "no parameter"),
    known("advarss-hybrid", "advarss-hybrid", "no parameter"),
    known("window-share", "window-share:0.8", "a share above 0, and optionally a model"),
    known("window-left", "window-left:3", "a whole number of entries, and optionally a model"),
    known("entry-frequency", "entry-frequency", "no parameter or a factor above 0"),
    known("empirical", "empirical", "no parameter"),
    known("adaptive-fetch", "adaptive-fetch", "no parameter"),
];

/// miniflux's default factor.
const ONE: Decimal = Decimal::new(1, 0);

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
            "advarss" => Policy::AdvaRss,
            "advarss-hybrid" => Policy::AdvaRssHybrid,
            "window-share" => {
                let room = Room::Share(p.decimal()?);
                Policy::Window { room, model: p.model()? }
            }
            "window-left" => {
                let left = p.take().and_then(|text| text.parse().ok()).ok_or_else(|| p.refuse())?;
                Policy::Window { room: Room::Left(left), model: p.model()? }
            }
            "entry-frequency" => Policy::EntryFrequency { factor: p.decimal_or(ONE)? },
            "empirical" => Policy::Empirical,
            _ => Policy::AdaptiveFetch,
        };
        p.end(policy)
    }
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
            Policy::AdvaRss => f.write_str("advarss"),
            Policy::AdvaRssHybrid => f.write_str("advarss-hybrid"),
            Policy::Window { room, model } => {
                match room {
                    Room::Share(share) => write!(f, "window-share:{share}")?,
                    Room::Left(left) => write!(f, "window-left:{left}")?,
                }
                if *model == ModelKind::Window { Ok(()) } else { write!(f, ",{}", model.word()) }
            }
            Policy::EntryFrequency { factor } if *factor == ONE => f.write_str("entry-frequency"),
            Policy::EntryFrequency { factor } => write!(f, "entry-frequency:{factor}"),
            Policy::Empirical => f.write_str("empirical"),
            Policy::AdaptiveFetch => f.write_str("adaptive-fetch"),
        }
    }
}

/// A policy with the bounds that were written beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicySpec {
    pub policy: Policy,
    pub alpha: Option<Duration>,
    pub beta: Option<Duration>,
    /// As it was given: it is echoed so.
    text: String,
}

impl PolicySpec {
    /// The bounds that hold for this policy where `default` holds for the others.
    pub fn bounds(&self, default: Bounds) -> Bounds {
        default.narrowed(self.alpha, self.beta)
    }
}

impl From<Policy> for PolicySpec {
    fn from(policy: Policy) -> PolicySpec {
        PolicySpec { policy, alpha: None, beta: None, text: policy.to_string() }
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for PolicySpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PolicySpec, SpecError> {
        let text = text.trim();
        let (policy, bounds) = match text.split_once('@') {
            Some((policy, bounds)) => (policy, Some(bounds)),
            None => (text, None),
        };
        let policy = policy.parse()?;
        let refuse = || SpecError::Bounds { text: shortened(text) };
        let (alpha, beta) = match bounds {
            None => (None, None),
            Some(bounds) => {
                let (alpha, beta) = bounds.split_once("..").ok_or_else(refuse)?;
                (one_bound(alpha, text)?, one_bound(beta, text)?)
            }
        };
        let ordered = match (alpha, beta) {
            (Some(a), Some(b)) => a <= b,
            (None, None) => bounds.is_none(),
            _ => true,
        };
        let enough = [alpha, beta].into_iter().flatten().all(|d| d >= Bounds::ALPHA_MIN);
        if !ordered || !enough {
            return Err(refuse());
        }
        Ok(PolicySpec { policy, alpha, beta, text: text.to_owned() })
    }
}

fn one_bound(written: &str, text: &str) -> Result<Option<Duration>, SpecError> {
    if written.is_empty() {
        return Ok(None);
    }
    let duration = parse_duration(written);
    duration.map(Some).map_err(|source| SpecError::Duration { text: shortened(text), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_example_is_a_policy_and_is_echoed() {
        for known in &KNOWN {
            let policy: Policy = known.example.parse().unwrap();
            assert_eq!(policy.to_string(), known.example);
        }
    }

    #[test]
    fn a_specification_is_echoed_as_given() {
        let texts = ["fix:60m", "mavsync@1m..1d", "lihz:1.0", "mavsync:kappa=5s", "lru-2@..1d"];
        for text in texts {
            assert_eq!(text.parse::<PolicySpec>().unwrap().to_string(), text);
        }
        assert_eq!("fix:60m".parse::<Policy>().unwrap().to_string(), "fix:1h");
        for text in ["indhist:0.7,week", "window-share:0.8,periodic", "entry-frequency:2"] {
            assert_eq!(text.parse::<Policy>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_error_names_the_text_what_is_wrong_and_the_nearest_name() {
        let error = |text: &str| text.parse::<PolicySpec>().unwrap_err().to_string();
        assert!(error("mavsnyc").contains("did you mean `mavsync`"), "{}", error("mavsnyc"));
        assert!(error("fix").contains("write it as `fix:1h`"));
        assert!(error("fix:1w").contains("`1w` is not a duration"));
        assert!(error("fix:0s").contains("at least 1 s"));
        assert!(error("lru-2:3").contains("no parameter"));
        assert!(error("mavsync@1d..1m").contains("the shorter first"));
        assert!(error("mavsync@").contains("@1m..1d"));
        assert!(error("adaptive-ttl:0").contains("above 0"));
        assert!(error("indhist:0.7,month").contains("optionally `week`"));
        assert!(error("indhist-ttl:0.7,0.1,1h").contains("burst ratio"));
        assert!(error("window-left:-1").contains("whole number"));
        assert!(error(&"ü".repeat(5000)).len() < 2000);
    }

    #[test]
    fn written_bounds_hold_over_the_default() {
        let spec: PolicySpec = "mavsync@2h..1d".parse().unwrap();
        let bounds = spec.bounds(Bounds::EVALUATION);
        assert_eq!(bounds.eta, Duration::from_secs(7200));
        assert_eq!(bounds.beta, Duration::from_secs(86_400));
    }
}
