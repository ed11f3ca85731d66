//! `ClientLogin`, and the questions of a client about its account.

use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use store::{AccountId, SessionOrigin};

use super::GoogleRequest;
use super::stream::{label, state};
use crate::auth::{ClientAddress, Credentials, Person};
use crate::own_order::sort_ids;
use crate::reader_apis::error::{InText, ReaderApiError};
use crate::reader_apis::identify;
use crate::reader_apis::params::{AppParams, ParamLimits};
use crate::{ServerContext, session};

/// The life of a session: apps store it and ask for the password when it ends.
const LASTS: Duration = Duration::from_secs(365 * 86_400);
/// The secret of an instance without accounts.
const OPEN: &str = "open";

/// Exchanges name and password for a secret that the app sends with every request. A token stays
/// its own secret, because a session would have more rights than the token.
pub async fn client_login(State(context): State<ServerContext>, request: Request) -> Response {
    let open = request.extensions().get::<Person>().is_some_and(|person| person.name.is_none());
    let client = identify::client(&request);
    let origin = session::origin(request.headers(), client);
    let params = match AppParams::read(request, ParamLimits::STRANGER).await {
        Ok(params) => params,
        Err(trouble) => return InText(trouble).into_response(),
    };
    let secret =
        if open { Ok(OPEN.to_owned()) } else { prove(&context, &params, client, origin).await };
    match secret {
        Ok(auth) if params.text("output") == Some("json") => {
            Json(json!({"SID": auth, "LSID": auth, "Auth": auth})).into_response()
        }
        Ok(auth) => format!("SID={auth}\nLSID={auth}\nAuth={auth}\n").into_response(),
        Err(ReaderApiError::Unauthenticated) => {
            (StatusCode::FORBIDDEN, "Error=BadAuthentication\n").into_response()
        }
        Err(trouble) => InText(trouble).into_response(),
    }
}

async fn prove(
    context: &ServerContext,
    params: &AppParams,
    client: ClientAddress,
    origin: SessionOrigin,
) -> Result<String, ReaderApiError> {
    let (logins, store, now) = (&context.logins, &context.store, (context.now)());
    // In the body only: addresses end up in the logs of proxies.
    let (name, password) = (params.in_body("Email"), params.in_body("Passwd"));
    let (name, password) = name.zip(password).ok_or(ReaderApiError::Unauthenticated)?;
    let sent = Credentials { name, password, client };
    let person = logins.by_password(store, sent, now).await?;
    if logins.by_token(store, password, now).await?.is_some() {
        return Ok(password.to_owned());
    }
    Ok(logins.begin(store, person.account, origin, now, LASTS).await?)
}

/// Returns the value that a client sends as `T`. It is the secret itself: the client has it
/// already, and some apps send nothing else.
pub async fn token(request: GoogleRequest) -> String {
    if request.secret.is_empty() { OPEN.to_owned() } else { request.secret }
}

pub async fn user_info(request: GoogleRequest) -> Response {
    let id = request.person.account.to_string();
    let name = request.person.name.unwrap_or_else(|| "local".to_owned());
    Json(json!({
        "userId": id,
        "userName": name,
        "userProfileId": id,
        "userEmail": "",
        "isBloggerUser": false,
        "signupTimeSec": 0,
    }))
    .into_response()
}

/// Answers with an empty list: there are no preferences.
pub async fn preferences(_: GoogleRequest) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], "{\"prefs\":[]}")
}

/// Answers with the order of folders and feeds. Without accounts there is none.
pub async fn stream_preferences(request: GoogleRequest) -> Result<Response, InText> {
    let orders = request.with_store(|store, request| match request.person.account {
        AccountId::LOCAL => Ok(Vec::new()),
        account => Ok(sort_ids(store, account)?),
    });
    let mut streams = serde_json::Map::new();
    for (tag, value) in orders.await? {
        let stream = tag.map_or_else(|| state("root"), |tag| label(&tag));
        streams.insert(stream, json!([{"id": "subscription-ordering", "value": value}]));
    }
    Ok(Json(json!({"streamprefs": streams})).into_response())
}
