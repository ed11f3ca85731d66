//! The pages that people read. Each is rendered on the server and works without scripts.
//!
//! The templates escape every value; a publisher's HTML passes the sanitiser first. A page reads
//! the store and sends commands to the engine. It decides nothing itself.
//!
//! # Layout
//! - `frame`: the parts around every page: visitor, navigation, theme, choices, form extractors.
//! - `notice`: pages with one message, such as "Not found". `icon`: icons of feeds.
//! - `parts`: parts that several pages show.
//! - `read`: lists of entries, single entries, read marks and stars.
//! - `app`: the page as an app on a phone: service worker, entries and marks without a network.
//! - `play`: the player of recordings, with a policy of its own.
//! - `feeds`: the table of feeds, adding, import and export. `feed`: the page of one feed.
//! - `tags`: the order and the names of tags.
//! - `queries`, `budget`, `lab`, `health`, `account`: the other pages of the navigation.
//! - `rules`, `labels`: the rules of the visitor, and the labels of entries.
//! - `population`: the figures of all feeds together.
//! - `people`: the accounts, for administrators.
//! - `discover`: suggested and popular feeds. `statistics`: what the visitor opens, and all people.
//! - `machines`: the processes of the instance, below `health`.
//! - `params`: numbers in the query string of a page.

mod account;
mod app;
mod budget;
mod discover;
mod feed;
mod feeds;
mod frame;
mod health;
pub mod icon;
mod lab;
mod labels;
mod machines;
mod notice;
mod params;
mod parts;
mod people;
mod play;
mod population;
mod queries;
mod read;
mod rules;
mod statistics;
mod tags;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

pub use frame::choices::ARTICLES_IN_APPS;
pub use frame::{Frame, OwnForm, Visitor};
pub use health::free_bytes;
pub use notice::{notice, render, store_error};

use crate::ServerContext;
use frame::{assets, choices, theme};

/// Returns the routes of all pages.
pub fn routes(context: &ServerContext) -> Router<ServerContext> {
    Router::new()
        .route("/", get(read::list))
        .route("/fold", get(read::fold))
        .route("/entry/{id}", get(read::entry))
        .route("/entry/{id}/article", post(read::load_article))
        .route("/entry/{id}/send", post(read::send))
        .route("/play/{id}", get(play::play))
        .route("/play/{id}/position", post(play::keep_position))
        .route("/play/{id}/chapters", get(play::chapter_list))
        .route("/play/{id}/transcript", get(play::transcript))
        .route("/play/{id}/captions", get(play::captions))
        .route("/icons/{feed}", get(icon::of_feed))
        .route("/icon/{hash}", get(icon::picture))
        .route("/marks", post(read::mark))
        .route("/marks/all", post(read::mark_all))
        .route("/marks/undo", post(read::undo))
        .route("/news", get(read::live_updates))
        .route("/feeds", get(feeds::list).post(feeds::add))
        .route("/import", post(feeds::import))
        .route("/feed/{id}", get(feed::feed))
        .route("/feed/{id}/remove", get(feed::confirm_remove).post(feed::remove))
        .route("/feed/{id}/requests", post(feed::requests::change))
        .route("/feed/{id}/{act}", post(feed::change))
        .route("/feed/{id}/document/{version}", get(feed::download))
        .route("/queries", get(queries::list).post(queries::save))
        .route("/queries/new", get(queries::new))
        .route("/queries/preview", post(queries::preview))
        .route("/query/{name}", get(queries::edit))
        .route("/query/{name}/drop", get(queries::confirm_drop).post(queries::drop_query))
        .route("/query/{name}/replay", post(queries::replay))
        .route("/query/{name}/share", post(queries::share))
        .route("/budget", get(budget::budget).post(budget::set))
        .route("/what-if", post(budget::replay))
        .route("/lab", get(lab::list))
        .route("/lab/{name}", get(lab::report))
        .route("/lab/{name}/{file}", get(lab::figure))
        .route("/population", get(population::show).post(population::calculate))
        .route("/population/figure/{file}", get(population::figure))
        .route("/population/{month}/{file}", get(population::file))
        .route("/health", get(health::health))
        .route("/machines", get(machines::machines))
        .route("/machines/step-down", post(machines::step_down))
        .route("/machines/{name}/drain", post(machines::drain))
        .route("/light", post(theme::choose))
        .route("/choices", post(choices::choose))
        .route("/style.css", get(assets::style))
        .route("/script.js", get(assets::script))
        .route("/player.js", get(assets::player))
        .route("/icon.svg", get(assets::icon))
        .merge(bulk_routes())
        .merge(rule_routes())
        .merge(statistics_routes())
        .merge(people_routes())
        .merge(app_routes())
        .fallback(notice::missing)
        .layer(from_fn_with_state(context.clone(), choices::look_up))
}

/// Returns the routes of accounts.
fn people_routes() -> Router<ServerContext> {
    Router::new()
        .route("/account", get(account::account))
        .route("/account/password", post(account::change_password))
        .route("/account/sessions/end", post(account::end_session))
        .route("/account/sessions/end-others", post(account::end_others))
        .route("/account/sharing", post(account::add_service))
        .route("/account/sharing/remove", post(account::remove_service))
        .route("/account/export.json", get(account::export))
        .route("/account/delete", get(account::confirm_delete).post(account::delete))
        .route("/people", get(people::list))
        .route("/people/{id}/role", post(people::set_role))
        .route("/people/{id}/remove", get(people::confirm_remove).post(people::remove))
        .route("/account/devices", post(account::add_device))
        .route("/account/devices/remove", post(account::remove_device))
        .route("/account/tokens", post(account::make_token))
        .route("/account/tokens/revoke", post(account::revoke_token))
}

/// Returns the routes for many feeds at once and for tags.
fn bulk_routes() -> Router<ServerContext> {
    Router::new()
        .route("/export.opml", get(feeds::export))
        .route("/bulk", post(feeds::bulk::change))
        .route("/bulk/undo", post(feeds::bulk::undo))
        .route(tags::PATH, get(tags::list).post(tags::change))
        .route("/tags/order", post(tags::order))
        .route(feeds::order::PATH, get(feeds::order::list).post(feeds::order::change))
        .route("/feed-order/all", post(feeds::order::set))
}

/// Returns the routes of rules and labels.
fn rule_routes() -> Router<ServerContext> {
    Router::new()
        .route("/rules", get(rules::list).post(rules::save))
        .route("/rules/new", get(rules::new))
        .route("/rules/try", post(rules::try_out))
        .route("/rules/mute", post(rules::mute))
        .route("/rules/hidden/show", post(rules::show_hidden))
        .route("/rule/{name}", get(rules::edit))
        .route("/rule/{name}/{act}", post(rules::change))
        .route("/labels", post(labels::label))
        .route("/labels/delete", post(labels::delete))
}

/// Returns the routes of statistics and suggestions.
fn statistics_routes() -> Router<ServerContext> {
    Router::new()
        .route("/discover", get(discover::discover))
        .route("/discover/dismiss", post(discover::dismiss))
        .route("/discover/restore", post(discover::restore))
        .route("/statistics", get(statistics::own))
        .route("/people/statistics", get(statistics::of_instance))
}

/// Returns the routes of the page as an app.
fn app_routes() -> Router<ServerContext> {
    Router::new()
        .route("/app.js", get(assets::app))
        .route("/manifest.webmanifest", get(app::manifest))
        .route("/service-worker.js", get(app::worker))
        .route("/icons/app/{file}", get(app::icon))
        .route("/offline", get(app::offline))
        .route("/offline.js", get(assets::offline_script))
        .route("/offline/entries", get(app::entries))
        .route("/offline/marks", post(app::marks))
}
