//! The commands of the lab, as the contract spells them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use feed::Time;
use lab::budget::PollAllowance;
use lab::measure::quality::{ModeWeights, Weights};
use polling::budget::{Estimator, Spender};

use super::wanted::WantedArgs;
use super::{InstanceArgs, duration};

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Replay a trace under policies: what each would have cost, and how late it would have been
    Run(LabRunArgs),
    /// Replay a trace under a budget: how strategies would have spent it
    Budget(LabBudgetArgs),
    /// Reproduce a published table
    #[command(subcommand)]
    Table(TableCommand),
    /// Normalise delay, cost and recall of a table, and give each policy one figure
    Quality(QualityArgs),
    /// Describe a trace: gaps, rates, update patterns, shapes, periodicity
    Stats {
        #[command(flatten)]
        traces: TraceArgs,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
    },
    /// Perform a definition and judge its expectation (exit status 1 if it fails)
    Experiment(ExperimentArgs),
    /// Write this instance's own history as a trace
    ExportTrace(ExportTraceArgs),
    /// Other policies and budgets on the own feeds' history, in words
    WhatIf(WhatIfArgs),
    /// Write a synthetic population after the published distributions as a trace
    Synth(SynthArgs),
    /// Write recorded documents as a trace with the texts of their entries
    TraceDocuments(TraceDocumentsArgs),
}

#[derive(Debug, Args)]
pub struct TraceArgs {
    /// A trace: CSV with the columns feed and published; `.gz` is gzip, `-` standard input
    #[arg(long = "trace", required = true, value_name = "FILE", num_args = 1..)]
    pub files: Vec<PathBuf>,
}

/// When the world begins and how long it is lived in.
#[derive(Debug, Args)]
pub struct TimeArgs {
    /// Start of the training [default: the first entry; `lab run` starts later and says so if
    /// fewer than half of the feeds would exist when the test begins]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub start: Option<Time>,
    /// How many entries a feed shows, where the trace does not say
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub window: u32,
}

#[derive(Debug, Args)]
pub struct LabRunArgs {
    #[command(flatten)]
    pub traces: TraceArgs,
    #[command(flatten)]
    pub wanted: WantedArgs,
    /// A policy, e.g. `mavsync`, `fix:1h`, `indhist:0.7@1m..1d` (repeatable)
    #[arg(long = "policy", required = true, value_name = "SPEC", num_args = 1..)]
    pub policies: Vec<String>,
    #[command(flatten)]
    pub times: TimeArgs,
    /// The training phase
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "7d")]
    pub train: Duration,
    /// The test phase
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "20d")]
    pub test: Duration,
    /// The shortest interval between two polls
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1m")]
    pub alpha: Duration,
    /// The longest interval between two polls
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "28d")]
    pub beta: Duration,
    /// The interval where a policy's own rule is undefined
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1h")]
    pub eta: Duration,
    /// Hours and weekdays of trained models are those of this zone
    #[arg(long, value_name = "OFFSET", value_parser = zone, default_value = "+00:00")]
    #[arg(allow_hyphen_values = true)]
    pub timezone: i32,
    /// Policies live through the training phase with their own polls and go on
    #[arg(long)]
    pub warm_up: bool,
    /// How a feed's `ttl` is read
    #[arg(long, value_enum, default_value_t = SimulatedHints::None)]
    pub hints: SimulatedHints,
    #[command(flatten)]
    pub weights: QualityWeights,
    /// Set the free parameter of every policy that has one so that it spends as many polls as
    /// this policy, or so many. Free are `entry-frequency`, the price of `tide`, and any
    /// parameter written as `?`
    #[arg(long, value_name = "SPEC|N")]
    pub match_polls: Option<String>,
    /// The same so that entries wait as long, on average, as under this policy
    #[arg(long, value_name = "SPEC", conflicts_with = "match_polls")]
    pub match_delay: Option<String>,
    /// Write every poll as `policy,feed,time`
    #[arg(long, value_name = "FILE")]
    pub polls_out: Option<PathBuf>,
    /// Write a report: index.html, its figures as SVG and their numbers as CSV
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Write the report even if its folder is not empty
    #[arg(long, requires = "report")]
    pub force: bool,
    /// The policy in use: one of those given, marked on the report's trade-off
    #[arg(long, value_name = "SPEC", requires = "report")]
    pub mark: Option<String>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct LabBudgetArgs {
    #[command(flatten)]
    pub traces: TraceArgs,
    #[command(flatten)]
    pub wanted: WantedArgs,
    /// A strategy, e.g. `two-steps`, or `tide:365d`, to which a lost entry is a year's waiting
    /// (repeatable)
    #[arg(long = "strategy", required = true, value_name = "NAME", num_args = 1..)]
    pub strategies: Vec<Spender>,
    /// How many polls per how long, e.g. `1000/1h`
    #[arg(long, value_name = "N/DURATION", value_parser = allowance)]
    pub budget: PollAllowance,
    /// How the strategies estimate the feeds
    #[arg(long, value_name = "NAME", default_value = "periodic")]
    pub estimator: Estimator,
    /// The time between two plans
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10m")]
    pub cycle: Duration,
    #[command(flatten)]
    pub times: TimeArgs,
    /// The training phase
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "14d")]
    pub train: Duration,
    /// The test phase
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "20d")]
    pub test: Duration,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum TableCommand {
    /// Table 2 of the 2steps paper, ours next to the published
    TwoSteps {
        #[arg(long, value_name = "N", default_value_t = 200)]
        #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000))]
        seeds: u64,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Copy, Debug, Args)]
pub struct QualityWeights {
    /// How much delay, polls per entry and recall count
    #[arg(long, value_name = "D,APE,R", value_parser = weights, default_value = "1,1,1")]
    pub weights: Weights,
    /// How much feeds and entries count
    #[arg(long, value_name = "F,E", value_parser = mode_weights, default_value = "1,1")]
    pub mode_weights: ModeWeights,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SimulatedHints {
    /// It is not looked at
    None,
    /// Not sooner than the publisher asks
    Lower,
    /// Exactly as often as the publisher asks
    Exact,
}

#[derive(Debug, Args)]
pub struct QualityArgs {
    /// CSV with the columns policy,delay_seconds,polls_per_entry,recall and optionally mode
    pub file: PathBuf,
    #[command(flatten)]
    pub weights: QualityWeights,
    /// Normalise on this policy instead of the best
    #[arg(long, value_name = "POLICY")]
    pub baseline: Option<String>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// A definition (TOML)
    pub file: PathBuf,
    /// Use this trace instead of the one that the definition names (repeatable)
    #[arg(long = "trace", value_name = "FILE", num_args = 1)]
    pub traces: Vec<PathBuf>,
    /// Folder of the record [default: records/DATE/NAME next to the definitions]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ExportTraceArgs {
    /// File for the trace; `.gz` is gzip, `-` standard output
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub place: InstanceArgs,
}

#[derive(Debug, Args)]
pub struct WhatIfArgs {
    /// Also try strategies that spend this many polls, e.g. `1000/1h`
    #[arg(long, value_name = "N/DURATION", value_parser = allowance)]
    pub budget: Option<PollAllowance>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: InstanceArgs,
}

#[derive(Debug, Args)]
pub struct SynthArgs {
    #[arg(long, value_name = "N")]
    pub feeds: usize,
    #[arg(long, value_name = "N")]
    pub days: u16,
    #[arg(long, value_name = "S")]
    pub seed: u64,
    /// When the days begin; what feeds show then lies before it
    #[arg(long, value_name = "TIME", value_parser = moment, default_value = "2011-07-09T05:00:00Z")]
    pub start: Time,
    /// So many percent of the entries appear after the time they claim: half of those within 40
    /// minutes, nine of ten within 7 hours
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value_t = 0)]
    pub late: u8,
    /// So many percent of the entries claim a later time than that of their appearing, as if
    /// their dates had been rewritten
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value_t = 0)]
    pub rewritten: u8,
    /// Give every entry a topic and a title of its words, for `--queries`
    #[arg(long)]
    pub topics: bool,
    /// File for the trace; `.gz` is gzip, `-` standard output
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct TraceDocumentsArgs {
    /// A folder for each feed; its files are documents, named by the time of the poll in seconds
    /// since 1970 (`1774444925.xml`)
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// File for the trace; `.gz` is gzip, `-` standard output
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

fn percent(text: &str) -> Result<u8, String> {
    let read = text.parse().ok().filter(|percent| *percent <= 100);
    read.ok_or_else(|| "not a percentage; write a whole number from 0 to 100".to_owned())
}

/// A moment, or a day.
fn moment(text: &str) -> Result<Time, String> {
    let whole_day = || lab::world::trace::moment(&format!("{text}T00:00:00Z"));
    lab::world::trace::moment(text)
        .or_else(whole_day)
        .ok_or_else(|| "not a time; write 2011-07-16T05:00:00Z or 2011-07-16".to_owned())
}

/// `+02:00` in seconds east of UTC.
fn zone(text: &str) -> Result<i32, String> {
    if matches!(text, "Z" | "UTC") {
        return Ok(0);
    }
    let refuse = || "not a zone; write +02:00".to_owned();
    let (sign, rest) = match text.as_bytes().first() {
        Some(b'+') => (1, &text[1..]),
        Some(b'-') => (-1, &text[1..]),
        _ => return Err(refuse()),
    };
    let (hours, minutes) = rest.split_once(':').ok_or_else(refuse)?;
    let number = |text: &str, most: i32| match text.parse::<i32>() {
        Ok(n) if text.len() == 2 && (0..=most).contains(&n) => Ok(n),
        _ => Err(refuse()),
    };
    Ok(sign * (number(hours, 14)? * 3600 + number(minutes, 59)? * 60))
}

/// `1000/1h`.
fn allowance(text: &str) -> Result<PollAllowance, String> {
    let refuse = || "not a budget; write polls and a time: 1000/1h".to_owned();
    let (polls, per) = text.split_once('/').ok_or_else(refuse)?;
    let polls: usize = polls.parse().map_err(|_| refuse())?;
    let per = polling::parse_duration(per).map_err(|e| e.to_string())?;
    if polls == 0 || per.is_zero() { Err(refuse()) } else { Ok(PollAllowance { polls, per }) }
}

fn weights(text: &str) -> Result<Weights, String> {
    let [delay, polls_per_entry, recall] = numbers(text, "1,1,1")?;
    Ok(Weights { delay, polls_per_entry, recall })
}

fn mode_weights(text: &str) -> Result<ModeWeights, String> {
    let [feeds, entries] = numbers(text, "1,1")?;
    Ok(ModeWeights { feeds, entries })
}

fn numbers<const N: usize>(text: &str, example: &str) -> Result<[f64; N], String> {
    let parts: Vec<f64> = text.split(',').map_while(|part| part.trim().parse().ok()).collect();
    let valid =
        parts.iter().all(|w: &f64| w.is_finite() && *w >= 0.0) && parts.iter().any(|w| *w > 0.0);
    let refuse = || format!("not {N} weights from 0 on, one above it; write {example}");
    if text.split(',').count() != N || !valid {
        return Err(refuse());
    }
    parts.try_into().map_err(|_| refuse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_and_weights_are_read() {
        assert_eq!(zone("+02:00"), Ok(7200));
        assert_eq!(zone("-03:30"), Ok(-12_600));
        for wrong in ["2", "+2:00", "+25:00", "Europe/Berlin", "+02:60"] {
            assert!(zone(wrong).is_err(), "{wrong}");
        }
        assert_eq!(weights("2,1,0.5").map(|w| w.recall), Ok(0.5));
        for wrong in ["1,1", "1,1,1,1", "0,0,0", "1,x,1", "-1,1,1", ""] {
            assert!(weights(wrong).is_err(), "{wrong}");
        }
    }
}
