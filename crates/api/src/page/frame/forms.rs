//! Extractors for the forms of our pages. Each checks the scope of the visitor first, then the
//! form's key.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use store::{Digest, TokenScope};

use super::Visitor;
use crate::auth::Person;
use crate::form::SignedForm;
use crate::page::notice::notice;
use crate::{ServerContext, session};

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
            return Err(forbidden(context, visitor, TokenScope::Write));
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
        if visitor.may(TokenScope::Admin) {
            Ok(AdminForm(visitor, form))
        } else {
            Err(forbidden(context, visitor, TokenScope::Admin))
        }
    }
}

/// A form about the visitor's own account: password, sessions, tokens.
pub struct OwnForm {
    pub visitor: Visitor,
    pub form: SignedForm,
    /// The session of the browser that sent the form.
    pub session: Option<Digest>,
}

impl FromRequest<ServerContext> for OwnForm {
    type Rejection = Response;

    async fn from_request(request: Request, context: &ServerContext) -> Result<OwnForm, Response> {
        let session = session::current_session(context, request.headers());
        let WriteForm { visitor, form } = WriteForm::from_request(request, context).await?;
        if visitor.person.as_ref().is_some_and(Person::may_manage_self) {
            Ok(OwnForm { visitor, form, session })
        } else {
            Err(token_too_small())
        }
    }
}

/// A visitor who may change feeds, queries and the budget, for pages that ask for a confirmation.
pub struct AdminVisitor(pub Visitor);

impl FromRequestParts<ServerContext> for AdminVisitor {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        context: &ServerContext,
    ) -> Result<AdminVisitor, Response> {
        // This cannot fail.
        let Ok(visitor) = Visitor::from_request_parts(parts, context).await;
        if visitor.may(TokenScope::Admin) {
            Ok(AdminVisitor(visitor))
        } else {
            Err(forbidden(context, visitor, TokenScope::Admin))
        }
    }
}

/// The answer to a visitor whose role or token does not allow something.
pub fn forbidden(context: &ServerContext, visitor: Visitor, scope: TokenScope) -> Response {
    if !visitor.person.as_ref().is_some_and(|person| person.is_limited_by_role(scope)) {
        return token_too_small();
    }
    let text = "Only administrators can change this: it concerns everybody on this server. You \
                can change your own subscriptions, tags, marks and queries.";
    notice(context, visitor, StatusCode::FORBIDDEN, "Not allowed", text.to_owned())
}

fn token_too_small() -> Response {
    (StatusCode::FORBIDDEN, "This token does not allow that.\n").into_response()
}
