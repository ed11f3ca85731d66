//! The services to which the visitor sends entries.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use store::ShareKind;

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::form::SignedForm;
use crate::page::frame::WriteForm;
use crate::page::notice::{notice, store_error};
use crate::sharing::{READY, checked};
use crate::words::sentence;

const PLACE: &str = "/account#h-sharing";
const REFUSED: &str = "Could not add the service";

/// Reads the form: a ready service, or one with its own address.
fn wanted(form: &SignedForm) -> Result<store::ShareTarget, String> {
    let name = form.text("name").trim();
    if let Some(ready) = READY.iter().find(|ready| ready.name == form.text("ready")) {
        let host = form.text("host").trim().trim_end_matches('/');
        let host = host.split_once("://").map_or(host, |(_, host)| host);
        if ready.needs_host() && host.is_empty() {
            return Err(format!("name the server of your {}", ready.name));
        }
        let template = ready.template.replace("HOST", host);
        let name = if name.is_empty() { ready.name } else { name };
        return checked(name, ShareKind::Link, &template);
    }
    let kind = ShareKind::from_word(form.text("kind")).unwrap_or(ShareKind::Link);
    checked(name, kind, form.text("template"))
}

pub async fn add_service(
    State(context): State<ServerContext>,
    WriteForm { visitor, form }: WriteForm,
) -> Response {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let target = match wanted(&form) {
        Ok(target) => target,
        Err(why) => return notice(&context, visitor, status, REFUSED, sentence(&why)),
    };
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || store.add_share_target(account, &target)).await {
        Ok(Some(_)) => Redirect::to(PLACE).into_response(),
        Ok(None) => {
            let text = "You have too many services. Remove one first.".to_owned();
            notice(&context, visitor, status, REFUSED, text)
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

pub async fn remove_service(
    State(context): State<ServerContext>,
    WriteForm { visitor, form }: WriteForm,
) -> Response {
    let position = form.text("service").parse().unwrap_or(0);
    let (store, account) = (context.store.clone(), visitor.account());
    match run_blocking(move || store.remove_share_target(account, position)).await {
        Ok(_) => Redirect::to(PLACE).into_response(),
        Err(error) => store_error(&context, visitor, &error),
    }
}
