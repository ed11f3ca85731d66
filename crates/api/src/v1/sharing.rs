//! The services to which a person sends entries.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use dispatch::command::Command;
use feed::EntryId;
use store::{ShareKind, ShareTarget, TokenScope};

use super::extract::{IdInPath, JsonBody};
use super::route::Route;
use super::schema::{answer, request};
use super::{act, blocking};
use crate::ServerContext;
use crate::auth::Person;
use crate::sharing::{checked, without_secrets};
use crate::v1::error::ApiError;

answer! {
    /// A service to which you send entries.
    ShareService {
        /// Its number.
        id: i64,
        /// Its name.
        name: String,
        /// `link` (your browser opens it) or `webhook` (the server posts the entry).
        kind: &'static str,
        /// The template of the link, or the address of the webhook.
        template: String,
        /// The key that signs requests to the webhook. A token with the scope `read` gets none.
        signing_key: Option<String>,
    }

    /// Your services.
    ShareServices {
        /// In the order in which they were added.
        services: Vec<ShareService>,
    }
}

request! {
    /// A service to add.
    NewShareService {
        /// Its name.
        name: String,
        /// `link` or `webhook`.
        kind: String,
        /// For a link an address with `{url}` and perhaps `{title}`; for a webhook its address.
        template: String,
    }

    /// The webhook to which an entry is sent.
    ShareRequest {
        /// The number of the service.
        service: i64,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/me/services", "The services to which you send entries", list)
            .own()
            .answers::<ShareServices>(),
        Route::post("/me/services", "Add a service", add)
            .needs(TokenScope::Write)
            .own()
            .takes::<NewShareService>()
            .answers_with::<ShareServices>(StatusCode::CREATED),
        Route::delete("/me/services/{id}", "Remove a service", remove)
            .needs(TokenScope::Write)
            .own(),
        Route::post("/entries/{id}/share", "Send an entry to one of your webhooks", share)
            .needs(TokenScope::Write)
            .own()
            .takes::<ShareRequest>(),
    ]
}

impl ShareService {
    /// Returns a service, with its secrets only if the caller may change it.
    fn new(target: ShareTarget, with_secrets: bool) -> ShareService {
        let target = if with_secrets { target } else { without_secrets(target) };
        let is_webhook = target.kind == ShareKind::Webhook && with_secrets;
        ShareService {
            id: target.position,
            name: target.name,
            kind: target.kind.word(),
            template: target.template,
            signing_key: is_webhook.then_some(target.signing_key),
        }
    }
}

async fn services(context: ServerContext, person: &Person) -> Result<ShareServices, ApiError> {
    let (account, with_secrets) = (person.account, person.own_scope >= TokenScope::Write);
    blocking(move || {
        let rows = context.store.share_targets(account)?.into_iter();
        let services = rows.map(|row| ShareService::new(row, with_secrets)).collect();
        Ok(ShareServices { services })
    })
    .await
}

async fn list(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<ShareServices>, ApiError> {
    services(context, &person).await.map(Json)
}

async fn add(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(new): JsonBody<NewShareService>,
) -> Result<(StatusCode, Json<ShareServices>), ApiError> {
    let kind = ShareKind::from_word(&new.kind);
    let kind = kind.ok_or(ApiError::BadRequest("kind must be link or webhook"))?;
    let target = checked(&new.name, kind, &new.template).map_err(ApiError::Invalid)?;
    let (store, account) = (context.store.clone(), person.account);
    let added = blocking(move || Ok(store.add_share_target(account, &target)?)).await?;
    if added.is_none() {
        return Err(ApiError::Conflict("you have too many services; remove one".to_owned()));
    }
    Ok((StatusCode::CREATED, Json(services(context, &person).await?)))
}

async fn remove(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<StatusCode, ApiError> {
    let removed = blocking(move || Ok(context.store.remove_share_target(person.account, id)?));
    match removed.await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::NotFound("the service does not exist or is not yours")),
    }
}

async fn share(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(entry): IdInPath,
    JsonBody(sent): JsonBody<ShareRequest>,
) -> Result<StatusCode, ApiError> {
    let (store, reader) = (context.store.clone(), person.account);
    let entries = [EntryId(entry)];
    if blocking(move || Ok(store.visible_entries(reader, &entries)?)).await?.is_empty() {
        return Err(ApiError::NotFound("the entry does not exist"));
    }
    let (account, position) = (person.account.0, sent.service);
    act(&context, Command::Share { account, position, entry }).await?;
    Ok(StatusCode::NO_CONTENT)
}
