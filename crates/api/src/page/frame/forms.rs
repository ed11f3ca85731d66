//! Extractors for the forms of our pages. Each checks the scope of the visitor first, then the
//! form's key.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use store::TokenScope;

use super::Visitor;
use crate::ServerContext;
use crate::form::SignedForm;

/// A form from a visitor who may mark entries.
pub struct WriteForm {
    pub visitor: Visitor,
    pub form: SignedForm,
}

impl FromRequest<ServerContext> for WriteForm {
    type Rejection = Response;

    async fn from_request(
        request: Request,
        context: &ServerContext,
    ) -> Result<WriteForm, Response> {
        let (mut parts, body) = request.into_parts();
        // This cannot fail.
        let Ok(visitor) = Visitor::from_request_parts(&mut parts, context).await;
        if !visitor.may(TokenScope::Write) {
            return Err(forbidden());
        }
        let form = SignedForm::from_request(Request::from_parts(parts, body), context).await?;
        Ok(WriteForm { visitor, form })
    }
}

/// A form from a visitor who may change feeds, queries and the budget.
pub struct AdminForm(pub Visitor, pub SignedForm);

impl FromRequest<ServerContext> for AdminForm {
    type Rejection = Response;

    async fn from_request(
        request: Request,
        context: &ServerContext,
    ) -> Result<AdminForm, Response> {
        let WriteForm { visitor, form } = WriteForm::from_request(request, context).await?;
        if visitor.may(TokenScope::Admin) { Ok(AdminForm(visitor, form)) } else { Err(forbidden()) }
    }
}

fn forbidden() -> Response {
    (StatusCode::FORBIDDEN, "This token does not allow that.\n").into_response()
}
