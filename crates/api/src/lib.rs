//! HTTP: the page, our JSON API, the APIs of reader apps, published feeds, WebSub and monitoring.
//!
//! Takes a [`ServerContext`] and returns a router. Routes do no slow work: an answer is a few short
//! store queries and a template. The only requests that leave are for pictures of a page that
//! somebody reads (`image`). A route writes at most rows of its own account; everything else is a
//! command for the engine. Pages load nothing from other sites.
//!
//! # Layout
//! - `http`: the server, headers, paths, forms, ETags. `gate`: checks access before every route.
//! - [`auth`]: accounts, sessions, tokens, passwords. `login`: the login page.
//! - `page`: the pages that people read. `form`: the forms on them. [`search`]: finds entries.
//! - `v1`: `/api/v1`, our JSON API. `reader_apis`: Google Reader, miniflux and Fever.
//! - `published`: queries as feeds. `websub`, `rsscloud`: our hub and cloud, and callbacks
//!   of others.
//! - [`sanitise`]: safe HTML of entries. `image`: a proxy for their pictures.
//! - `monitoring`: probes and metrics. [`what_if`]: replays of the own history.
//! - `behaviour`: how a feed posts, for its page and the API.

pub mod auth;
mod behaviour;
mod blocking;
mod form;
mod gate;
mod http;
mod image;
mod login;
mod monitoring;
mod page;
mod published;
mod reader_apis;
mod rsscloud;
pub mod sanitise;
pub mod search;
mod v1;
mod websub;
pub mod what_if;
mod words;
mod zone;

use std::sync::Arc;

use auth::{Logins, Proxies};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use dispatch::command::{Command, CommandRefusal, CommandResult};
use feed::Time;
use futures_util::future::BoxFuture;
use store::Store;
use tokio::sync::Semaphore;
use url::Url;
use what_if::ReplayJob;

pub use http::server::{PeerAddress, serve};
pub use http::traffic::Traffic;
pub use image::{FetchPicture, Images, ImagesError};
pub use published::{TopicDocument, at as published_at, is_published};
pub use v1::listed as api_routes;
pub use v1::rate_limit::RateLimits;
pub use words::plural;

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
    /// The cache of published feeds.
    pub published: Arc<published::FeedCache>,
}

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
        let (streams, logins) = (v1::stream_limit(), Arc::new(Logins::new()?));
        Ok(ServerContext {
            store,
            now,
            live,
            version,
            public_url: None,
            act,
            logins,
            proxies: Arc::default(),
            loopback: true,
            streams,
            pushes: Arc::new(Semaphore::new(websub::callback::PLACES)),
            images: None,
            spent: Arc::new(PollTotals::default),
            traffic: Arc::default(),
            rates: Arc::default(),
            rule: Arc::new(|| None),
            what_if: ReplayJob::default(),
            published: Arc::default(),
        })
    }
}

/// The state of the engine. Totals count from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineState {
    /// Why nothing is polled or stored, in a few words.
    pub not_ready: Option<String>,
    pub demo: bool,
    pub started_at: Time,
    /// Polls in flight.
    pub in_flight: u64,
    /// Granted polls that wait for a worker or for their domain.
    pub waiting: u64,
    /// Why our own network seems to be down, in a sentence.
    pub outage: Option<String>,
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
}

/// Returns the router with all routes.
pub fn router(context: ServerContext) -> Router {
    let count =
        axum::middleware::from_fn_with_state(Arc::clone(&context.traffic), http::traffic::count);
    let callback = get(websub::callback::confirm)
        .post(websub::callback::receive)
        .layer(DefaultBodyLimit::max(websub::callback::BODY_BYTES_MAX))
        .layer(axum::middleware::from_fn_with_state(context.clone(), websub::callback::known));
    let hub = post(websub::hub).layer(DefaultBodyLimit::max(http::pairs::STRANGER_BYTES_MAX));
    let strangers = DefaultBodyLimit::max(http::pairs::STRANGER_BYTES_MAX);
    let cloud_callback = get(rsscloud::confirm).post(rsscloud::notice).layer(strangers);
    let routes = Router::new()
        .merge(page::routes(&context))
        .route("/image", get(image::image))
        .route("/healthz", get(monitoring::probe::health))
        .route("/readyz", get(monitoring::probe::readiness))
        .route("/metrics", get(monitoring::metrics::metrics))
        .merge(v1::router(&context))
        .route("/feeds/{file}", get(published::feed))
        .route("/websub/hub", hub)
        .route("/login", get(login::show).post(login::enter))
        .route("/logout", post(login::leave))
        .merge(reader_apis::routes())
        .route("/websub/callback/{token}", callback)
        .route("/rsscloud/pleaseNotify", post(rsscloud::please_notify).layer(strangers))
        .route("/rsscloud/callback/{token}", cloud_callback)
        .layer(axum::middleware::from_fn(http::guard::run_to_end))
        .layer(axum::middleware::from_fn_with_state(context.clone(), gate::gate))
        .with_state(context);
    // Layers of a router run after it has chosen a route, so an outer router changes the path.
    Router::new()
        .fallback_service(routes)
        .layer(axum::middleware::map_request(http::paths::plain))
        .layer(axum::middleware::from_fn(http::guard::headers))
        .layer(count)
}
