//! The account behind the request: its scope, its tokens, its password.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use store::{AccountError, NewToken, TokenRow, TokenScope};

use super::blocking;
use super::extract::{IdInPath, JsonBody};
use super::route::Route;
use super::schema::{answer, request};
use crate::ServerContext;
use crate::auth::{self, ClientAddress, Credentials, LoginError, Person};
use crate::v1::error::ApiError;

/// The longest name of a token.
const NAME_CHARS_MAX: usize = 100;

answer! {
    /// The account behind the request.
    Me {
        /// The account's name; null on an instance without accounts.
        name: Option<String>,
        /// The scope of this request: `read`, `write` or `admin`.
        scope: &'static str,
    }

    /// A token, without its secret.
    Token {
        /// Its number.
        id: i64,
        /// Its name.
        name: String,
        /// `read`, `write` or `admin`.
        scope: &'static str,
        /// When it was created.
        created_at: String,
        /// When it was used last, to the day.
        used_at: Option<String>,
    }

    /// An account's tokens.
    TokenList {
        /// The oldest first.
        tokens: Vec<Token>,
    }

    /// A new token.
    TokenMade {
        /// The token as it is stored.
        token: Token,
        /// The secret. It is shown only this once.
        secret: String,
    }
}

request! {
    /// A token to create.
    TokenWanted {
        /// A name to recognise it by.
        name: String,
        /// `read`, `write` or `admin`, at most the scope of this request.
        scope: String,
    }

    /// A change of the password.
    NewPassword {
        /// The current password.
        old: String,
        /// The new password.
        password: String,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/me", "Your account", me).answers::<Me>(),
        Route::get("/me/tokens", "Your tokens", tokens)
            .needs(TokenScope::Admin)
            .answers::<TokenList>(),
        Route::post("/me/tokens", "Create a token", make)
            .takes::<TokenWanted>()
            .answers_with::<TokenMade>(StatusCode::CREATED),
        Route::delete("/me/tokens/{id}", "Revoke a token", revoke),
        Route::put("/me/password", "Change your password; ends all sessions", password)
            .takes::<NewPassword>(),
    ]
}

impl From<TokenRow> for Token {
    fn from(row: TokenRow) -> Token {
        Token {
            id: row.id,
            name: row.name,
            scope: row.scope.word(),
            created_at: row.created_at.to_string(),
            used_at: row.used_at.map(|at| at.to_string()),
        }
    }
}

/// Returns the name of the account. Without accounts there is nothing to change here.
fn named(person: &Person) -> Result<String, ApiError> {
    let nobody = "there are no accounts; create one with: tidings user add NAME";
    person.name.clone().ok_or(ApiError::Forbidden(nobody))
}

async fn me(person: Person) -> Json<Me> {
    Json(Me { name: person.name, scope: person.scope.word() })
}

async fn tokens(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<TokenList>, ApiError> {
    blocking(move || {
        let rows = context.store.tokens(person.account)?.into_iter();
        Ok(Json(TokenList { tokens: rows.map(Token::from).collect() }))
    })
    .await
}

async fn make(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(new): JsonBody<TokenWanted>,
) -> Result<(StatusCode, Json<TokenMade>), ApiError> {
    let account_name = named(&person)?;
    let name = new.name.trim().to_owned();
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || name.contains(char::is_control) {
        return Err(ApiError::BadRequest(
            "the name of a token must be one line of 1 to 100 characters",
        ));
    }
    let scope = TokenScope::from_word(&new.scope);
    let scope = scope.ok_or(ApiError::BadRequest("scope must be read, write or admin"))?;
    if !person.may(scope) {
        return Err(ApiError::ScopeTooSmall(scope));
    }
    let fresh = auth::fresh().map_err(|_| {
        ApiError::Invalid("cannot create a secret now; try again in a moment".to_owned())
    })?;
    let wanted = NewToken {
        account: person.account,
        name,
        scope,
        digest: fresh.digest,
        fever_digest: auth::fever_digest(&account_name, &fresh.secret),
    };
    let now = (context.now)();
    let made = blocking(move || Ok(context.store.add_token(&wanted, now)?)).await?;
    let row = made.map_err(|why| match why {
        AccountError::Taken | AccountError::TooMany => ApiError::Conflict(why.to_string()),
        AccountError::NoAccount => ApiError::NotFound("there is no such account"),
    })?;
    let made = TokenMade { token: row.into(), secret: fresh.secret };
    Ok((StatusCode::CREATED, Json(made)))
}

async fn revoke(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<StatusCode, ApiError> {
    let revoked = blocking(move || Ok(context.store.revoke_token(person.account, id)?));
    if revoked.await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(ApiError::NotFound("you have no such token"))
    }
}

async fn password(
    State(context): State<ServerContext>,
    person: Person,
    client: ClientAddress,
    JsonBody(new): JsonBody<NewPassword>,
) -> Result<StatusCode, ApiError> {
    let name = named(&person)?;
    auth::check_password(&new.password).map_err(|why| ApiError::Invalid(why.to_string()))?;
    let (store, now) = (&context.store, (context.now)());
    // A stolen session or token must not be enough to change the password.
    let sent = Credentials { name: &name, password: &new.old, client };
    let proven = context.logins.by_password_alone(store, sent, now).await;
    proven.map_err(|why| match why {
        LoginError::Wrong => ApiError::Forbidden("the current password is wrong"),
        LoginError::Wait(_) | LoginError::Busy => {
            ApiError::RateLimited(why.retry_after().unwrap_or_default())
        }
        LoginError::Store(error) => ApiError::Store(error),
    })?;
    let store = context.store.clone();
    blocking(move || {
        let hashed = auth::hash_password(&new.password);
        let hashed = hashed.map_err(|why| ApiError::Invalid(why.to_string()))?;
        Ok(store.set_password(person.account, &hashed)?)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}
