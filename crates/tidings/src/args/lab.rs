//! The arguments of the lab's commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use feed::Time;
use lab::budget::{BudgetOptions, PollAllowance, PricedAllowance};
use lab::measure::quality::{ModeWeights, Weights};
use polling::budget::{Estimator, LearnShare, Spender};

use super::wanted::WantedArgs;
use super::{InstanceArgs, duration};

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Replay a trace under policies: the cost and the delay of each
    Run(LabRunArgs),
    /// Replay a trace under a budget: the result of each strategy
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
    /// Run a definition and check its expectations (exit status 1 if one fails)
    Experiment(ExperimentArgs),
    /// Write this instance's own history as a trace
    ExportTrace(ExportTraceArgs),
    /// Compare policies and budgets on the history of your own feeds, in words
    WhatIf(WhatIfArgs),
    /// Write a synthetic trace that follows published distributions
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

/// The start of a replay, and the window of its feeds.
#[derive(Debug, Args)]
pub struct TimeArgs {
    /// Start of the training [default: the first entry; `lab run` starts later and says so if
    /// fewer than half of the feeds would exist when the test begins]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub start: Option<Time>,
    /// The number of entries that a feed shows, unless the trace says otherwise
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
    /// The interval if a policy has no answer
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1h")]
    pub eta: Duration,
    /// The time zone for hours and weekdays of trained models
    #[arg(long, value_name = "OFFSET", value_parser = zone, default_value = "+00:00")]
    #[arg(allow_hyphen_values = true)]
    pub timezone: i32,
    /// Let policies poll through the training phase and continue
    #[arg(long)]
    pub warm_up: bool,
    /// How a feed's `ttl` is used
    #[arg(long, value_enum, default_value_t = SimulatedHints::None)]
    pub hints: SimulatedHints,
    #[command(flatten)]
    pub weights: QualityWeights,
    /// Set the free parameter of every policy that has one, so that it spends as many polls as
    /// this policy, or this number. Free parameters: that of `entry-frequency`, the price of
    /// `tide`, and any parameter written as `?`
    #[arg(long, value_name = "SPEC|N")]
    pub match_polls: Option<String>,
    /// Set the free parameters so that entries wait as long on average as under this policy
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
    /// The policy in use: one of those given; the report marks it in the trade-off plot
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
    /// A strategy, e.g. `two-steps`, or `tide:365d` if losing an entry is as bad as waiting a
    /// year for it (repeatable)
    #[arg(long = "strategy", required = true, value_name = "NAME", num_args = 1..)]
    pub strategies: Vec<Spender>,
    /// Polls per time, e.g. `1000/1h`; units if a poll has a price: `1000/1h:1+20/MB+5/s`
    #[arg(long, value_name = "N/DURATION[:PRICE]")]
    pub budget: PricedAllowance,
    /// The model by which the strategies predict feeds
    #[arg(long, value_name = "NAME", default_value = "periodic")]
    pub estimator: Estimator,
    #[command(flatten)]
    pub as_published: AsPublishedArgs,
    /// The share of the polls that learn how often feeds post: 10%, or `auto`
    #[arg(long, value_name = "PERCENT|auto", default_value_t = LearnShare::Off)]
    pub learn: LearnShare,
    /// Spend the budget in the training phase too, from a cold start
    #[arg(long)]
    pub warm_up: bool,
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

/// Settings in which the papers differ from live use.
#[derive(Clone, Copy, Debug, Args)]
pub struct AsPublishedArgs {
    /// Let a strategy that allocates polls leave a feed alone for more than 28 days
    #[arg(long)]
    pub no_floor: bool,
    /// Let `two-steps` and `only-tau` keep the polls that they make beyond the budget
    #[arg(long)]
    pub no_pay_back: bool,
    /// Start `single-variable` and `periodic` at zero, without the dates of the first window
    #[arg(long)]
    pub from_zero: bool,
    /// Give estimators also the entries that a window no longer shows
    #[arg(long)]
    pub true_counts: bool,
}

impl AsPublishedArgs {
    pub fn options(self) -> BudgetOptions {
        BudgetOptions {
            true_counts: self.true_counts,
            from_zero: self.from_zero,
            floor: !self.no_floor,
            pay_back: !self.no_pay_back,
            ..BudgetOptions::default()
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum TableCommand {
    /// Table 2 of the 2steps paper: our values next to the published ones
    TwoSteps {
        /// The number of random runs
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
    /// The weights of delay, polls per entry and recall
    #[arg(long, value_name = "D,APE,R", value_parser = weights, default_value = "1,1,1")]
    pub weights: Weights,
    /// The weights of averages over feeds and over entries
    #[arg(long, value_name = "F,E", value_parser = mode_weights, default_value = "1,1")]
    pub mode_weights: ModeWeights,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SimulatedHints {
    /// Ignore it
    None,
    /// Poll not more often than the publisher asks
    Lower,
    /// Poll exactly as often as the publisher asks
    Exact,
}

#[derive(Debug, Args)]
pub struct QualityArgs {
    /// CSV with the columns policy,delay_seconds,polls_per_entry,recall and optionally mode
    pub file: PathBuf,
    #[command(flatten)]
    pub weights: QualityWeights,
    /// Normalise by this policy instead of the best one
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
    /// Leave out the feeds that the dissertation left out of its evaluation: broken ones, those
    /// without data a day after the first poll, and those that never carry dates
    #[arg(long)]
    pub evaluation: bool,
    #[command(flatten)]
    pub place: InstanceArgs,
}

#[derive(Debug, Args)]
pub struct WhatIfArgs {
    /// Also try strategies that spend this many polls, e.g. `1000/1h`
    #[arg(long, value_name = "N/DURATION")]
    pub budget: Option<PollAllowance>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: InstanceArgs,
}

#[derive(Debug, Args)]
pub struct SynthArgs {
    /// The number of feeds
    #[arg(long, value_name = "N")]
    pub feeds: usize,
    /// The number of days
    #[arg(long, value_name = "N")]
    pub days: u16,
    /// The seed; the same seed gives the same trace
    #[arg(long, value_name = "S")]
    pub seed: u64,
    /// The start of the days; the first windows show entries from before it
    #[arg(long, value_name = "TIME", value_parser = moment, default_value = "2011-07-09T05:00:00Z")]
    pub start: Time,
    /// The percentage of entries that appear later than they claim: half of them within 40
    /// minutes, nine in ten within 7 hours
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value_t = 0)]
    pub late: u8,
    /// The percentage of entries that claim a later time than they appear, as if their dates had
    /// been rewritten
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

/// Reads a time, or a day.
fn moment(text: &str) -> Result<Time, String> {
    let whole_day = || lab::world::trace::moment(&format!("{text}T00:00:00Z"));
    lab::world::trace::moment(text)
        .or_else(whole_day)
        .ok_or_else(|| "not a time; write 2011-07-16T05:00:00Z or 2011-07-16".to_owned())
}

/// Reads `+02:00`, in seconds east of UTC.
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
    let refuse = || format!("not {N} weights of 0 or more, one of them above 0; write {example}");
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
