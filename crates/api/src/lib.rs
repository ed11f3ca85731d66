//! HTTP: the page, our JSON API, the APIs of reader apps, published feeds, WebSub and monitoring.
//!
//! Takes a [`ServerContext`] and returns a router. Routes do no slow work: an answer is a few short
//! store queries and a template. The only requests that leave are for pictures of a page that
//! somebody reads (`image`), and to the identity provider of a person who logs in. A route writes
//! at most rows of its own account, or roles of others; everything else is a command for the
//! engine. Pages load nothing from other sites.
//!
//! # Layout
//! - `routes`: all routes and the layers around them. `gate`: checks access before every route.
//! - `http`: the server, headers, paths, forms, ETags. `rate_limit`: requests of one account.
//! - [`auth`]: accounts, tokens, passwords. `session`: who sent a request. `login`: the login page.
//! - `page`: the pages that people read. `form`: the forms on them. [`search`]: finds entries.
//! - `v1`: `/api/v1`, our JSON API. `reader_apis`: Google Reader, miniflux and Fever.
//! - `published`: queries as feeds. `feed_cache`: their rendered documents.
//! - `language_figures`: the languages of accounts with many feeds, kept for a minute.
//! - `websub`, `rsscloud`: our hub and cloud, and callbacks of others.
//! - [`sanitise`]: safe HTML of entries. `image`, `media_proxy`: proxies for pictures and
//!   recordings. `media_file`: their files. `reading_time`: how long a text takes.
//! - `monitoring`: probes and metrics. [`what_if`]: replays of the own history. [`population`]: the
//!   figures of all feeds together.
//! - [`rule_book`]: saves rules and tries them on stored entries.
//! - `sharing`: templates of services to which people send entries.
//! - `suggestions`: suggested and popular feeds. `reading_statistics`: what a person opens.
//! - [`fetch_change`]: changes of the settings for requests of a feed.
//! - `behaviour`: how a feed posts, for its page and the API. `store_failure`: answers while the
//!   database fails.

pub mod auth;
mod behaviour;
mod blocking;
mod feed_cache;
mod feed_rows;
pub mod fetch_change;
mod form;
mod gate;
mod http;
mod image;
mod language_figures;
mod login;
mod media_file;
mod media_proxy;
mod monitoring;
mod own_order;
mod page;
pub mod population;
mod published;
mod rate_limit;
mod reader_apis;
mod reading_statistics;
mod reading_time;
mod routes;
mod rsscloud;
pub mod rule_book;
pub mod sanitise;
pub mod search;
mod session;
mod sharing;
mod store_failure;
mod suggestions;
mod v1;
mod websub;
pub mod what_if;
mod words;
mod zone;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use auth::{LoginRules, Logins, Proxies};
use axum::extract::FromRef;
use dispatch::RoadFigures;
use dispatch::command::{Command, CommandRefusal, CommandResult};
use feed::{ArticleMode, Time};
use feed_cache::FeedCache;
use futures_util::future::BoxFuture;
use language_figures::LanguageFigures;
use population::PopulationJob;
use store::{KeyFile, Store, StoreError};
use tokio::sync::Semaphore;
use url::Url;
use what_if::ReplayJob;

pub use http::server::{PeerAddress, serve};
pub use http::traffic::Traffic;
pub use image::{FetchPicture, Images, ImagesError};
pub use media_proxy::{FetchPart, MediaProxy};
pub use own_order::written_opml;
pub use page::free_bytes;
pub use published::{TopicDocument, at as published_at, is_published};
pub use rate_limit::RateLimits;
pub use routes::router;
pub use v1::listed as api_routes;
pub use words::{plural, readers_words};

/// Event streams that may be open at once; each reads SQLite three times a second.
const STREAMS_MAX: usize = 200;
/// Pushes whose bodies are read at once. A body has at most 4 MB.
const PUSHES_MAX: usize = 8;

/// The parts of the program that the routes need.
#[derive(Clone)]
pub struct ServerContext {
    pub store: Store,
    pub now: Arc<dyn Fn() -> Time + Send + Sync>,
    /// Returns the engine's current figures without waiting.
    pub live: Arc<dyn Fn() -> EngineState + Send + Sync>,
    pub version: &'static str,
    /// The address under which others reach us. Without it the host of the request counts.
    pub public_url: Option<Url>,
    /// Carries out commands: all changes beyond rows of one account.
    pub act: CommandFn,
    pub logins: Arc<Logins>,
    /// The kinds of login.
    pub login: Arc<LoginRules>,
    /// Proxies that are trusted to name the address of a client.
    pub proxies: Arc<Proxies>,
    /// Whether only this machine can reach us. Otherwise every request needs an account.
    pub loopback: bool,
    /// Limits open streams.
    pub streams: Arc<Semaphore>,
    /// Limits pushes that are being read.
    pub pushes: Arc<Semaphore>,
    /// The proxy for pictures. Without it pages show none.
    pub images: Option<Arc<Images>>,
    /// The proxy for recordings. Without it browsers load them from their hosts, after a click.
    pub media: Option<Arc<MediaProxy>>,
    /// When pages behind entries are fetched, for feeds without a setting of their own or a tag's.
    pub article_mode: ArticleMode,
    /// Whether feeds are suggested, and the popular ones shown.
    pub suggestions: bool,
    /// Returns totals of polls without waiting.
    pub spent: Arc<dyn Fn() -> PollTotals + Send + Sync>,
    /// Counts of requests to this server.
    pub traffic: Arc<Traffic>,
    /// The rate limits of the API.
    pub rates: Arc<RateLimits>,
    /// Returns the current budget as it is written, without waiting long.
    pub rule: Arc<dyn Fn() -> Option<String> + Send + Sync>,
    /// Replays of the own history with other rules.
    pub what_if: ReplayJob,
    /// The figures of all feeds together.
    pub population: PopulationJob,
    /// The cache of published feeds.
    pub published: Arc<FeedCache>,
    /// The languages of accounts with many feeds.
    pub languages: Arc<LanguageFigures>,
    /// The data folder, with the reports of the lab.
    pub data: PathBuf,
    /// The key of stored secrets.
    pub key_file: KeyFile,
    /// Reads the public key for notifications; `None` if they are switched off.
    pub push_key: PushKeyFn,
    /// Whether an operator drains this process, so that no new visitor should come here.
    pub draining: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// Reads the public key for notifications, as browsers take it.
pub type PushKeyFn = Arc<dyn Fn() -> Result<Option<String>, StoreError> + Send + Sync>;

/// Carries out a command and returns its result.
pub type CommandFn =
    Arc<dyn Fn(Command) -> BoxFuture<'static, Result<CommandResult, CommandRefusal>> + Send + Sync>;

impl ServerContext {
    /// Returns a context that refuses all commands.
    pub fn new(
        store: Store,
        now: Arc<dyn Fn() -> Time + Send + Sync>,
        live: Arc<dyn Fn() -> EngineState + Send + Sync>,
        version: &'static str,
    ) -> Result<ServerContext, getrandom::Error> {
        let act: CommandFn = Arc::new(|_| {
            let message = "this instance does not carry out commands".to_owned();
            Box::pin(std::future::ready(Err(CommandRefusal { message, input: false })))
        });
        let logins = Arc::new(Logins::new()?);
        let data = store.path().parent().map(Path::to_owned).unwrap_or_default();
        Ok(ServerContext {
            store,
            now,
            live,
            version,
            public_url: None,
            act,
            logins,
            login: Arc::default(),
            proxies: Arc::default(),
            loopback: true,
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
            pushes: Arc::new(Semaphore::new(PUSHES_MAX)),
            images: None,
            media: None,
            article_mode: ArticleMode::default(),
            suggestions: true,
            spent: Arc::new(PollTotals::default),
            traffic: Arc::default(),
            rates: Arc::default(),
            rule: Arc::new(|| None),
            what_if: ReplayJob::default(),
            population: PopulationJob::default(),
            published: Arc::default(),
            languages: Arc::default(),
            key_file: KeyFile::in_folder(&data),
            data,
            push_key: Arc::new(|| Ok(None)),
            draining: Arc::new(|| false),
        })
    }
}

impl FromRef<ServerContext> for Option<Arc<Images>> {
    fn from_ref(context: &ServerContext) -> Self {
        context.images.clone()
    }
}

impl FromRef<ServerContext> for Option<Arc<MediaProxy>> {
    fn from_ref(context: &ServerContext) -> Self {
        context.media.clone()
    }
}

/// The state of the engine. Totals count from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineState {
    /// Why nothing is polled or stored, in a few words.
    pub not_ready: Option<String>,
    /// Another process polls. This one serves pages, and is ready if the database answers.
    pub polls_elsewhere: bool,
    pub demo: bool,
    pub started_at: Time,
    /// Polls in flight.
    pub in_flight: u64,
    /// Granted polls that wait for a worker or for their domain.
    pub waiting: u64,
    /// Why our own network seems to be down, in a sentence.
    pub outage: Option<String>,
    /// Regions for which requests wait, because no terminal of them is connected.
    pub lacking_regions: Vec<String>,
    pub polls_total: u64,
    pub polls_failed_total: u64,
    pub polls_last_hour: u64,
    pub entries_total: u64,
    pub bytes_total: u64,
}

/// Totals of polls by outcome since the start, and the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PollTotals {
    pub seen: u64,
    pub unchanged: u64,
    pub failed: u64,
    pub damaged: u64,
    pub refused: u64,
    pub gone: u64,
    /// Polls after which entries may have been missed.
    pub suspected_misses: u64,
    /// `None`: no budget.
    pub budget_polls_per_hour: Option<f64>,
    pub budget_bytes_per_hour: Option<f64>,
    /// Units per hour, if the budget has a price per poll.
    pub budget_units_per_hour: Option<f64>,
    /// The work with terminals on other machines.
    pub road: RoadFigures,
}
