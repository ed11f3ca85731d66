//! Google Reader's API as its clients know it: `/accounts/ClientLogin`, `/reader/api/0/…` and
//! `/reader/atom/…`. Feeds are `feed/NUMBER` (an address works too), tags are labels, and a query
//! is the label `query:NAME`. Single entries have labels of a person too. Nothing is shared.

mod atom;
mod item;
mod item_id;
mod login;
mod marks;
mod stream;
mod subscription;
mod tag;

use axum::Router;
use axum::extract::{FromRequest, Request};
use axum::routing::{any, get, post};
use store::{Store, TokenScope};

use super::error::{InText, ReaderApiError};
use super::params::{AppParams, ParamLimits};
use super::{blocking, identify};
use crate::auth::Person;
use crate::{ServerContext, session};

pub fn routes() -> Router<ServerContext> {
    let api = Router::new()
        .route("/token", get(login::token))
        .route("/user-info", get(login::user_info))
        .route("/preference/list", get(login::preferences))
        .route("/preference/stream/list", get(login::stream_preferences))
        .route("/subscription/list", get(subscription::list))
        .route("/subscription/edit", post(subscription::edit))
        .route("/subscription/quickadd", post(subscription::quick_add))
        .route("/subscription/export", get(subscription::export))
        .route("/subscription/import", post(subscription::import))
        .route("/subscribed", get(subscription::subscribed))
        .route("/tag/list", get(tag::list))
        .route("/rename-tag", post(tag::rename))
        .route("/disable-tag", post(tag::disable))
        .route("/unread-count", get(tag::unread_count))
        .route("/stream/contents", get(item::all_contents))
        .route("/stream/contents/{*stream}", get(item::contents))
        .route("/stream/items/ids", get(item::ids))
        .route("/stream/items/count", get(item::count))
        .route("/stream/items/contents", get(item::by_ids).post(item::by_ids))
        .route("/edit-tag", post(marks::edit_tag))
        .route("/mark-all-as-read", post(marks::all_as_read))
        .route("/{*elsewhere}", any(missing));
    let all = Router::new()
        .route("/accounts/ClientLogin", post(login::client_login))
        .route("/reader/atom/{*stream}", get(atom::feed))
        .nest("/reader/api/0", api);
    // Apps for FreshRSS use only this prefix.
    all.clone().nest("/api/greader.php", all)
}

/// Answers an unknown path with a line of text, which apps can read.
async fn missing() -> InText {
    ReaderApiError::Missing(
        "this part of Google Reader's API is not supported; \
         see docs/reference/reader-apis.md",
    )
    .into()
}

/// A request of a known account.
struct GoogleRequest {
    context: ServerContext,
    person: Person,
    params: AppParams,
    /// The secret of the request; empty on an instance without accounts.
    secret: String,
}

impl FromRequest<ServerContext> for GoogleRequest {
    type Rejection = InText;

    async fn from_request(
        request: Request,
        context: &ServerContext,
    ) -> Result<GoogleRequest, InText> {
        // A secret in a header is checked before the body is read.
        let secret = identify::google_secret(request.headers()).map(str::to_owned);
        let origin = Some(session::origin(request.headers(), identify::client(&request)));
        let known = match (identify::admitted(&request), secret) {
            (Some(person), _) => Some((person, String::new())),
            (None, Some(secret)) => {
                Some((identify::by_secret(context, &secret, origin.clone()).await?, secret))
            }
            (None, None) => None,
        };
        let limits = if known.is_some() { ParamLimits::KNOWN } else { ParamLimits::PROOF_IN_BODY };
        let params = AppParams::read(request, limits).await?;
        let (person, secret) = match known {
            Some(known) => known,
            // Liferea sends its secret only in the body.
            None => {
                let secret = params.in_body("T").unwrap_or_default().to_owned();
                (identify::by_secret(context, &secret, origin).await?, secret)
            }
        };
        Ok(GoogleRequest { context: context.clone(), person, params, secret })
    }
}

impl GoogleRequest {
    fn needs(&self, scope: TokenScope) -> Result<(), ReaderApiError> {
        identify::needs(&self.person, scope)
    }

    /// Runs a store query for this request.
    async fn with_store<T: Send + 'static>(
        self,
        work: impl FnOnce(&Store, &GoogleRequest) -> Result<T, ReaderApiError> + Send + 'static,
    ) -> Result<T, ReaderApiError> {
        blocking(move || work(&self.context.store, &self)).await
    }
}
