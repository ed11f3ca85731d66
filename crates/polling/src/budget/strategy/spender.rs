//! A strategy as people write it, with the price of a lost entry for `tide`.
//!
//! ```
//! use polling::budget::{Spender, Strategy};
//!
//! let careless: Spender = "tide:7d".parse().unwrap();
//! assert_eq!((careless.strategy, careless.to_string()), (Strategy::Tide, "tide:7d".to_owned()));
//! assert_eq!("tide:730d".parse(), Ok(Spender::from(Strategy::Tide)));
//! ```

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::budget::Strategy;
use crate::policy::tide::MISS;
use crate::spec::SpecError;
use crate::spec::{KnownName, Parameters};
use crate::written;

const PRICED: KnownName =
    KnownName { name: "tide", example: "tide:365d", needs: "the waiting that a lost entry costs" };

const PROFILED: KnownName = KnownName {
    name: "min-delay",
    example: "min-delay:centroid",
    needs: "a profile: own, centroid or shrunk",
};

/// The cost of an entry that a window loses, as the waiting of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss(pub Duration);

impl Default for Miss {
    fn default() -> Miss {
        Miss(MISS)
    }
}

/// The daily profile by which `min-delay` and `min-delay-schedule` choose the times of polls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProfileChoice {
    /// The feed's own.
    #[default]
    Own,
    /// That of its cluster, as in source 002.
    Centroid,
    /// Its own, the more the more entries it has.
    Shrunk,
}

impl ProfileChoice {
    const ALL: [ProfileChoice; 3] =
        [ProfileChoice::Own, ProfileChoice::Centroid, ProfileChoice::Shrunk];

    const fn word(self) -> &'static str {
        match self {
            ProfileChoice::Own => "own",
            ProfileChoice::Centroid => "centroid",
            ProfileChoice::Shrunk => "shrunk",
        }
    }
}

/// A strategy with its price of a miss, which only `tide` uses, and its choice of profiles, which
/// only `min-delay` and `min-delay-schedule` use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spender {
    pub strategy: Strategy,
    pub miss: Miss,
    pub profiles: ProfileChoice,
}

impl From<Strategy> for Spender {
    fn from(strategy: Strategy) -> Spender {
        Spender { strategy, miss: Miss::default(), profiles: ProfileChoice::Own }
    }
}

impl fmt::Display for Spender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.miss, self.profiles) {
            (Miss(MISS), ProfileChoice::Own) => self.strategy.fmt(f),
            (Miss(MISS), profiles) => write!(f, "{}:{}", self.strategy, profiles.word()),
            (Miss(miss), _) => write!(f, "{}:{}", self.strategy, written(miss)),
        }
    }
}

impl FromStr for Spender {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Spender, SpecError> {
        let (name, rest) = match text.split_once(':') {
            Some((name @ ("tide" | "min-delay" | "min-delay-schedule"), rest)) => (name, rest),
            _ => return text.parse::<Strategy>().map(Spender::from),
        };
        let plain = Spender::from(name.parse::<Strategy>()?);
        if name == "tide" {
            let mut parameters = Parameters::new(text, &PRICED, Some(rest));
            let miss = Miss(parameters.duration()?);
            return parameters.end(Spender { miss, ..plain });
        }
        let mut parameters = Parameters::new(text, &PROFILED, Some(rest));
        let word = parameters.take();
        let profiles = ProfileChoice::ALL.into_iter().find(|choice| Some(choice.word()) == word);
        let profiles = profiles.ok_or_else(|| parameters.refuse())?;
        parameters.end(Spender { profiles, ..plain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_of_a_miss_is_read_and_shown_and_only_tide_has_one() {
        let profiled = ["min-delay:centroid", "min-delay-schedule:shrunk", "min-delay"];
        for text in ["tide", "tide:365d", "tide:90m", "two-steps"].into_iter().chain(profiled) {
            assert_eq!(text.parse::<Spender>().map(|s| s.to_string()), Ok(text.to_owned()));
        }
        for wrong in ["tide:", "tide:0s", "tide:1d,2d", "two-steps:1d", "tides", "min-delay:mine"] {
            assert!(wrong.parse::<Spender>().is_err(), "{wrong}");
        }
    }
}
