//! HTTP: the page, our JSON API, published feeds, what machines ask of a running program, and the
//! demonstration's feeds.
//!
//! Does no slow work: every answer is some short questions to the store and a template. It makes
//! no request of its own, writes at most a row, and lets no page load anything from elsewhere.
//!
//! # Layout
//! - [`router`] and [`serve`]: the routes, and the server around them.
//! - `page`: the list of feeds and one feed; `timeline` draws its polls.
//! - `entries`, `json`: `/api/v1`, the stream of entries. `published`: queries as feeds.
//! - [`sanitise`]: what is shown of a publisher's HTML.
//! - `reader_apis`: Google Reader, miniflux and Fever, for apps that exist already.
//! - [`auth`]: who asks. `form`: what our own pages send.
//! - `probe`: health, readiness, metrics. `guard`: headers, and who may ask.
//! - [`demo`]: synthetic feeds that misbehave a little.

mod advice;
pub mod auth;
pub mod demo;
mod entries;
mod etag;
mod form;
mod guard;
mod json;
mod page;
mod probe;
mod published;
mod reader_apis;
pub mod sanitise;
mod server;
mod style;
mod timeline;
mod waiting;
mod websub;
mod words;

use std::sync::Arc;

use auth::Logins;
use axum::Router;
use axum::routing::{get, post};
use dispatch::command::{Command, Done, Refusal};
use feed::Time;
use futures_util::future::BoxFuture;
use store::Store;
use tokio::sync::Semaphore;
use url::Url;

pub use published::{Topic, at as published_at};
pub use server::serve;

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
    /// Places for open streams.
    pub streams: Arc<Semaphore>,
}

/// Carries a command out, and says what came of it.
pub type Act = Arc<dyn Fn(Command) -> BoxFuture<'static, Result<Done, Refusal>> + Send + Sync>;

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
            Box::pin(std::future::ready(Err(Refusal { message, input: false })))
        });
        let (streams, logins) = (entries::room(), Arc::new(Logins::new()?));
        Ok(Context { store, now, live, version, public_url: None, act, logins, streams })
    }
}

/// How the engine is doing; totals count from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// Polling has begun, or would if there were feeds.
    pub ready: bool,
    pub demo: bool,
    pub started_at: Time,
    /// Polls on their way.
    pub in_flight: u64,
    /// Polls granted that wait for a worker or for their domain.
    pub waiting: u64,
    /// Feeds whose time has come.
    pub due: u64,
    /// Why our own network seems to be down, in a sentence.
    pub outage: Option<String>,
    pub polls_total: u64,
    pub polls_failed_total: u64,
    pub polls_last_hour: u64,
    pub entries_total: u64,
    pub bytes_total: u64,
}

/// All routes.
pub fn router(context: Context) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/feed/{id}", get(page::feed))
        .route("/style.css", get(style::stylesheet))
        .route("/healthz", get(probe::health))
        .route("/readyz", get(probe::readiness))
        .route("/metrics", get(probe::metrics))
        .route("/api/openapi.json", get(json::description))
        .route("/api/v1/entries", get(entries::list))
        .route("/api/v1/entries/stream", get(entries::stream))
        .route("/api/v1/entries/{id}/relevance", post(entries::relevance))
        .route("/feeds/{file}", get(published::feed))
        .route("/websub/hub", post(websub::hub))
        .route("/login", get(auth::show).post(auth::enter))
        .route("/logout", post(auth::leave))
        .merge(reader_apis::routes())
        .fallback(page::missing)
        .layer(axum::middleware::from_fn_with_state(context.clone(), auth::gate))
        .with_state(context)
        .layer(axum::middleware::from_fn(guard::headers))
}

/// A time as HTTP writes it.
fn http_date(time: Time) -> String {
    words::strftime(time, "%a, %d %b %Y %H:%M:%S GMT")
}
