//! The pages that people read: rendered here from the store, whole and without scripts. Every
//! value is escaped by the templates; a publisher's HTML passes the sanitiser first.

mod feed;
mod index;
mod params;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use store::StoreError;

pub use feed::feed;
pub use index::index;

use crate::auth::Person;
use crate::words::{span, strftime};
use crate::{Context, Live, style};

/// What every page shows around its own matter.
pub struct Frame {
    pub style: String,
    pub version: &'static str,
    pub demo: bool,
    pub now: String,
    pub now_exact: String,
    pub outage: Option<String>,
    pub uptime: String,
    /// Who looks at it; `None` for strangers.
    pub person: Option<Person>,
}

impl Frame {
    /// The frame of a page that strangers see too.
    pub fn bare(context: &Context) -> Frame {
        Frame::new(context, &(context.live)(), None)
    }

    /// What a form on this page must carry.
    pub fn form_key(&self) -> &str {
        self.person.as_ref().and_then(|person| person.form_key.as_deref()).unwrap_or("")
    }

    fn new(context: &Context, live: &Live, person: Option<Person>) -> Frame {
        let now = (context.now)();
        Frame {
            style: style::address(),
            version: context.version,
            demo: live.demo,
            now: strftime(now, "%-d %b %Y, %H:%M"),
            now_exact: now.to_string(),
            outage: live.outage.clone(),
            uptime: span(now.since(live.started_at)),
            person,
        }
    }
}

/// What is wrong with a feed, and what that means.
pub struct Trouble {
    what: String,
    advice: &'static str,
}

#[derive(Template)]
#[template(path = "notice.html")]
struct Notice {
    frame: Frame,
    heading: &'static str,
    text: String,
}

/// Asks the store on a thread that may wait.
pub async fn ask<T: Send + 'static>(
    question: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    // Joining fails only where the runtime ends, and the store with it.
    tokio::task::spawn_blocking(question).await.unwrap_or(Err(StoreError::Closed))
}

/// Whatever is asked for and does not exist.
pub async fn missing(State(context): State<Context>, uri: Uri) -> Response {
    let asked: String = uri.path().chars().take(200).collect();
    no_such(&context, format!("There is nothing at {asked}."))
}

fn no_such(context: &Context, text: String) -> Response {
    notice(context, StatusCode::NOT_FOUND, "Not found", text)
}

pub fn failed(context: &Context, error: &StoreError) -> Response {
    tracing::warn!(%error, "a page could not be shown");
    let text = format!("The store did not answer: {error}.");
    notice(context, StatusCode::INTERNAL_SERVER_ERROR, "That did not work", text)
}

fn notice(context: &Context, status: StatusCode, heading: &'static str, text: String) -> Response {
    let frame = Frame::bare(context);
    (status, shown(&Notice { frame, heading, text })).into_response()
}

pub fn shown(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => Html(html).into_response(),
        // Templates are checked when compiled; what is left is a full memory.
        Err(error) => {
            tracing::error!(%error, "a template could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
