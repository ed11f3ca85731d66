//! All routes, and the layers around them: access, headers, paths, counts of requests.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

use crate::{
    ServerContext, gate, http, image, login, media_proxy, monitoring, page, published, reader_apis,
    rsscloud, v1, websub,
};

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
        .route("/media", get(media_proxy::media))
        .route("/healthz", get(monitoring::probe::health))
        .route("/readyz", get(monitoring::probe::readiness))
        .route("/metrics", get(monitoring::metrics::metrics))
        .merge(v1::router(&context))
        .route("/feeds/{file}", get(published::feed))
        .route("/websub/hub", hub)
        .route("/login", get(login::show).post(login::enter))
        .route("/login/provider", get(login::provider::leave))
        .route("/login/provider/back", get(login::provider::back))
        .route("/account/connect", post(login::provider::connect))
        .route("/account/disconnect", post(login::provider::disconnect))
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
