//! The pages that people read. Each is rendered on the server and works without scripts.
//!
//! The templates escape every value; a publisher's HTML passes the sanitiser first. A page reads
//! the store and sends commands to the engine. It decides nothing itself.
//!
//! # Layout
//! - `frame`: the parts around every page: visitor, navigation, theme, choices, form extractors.
//! - `notice`: pages with one message, such as "Not found".
//! - `parts`: parts that several pages show.
//! - `read`: lists of entries, single entries, read marks and stars.
//! - `feeds`: the table of feeds, adding, import and export. `feed`: the page of one feed.
//! - `queries`, `budget`, `lab`, `health`, `account`: the other pages of the navigation.
//! - `params`: numbers in the query string of a page.

mod account;
mod budget;
mod feed;
mod feeds;
mod frame;
mod health;
mod lab;
mod notice;
mod params;
mod parts;
mod queries;
mod read;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

pub use frame::{Frame, Visitor};
pub use notice::{render, store_error};

use crate::ServerContext;
use frame::{assets, choices, theme};

/// Returns the routes of all pages.
pub fn routes(context: &ServerContext) -> Router<ServerContext> {
    Router::new()
        .route("/", get(read::list))
        .route("/fold", get(read::fold))
        .route("/entry/{id}", get(read::entry))
        .route("/marks", post(read::mark))
        .route("/marks/all", post(read::mark_all))
        .route("/marks/undo", post(read::undo))
        .route("/news", get(read::live_updates))
        .route("/feeds", get(feeds::list).post(feeds::add))
        .route("/import", post(feeds::import))
        .route("/export.opml", get(feeds::export))
        .route("/feed/{id}", get(feed::feed))
        .route("/feed/{id}/remove", get(feed::confirm_remove).post(feed::remove))
        .route("/feed/{id}/{act}", post(feed::change))
        .route("/queries", get(queries::list).post(queries::save))
        .route("/queries/new", get(queries::new))
        .route("/queries/preview", post(queries::preview))
        .route("/query/{name}", get(queries::edit))
        .route("/query/{name}/drop", get(queries::confirm_drop).post(queries::drop_query))
        .route("/query/{name}/replay", post(queries::replay))
        .route("/budget", get(budget::budget).post(budget::set))
        .route("/what-if", post(budget::replay))
        .route("/lab", get(lab::list))
        .route("/lab/{name}", get(lab::report))
        .route("/lab/{name}/{file}", get(lab::figure))
        .route("/health", get(health::health))
        .route("/account", get(account::account))
        .route("/account/password", post(account::change_password))
        .route("/account/tokens", post(account::make_token))
        .route("/account/tokens/revoke", post(account::revoke_token))
        .route("/light", post(theme::choose))
        .route("/choices", post(choices::choose))
        .route("/style.css", get(assets::style))
        .route("/script.js", get(assets::script))
        .route("/icon.svg", get(assets::icon))
        .fallback(notice::missing)
        .layer(from_fn_with_state(context.clone(), choices::look_up))
}
