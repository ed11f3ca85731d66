//! The command line: commands, flags and their help texts. It decides nothing.

mod budget;
pub mod bulk;
pub mod dataset;
pub mod discover;
pub mod feed_list;
pub mod fetch;
pub mod lab;
pub mod machine;
pub mod move_in;
pub mod operate;
pub mod page;
pub mod query;
pub mod recording;
pub mod rule;
mod user;
pub mod wanted;
pub mod whose;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use budget::BudgetArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub use user::UserCommand;
use whose::WhoseArgs;

/// A feed aggregation engine that decides when to poll.
#[derive(Debug, Parser)]
#[command(name = "tidings", version, about, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Start with `tidings import FILE.opml` or `tidings feed add URL`, then \
    `tidings run`.\nExit status: 0 done, 1 failed (the message says what and why), 2 the call or \
    the input is wrong.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: CliCommand,
}

/// The data folder and the configuration of an instance.
#[derive(Clone, Debug, Args)]
pub struct InstanceArgs {
    /// The data folder [default: ./tidings-data, or `data` of the configuration]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The database instead of the data folder: postgres://USER@HOST/NAME
    /// [default: `database` of the configuration, else SQLite in the data folder]
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// The configuration file (TOML); without it the defaults apply
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// How the network may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct NetworkArgs {
    /// Poll loopback and private addresses too
    #[arg(long)]
    pub allow_private: bool,
    /// Shortest time between two requests to one registrable domain [default: 2s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub domain_gap: Option<Duration>,
    /// The number of simultaneous polls [default: 100]
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Poll the feeds and serve the page (Ctrl-C stops without data loss)
    Run(RunArgs),
    /// Add, list, explain, poll, change, move or remove feeds
    #[command(subcommand)]
    Feed(FeedCommand),
    /// Show or set the limit for all polls, and the strategy that spends it
    Budget(BudgetArgs),
    /// Import a subscription list (makes no request)
    Import {
        /// An OPML file; `-` is standard input
        file: PathBuf,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        whose: WhoseArgs,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Take over feeds, read marks and stars from another reader
    MoveIn(move_in::MoveInArgs),
    /// Print all feeds as a subscription list
    Export {
        /// The format of the list
        #[arg(long, value_enum, default_value_t = ExportFormat::Opml)]
        format: ExportFormat,
        /// Show passwords and tokens in URLs instead of masking them
        #[arg(long)]
        with_secrets: bool,
        #[command(flatten)]
        whose: WhoseArgs,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Print entries as JSON lines, oldest first
    Entries(EntriesArgs),
    /// Standing queries: feeds made from feeds
    #[command(subcommand)]
    Query(query::QueryCommand),
    /// Rules that mark, star, hide, label or notify for one person
    #[command(subcommand)]
    Rule(rule::RuleCommand),
    /// List, rename, merge, order or remove tags
    #[command(subcommand)]
    Tag(bulk::TagCommand),
    /// Find the feeds of a web page, or of a long list of pages
    Discover(discover::DiscoverArgs),
    /// Record feeds for a data set: every poll and every document
    Record(recording::RecordArgs),
    /// Write recorded feeds as a data set, or show their statistics
    #[command(subcommand)]
    Dataset(dataset::DatasetCommand),
    /// Parse one feed document and show its content
    Parse {
        /// A file; `-` is standard input
        file: PathBuf,
        /// The Content-Type that the document came with
        #[arg(long, value_name = "TYPE")]
        content_type: Option<String>,
        /// The URL that the document came from: the base of relative links
        #[arg(long, value_name = "URL")]
        url: Option<String>,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
    },
    /// Show the main text of one web page
    Article(page::PageArgs),
    /// Manage accounts and tokens; with the first account everybody must log in
    #[command(subcommand)]
    User(UserCommand),
    /// Replay publication histories to compare policies
    #[command(subcommand)]
    Lab(lab::LabCommand),
    /// Copy everything to one file; works while the daemon runs
    Backup(operate::Backup),
    /// Replace the store of the data folder by a copy
    Restore(operate::Restore),
    /// Copy the store to another place: from SQLite to PostgreSQL, or back
    Migrate(operate::Migrate),
    /// Show the processes of this instance, or ask one to stop working
    Machines(machine::MachinesArgs),
    /// Check the configuration file, or print its reference
    #[command(subcommand)]
    Config(operate::ConfigCommand),
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Write one page for each command into this folder instead
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Check configuration, storage, clock and network; say what to do
    Doctor {
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: InstanceArgs,
    },
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub place: InstanceArgs,
    /// Address of the page and the API [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Demonstration: poll a hundred synthetic feeds at 600 times real speed
    #[arg(long, conflicts_with = "once")]
    pub demo: bool,
    /// Poll each feed that is due now at most once, then exit
    #[arg(long)]
    pub once: bool,
    /// The part of the work that this process does
    #[arg(long, value_enum, value_name = "ROLE", default_value_t)]
    pub role: operate::RunRole,
    #[command(flatten)]
    pub bus: operate::BusArgs,
    /// How log lines are written to standard error
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub log_format: operate::LogFormat,
    #[command(flatten)]
    pub network: NetworkArgs,
}

#[derive(Debug, Subcommand)]
pub enum FeedCommand {
    /// Add feeds and poll each once
    Add {
        /// The addresses of feeds, or of pages that name a feed
        #[arg(required = true, value_name = "URL")]
        urls: Vec<String>,
        /// A tag for the new feeds (repeatable)
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
        /// Do not poll now; the feed is polled when `tidings run` runs
        #[arg(long)]
        no_poll: bool,
        /// Add the address even if the poll finds no feed there
        #[arg(long)]
        force: bool,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        whose: WhoseArgs,
        #[command(flatten)]
        network: NetworkArgs,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// List feeds with their state
    List(feed_list::FeedList),
    /// Show everything about one feed
    Show(OneFeed),
    /// Explain when and why the feed is polled next
    Why(OneFeed),
    /// Poll feeds now (gaps and Retry-After still apply)
    Poll {
        /// The feeds: their numbers or URLs
        #[arg(required_unless_present = "all", value_name = "FEED")]
        feeds: Vec<String>,
        /// All feeds
        #[arg(long, conflicts_with = "feeds")]
        all: bool,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        network: NetworkArgs,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Change the settings of a feed, or of all feeds of a tag
    Set(Box<FeedSet>),
    /// Change many feeds at once: tag, pause, resume, set the policy, unsubscribe
    Change(Box<bulk::BulkArgs>),
    /// Undo the last change of many feeds or tags
    Undo(whose::OwnerArgs),
    /// Change a feed's address; its entries, marks, tags and settings stay
    Move {
        /// The feed's number or URL
        feed: String,
        /// Its new address
        url: String,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Remove a feed with its entries, or end the subscription of an account
    Remove {
        #[command(flatten)]
        one: OneFeed,
        #[command(flatten)]
        whose: WhoseArgs,
    },
}

#[derive(Debug, Args)]
pub struct OneFeed {
    /// The feed's number or URL
    pub feed: String,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: InstanceArgs,
}

#[derive(Debug, Args)]
pub struct FeedSet {
    /// The feed's number or URL
    #[arg(required_unless_present = "tag", conflicts_with = "tag")]
    pub feed: Option<String>,
    /// All feeds with this tag, now and later
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// The policy, e.g. `tide:55m`, `mavsync` or `fix:1h`; `default` removes the setting
    #[arg(long, value_name = "SPEC")]
    pub policy: Option<String>,
    /// Shortest interval between two polls; `default` removes the setting
    #[arg(long, value_name = "DURATION")]
    pub alpha: Option<String>,
    /// Longest interval between two polls; `default` removes the setting
    #[arg(long, value_name = "DURATION")]
    pub beta: Option<String>,
    /// The weight of its entries compared with those of other feeds
    /// [default: the number of people who read the feed]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub weight: Option<f64>,
    /// The longest time until an entry is found; `default` removes the setting
    #[arg(long, value_name = "DURATION")]
    pub max_delay: Option<String>,
    /// When the pages behind its entries are fetched: `never`, `opened` or `every`; `default`
    /// removes the setting
    #[arg(long, value_name = "WHEN")]
    pub articles: Option<String>,
    /// A CSS selector for the main text of these pages; `default` removes it. Try it with
    /// `tidings article URL --keep CSS`
    #[arg(long, value_name = "CSS")]
    pub article_selector: Option<String>,
    /// The region whose terminals poll the feed; `any` removes the setting
    #[arg(long, value_name = "NAME")]
    pub region: Option<String>,
    /// Stop polling
    #[arg(long, conflicts_with = "resume")]
    pub pause: bool,
    /// Resume polling
    #[arg(long)]
    pub resume: bool,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: InstanceArgs,
    #[command(flatten)]
    pub whose: WhoseArgs,
    #[command(flatten)]
    pub fetch: fetch::FetchArgs,
}

#[derive(Debug, Args)]
pub struct EntriesArgs {
    /// Only entries after this cursor (the `cursor` of the last line you have)
    #[arg(long, value_name = "CURSOR")]
    pub after: Option<String>,
    /// Continue to print entries as they are recorded
    #[arg(long)]
    pub follow: bool,
    /// Only entries of this feed (number or URL)
    #[arg(long, value_name = "FEED")]
    pub feed: Option<String>,
    /// Only entries that this query found, with its own cursors
    #[arg(long, value_name = "NAME", conflicts_with = "feed")]
    pub query: Option<String>,
    /// At most this many entries
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// No effect: the output is always JSON lines
    #[arg(long, hide = true)]
    pub json: bool,
    #[command(flatten)]
    pub whose: WhoseArgs,
    #[command(flatten)]
    pub place: InstanceArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Opml,
    Json,
}

/// Reads `90s`, `15m`, `1h` or `7d`, and `200ms` for gaps in tests.
pub fn duration(text: &str) -> Result<Duration, String> {
    if let Some(ms) = text.strip_suffix("ms") {
        let parsed = ms.parse().map(Duration::from_millis);
        return parsed.map_err(|_| format!("`{text}` is not a duration"));
    }
    polling::parse_duration(text).map_err(|e| e.to_string())
}
