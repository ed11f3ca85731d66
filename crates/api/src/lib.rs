//! HTTP: the page, our JSON API, published feeds, and what machines ask of a running program.
//!
//! Does no slow work: every answer is some short questions to the store and a template. The only
//! requests it makes are for pictures of a page that somebody reads (`image`). It writes at most a
//! row, and lets no page load anything from elsewhere.
//!
//! # Layout
//! - [`router`] and [`serve`]: the routes, and the server around them.
//! - `page`: the pages that people read. `form`: the forms on them.
//! - `v1`: `/api/v1`, our JSON API. `published`: queries as feeds.
//! - [`search`]: finds entries by a typed text.
//! - `websub`: our hub, and where other hubs reach us.
//! - [`sanitise`]: what is shown of a publisher's HTML.
//! - `reader_apis`: Google Reader, miniflux and Fever, for apps that exist already.
//! - [`auth`]: who asks.
//! - `image`: pictures of entries, fetched on the reader's behalf.
//! - `probe`: health and readiness. `metrics`: figures for machines; `exposition` is their format.
//! - [`what_if`]: replays of the own history with other rules, a background job.
//! - `paths`: one spelling of a path. `pairs`: forms and parameters, up to a limit.
//! - `guard`: headers, and who may ask. `traffic` counts what is asked.

pub mod auth;
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
pub use published::{Topic, at as published_at, is_published};
pub use v1::listed as api_routes;
pub use v1::rate_limit::RateLimits;
pub use words::plural;

/// What the page needs of the program around it.
#[derive(Clone)]
pub struct Context {
    pub store: Store,
    pub now: Arc<dyn Fn() -> Time + Send + Sync>,
    /// The engine's figures at this moment; must not wait.
    pub live: Arc<dyn Fn() -> Live + Send + Sync>,
    pub version: &'static str,
    /// Under which address others reach us; without it, the one under which we are asked.
    pub public_url: Option<Url>,
    /// Carries out what people ask for beyond a row of their own.
    pub act: Act,
    pub logins: Arc<Logins>,
    /// Whose word on a client's address is taken.
    pub proxies: Arc<Proxies>,
    /// Only this machine reaches us. Otherwise nobody is let in without an account.
    pub loopback: bool,
    /// Places for open streams.
    pub streams: Arc<Semaphore>,
    /// Places for pushes that are being read.
    pub pushes: Arc<Semaphore>,
    /// Through which pages show pictures; without it they show none.
    pub images: Option<Arc<Images>>,
    /// What the engine's polls came to; must not wait.
    pub spent: Arc<dyn Fn() -> Spent + Send + Sync>,
    /// What was asked of this server.
    pub traffic: Arc<Traffic>,
    /// How often one may ask the API.
    pub rates: Arc<RateLimits>,
    /// The budget in force as it is written; must not wait long.
    pub rule: Arc<dyn Fn() -> Option<String> + Send + Sync>,
    /// What other rules would have done, where somebody can tell.
    pub what_if: ReplayJob,
    /// Published feeds as they were rendered last.
    pub published: Arc<published::FeedCache>,
}

/// Carries a command out, and says what came of it.
pub type Act =
    Arc<dyn Fn(Command) -> BoxFuture<'static, Result<CommandResult, CommandRefusal>> + Send + Sync>;

impl Context {
    /// A context that carries nothing out.
    pub fn new(
        store: Store,
        now: Arc<dyn Fn() -> Time + Send + Sync>,
        live: Arc<dyn Fn() -> Live + Send + Sync>,
        version: &'static str,
    ) -> Result<Context, getrandom::Error> {
        let act: Act = Arc::new(|_| {
            let message = "nobody is here who could do that".to_owned();
            Box::pin(std::future::ready(Err(CommandRefusal { message, input: false })))
        });
        let (streams, logins) = (v1::stream_limit(), Arc::new(Logins::new()?));
        Ok(Context {
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
            spent: Arc::new(Spent::default),
            traffic: Arc::default(),
            rates: Arc::default(),
            rule: Arc::new(|| None),
            what_if: ReplayJob::default(),
            published: Arc::default(),
        })
    }
}

/// How the engine is doing; totals count from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// Why nothing is polled or nothing can be kept, in a few words.
    pub not_ready: Option<String>,
    pub demo: bool,
    pub started_at: Time,
    /// Polls on their way.
    pub in_flight: u64,
    /// Polls granted that wait for a worker or for their domain.
    pub waiting: u64,
    /// Why our own network seems to be down, in a sentence.
    pub outage: Option<String>,
    pub polls_total: u64,
    pub polls_failed_total: u64,
    pub polls_last_hour: u64,
    pub entries_total: u64,
    pub bytes_total: u64,
}

/// What polls came to since the start, and what the budget allows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub seen: u64,
    pub unchanged: u64,
    pub failed: u64,
    pub damaged: u64,
    pub refused: u64,
    pub gone: u64,
    /// Polls after which entries may have slipped by.
    pub suspected_misses: u64,
    /// `None`: no budget.
    pub budget_polls_per_hour: Option<f64>,
    pub budget_bytes_per_hour: Option<f64>,
}

/// All routes.
pub fn router(context: Context) -> Router {
    let count =
        axum::middleware::from_fn_with_state(Arc::clone(&context.traffic), http::traffic::count);
    let callback = get(websub::callback::confirm)
        .post(websub::callback::receive)
        .layer(DefaultBodyLimit::max(websub::callback::BODY_BYTES_MAX))
        .layer(axum::middleware::from_fn_with_state(context.clone(), websub::callback::known));
    let hub = post(websub::hub).layer(DefaultBodyLimit::max(http::pairs::STRANGER_BYTES_MAX));
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
        .layer(axum::middleware::from_fn(http::guard::run_to_end))
        .layer(axum::middleware::from_fn_with_state(context.clone(), gate::gate))
        .with_state(context);
    // Layers of a router run after it has chosen a route, so the path is made plain around it.
    Router::new()
        .fallback_service(routes)
        .layer(axum::middleware::map_request(http::paths::plain))
        .layer(axum::middleware::from_fn(http::guard::headers))
        .layer(count)
}
