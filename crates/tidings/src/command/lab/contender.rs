//! The policies of `tidings lab run` as written on the command line. A policy has all its
//! parameters, or one is open. The lab then finds the value at which all policies spend the same
//! polls or reach the same delay.

use lab::run::calibration::{self, Goal, PolicyTemplate};
use lab::{Setting, World};
use polling::PolicySpec;

use super::progress::watched;
use super::tables::spoken;
use crate::args::lab::LabRunArgs;
use crate::error::{CliError, input_error};

/// A policy as written.
pub enum Contender {
    Given(PolicySpec),
    /// A policy with an open parameter, and its text.
    Free(PolicyTemplate, String),
}

impl Contender {
    /// Returns the policy with all its parameters.
    pub fn settled(
        &self,
        world: &World,
        setting: &Setting,
        goal: Option<Goal>,
    ) -> Result<PolicySpec, CliError> {
        let (free, text) = match self {
            Contender::Given(spec) => return Ok(spec.clone()),
            Contender::Free(free, text) => (free, text),
        };
        let goal = goal.unwrap_or(Goal::Polls(0));
        let found = watched(text, world.feeds.len() as u64, |progress| {
            calibration::calibrate(world, free, goal, setting, progress)
        });
        let found = found.map_err(|e| input_error(e.to_string()))?;
        if !found.reached {
            let policy = &found.run.policy;
            let (wanted, came_to) = match goal {
                Goal::Polls(polls) => {
                    (format!("spend {polls} polls"), found.run.total.polls.to_string())
                }
                Goal::Delay(delay) => {
                    let delays = found.run.by_entry.delay.map_or("no entry".to_owned(), spoken);
                    (format!("come to a delay of {}", spoken(delay)), delays)
                }
            };
            eprintln!("tidings: {text} cannot {wanted}; nearest is {policy} with {came_to}");
        }
        found.run.policy.parse().map_err(|e: polling::SpecError| input_error(e.to_string()))
    }
}

pub fn contenders(args: &LabRunArgs) -> Result<Vec<Contender>, CliError> {
    let is_matched = args.match_polls.is_some() || args.match_delay.is_some();
    let read = |text: &String| {
        let free = PolicyTemplate::of(text).filter(|_| is_matched);
        if let Some(free) = free {
            return Ok(Contender::Free(free, text.clone()));
        }
        let parsed = text.parse().map(Contender::Given);
        parsed.map_err(|e: polling::SpecError| {
            let remedy = if text.contains('?') { "; `?` needs --match-polls" } else { "" };
            input_error(format!("--policy {e}{remedy}"))
        })
    };
    args.policies.iter().map(read).collect()
}

/// The value that all policies are calibrated to.
pub enum CalibrationArg {
    Polls(u64),
    PollsOf(PolicySpec),
    DelayOf(PolicySpec),
}

/// Reads `--match-polls` or `--match-delay`.
pub fn goal(args: &LabRunArgs) -> Result<Option<CalibrationArg>, CliError> {
    let spec = |option: &str, text: &str| -> Result<PolicySpec, CliError> {
        text.parse().map_err(|e: polling::SpecError| input_error(format!("{option} {e}")))
    };
    Ok(match (args.match_polls.as_deref(), args.match_delay.as_deref()) {
        (Some(text), _) => Some(match text.parse() {
            Ok(polls) => CalibrationArg::Polls(polls),
            Err(_) => CalibrationArg::PollsOf(spec("--match-polls", text)?),
        }),
        (None, Some(text)) => Some(CalibrationArg::DelayOf(spec("--match-delay", text)?)),
        (None, None) => None,
    })
}

impl CalibrationArg {
    pub fn of(&self, world: &World, setting: &Setting) -> Result<Goal, CliError> {
        let run = |spec: &PolicySpec| {
            let n_feeds = world.feeds.len() as u64;
            watched(&spec.to_string(), n_feeds, |p| lab::run(world, spec, setting, p))
        };
        match self {
            CalibrationArg::Polls(polls) => Ok(Goal::Polls(*polls)),
            CalibrationArg::PollsOf(spec) => Ok(Goal::polls_of(&run(spec))),
            CalibrationArg::DelayOf(spec) => {
                let nothing = || input_error(format!("--match-delay {spec}: it finds no entry"));
                Goal::delay_of(&run(spec)).ok_or_else(nothing)
            }
        }
    }
}
