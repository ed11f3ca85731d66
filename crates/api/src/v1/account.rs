//! The account behind the request: its scope, its tokens, its sessions, its password.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use store::{AccountError, NewToken, SessionNumber, TokenRow, TokenScope};

use super::blocking;
use super::extract::{IdInPath, JsonBody, NameInPath};
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
        /// The scope of this request: `read`, `write` or `admin`. A reader has at most `write`.
        scope: &'static str,
        /// `admin` or `reader`.
        role: &'static str,
    }

    /// A device that is logged in.
    LoginSession {
        /// Its number, by which it can be ended. Nobody can log in with it.
        number: String,
        /// Its program and system, as far as the User-Agent names them.
        device: String,
        /// The address at its last use; an IPv6 address without its last half.
        address: String,
        /// The login.
        created_at: String,
        /// The last use, to the hour.
        seen_at: String,
        /// When it ends by itself.
        expires_at: String,
    }

    /// The devices that are logged in.
    LoginSessionList {
        /// The last used first.
        sessions: Vec<LoginSession>,
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

    /// Confirms that the account should be deleted: the password, or the name of an account that
    /// has no password.
    AccountDeletion {
        /// The current password.
        password: Option<String>,
        /// The name of the account, if it cannot log in with a password.
        name: Option<String>,
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
        Route::delete("/me", "Delete your account", leave).own().takes::<AccountDeletion>(),
        Route::get("/me/tokens", "Your tokens", tokens)
            .needs(TokenScope::Admin)
            .own()
            .answers::<TokenList>(),
        Route::post("/me/tokens", "Create a token", make)
            .own()
            .takes::<TokenWanted>()
            .answers_with::<TokenMade>(StatusCode::CREATED),
        Route::delete("/me/tokens/{id}", "Revoke a token", revoke).own(),
        Route::get("/me/sessions", "Your devices that are logged in", sessions)
            .needs(TokenScope::Admin)
            .own()
            .answers::<LoginSessionList>(),
        Route::delete("/me/sessions/{name}", "Log out a device by its number", end_session).own(),
        Route::put("/me/password", "Change your password; ends all sessions", password)
            .own()
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
    Json(Me { name: person.name, scope: person.scope.word(), role: person.role.word() })
}

async fn sessions(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<LoginSessionList>, ApiError> {
    blocking(move || {
        let rows = context.store.sessions(person.account, (context.now)())?.into_iter();
        let sessions = rows.map(|row| LoginSession {
            number: row.number.to_string(),
            device: auth::device_name(&row.origin.device),
            address: row.origin.address,
            created_at: row.created_at.to_string(),
            seen_at: row.seen_at.to_string(),
            expires_at: row.expires_at.to_string(),
        });
        Ok(Json(LoginSessionList { sessions: sessions.collect() }))
    })
    .await
}

async fn end_session(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(number): NameInPath,
) -> Result<StatusCode, ApiError> {
    let unknown = ApiError::NotFound("the session does not exist or is not yours");
    let Some(number) = SessionNumber::parse(&number) else { return Err(unknown) };
    let ended =
        blocking(move || Ok(context.store.end_session_numbered(person.account, number)?)).await?;
    if ended { Ok(StatusCode::NO_CONTENT) } else { Err(unknown) }
}

async fn leave(
    State(context): State<ServerContext>,
    person: Person,
    client: ClientAddress,
    JsonBody(sent): JsonBody<AccountDeletion>,
) -> Result<StatusCode, ApiError> {
    let name = named(&person)?;
    let (store, wanted) = (context.store.clone(), name.clone());
    let row = blocking(move || Ok(store.account(&wanted)?)).await?;
    if row.is_some_and(|row| context.login.has_password(&row)) {
        let password = sent.password.ok_or(ApiError::BadRequest("send the current password"))?;
        prove(&context, &name, &password, client).await?;
    } else if !sent.name.unwrap_or_default().trim().eq_ignore_ascii_case(&name) {
        let why = "the account has no password; send its name to confirm";
        return Err(ApiError::BadRequest(why));
    }
    let store = context.store.clone();
    let left = blocking(move || Ok(store.remove_account_but_last_admin(person.account)?)).await?;
    left.map_err(|why| ApiError::Conflict(why.to_string()))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Checks the password. A stolen session or token must not be enough to change or end an account.
async fn prove(
    context: &ServerContext,
    name: &str,
    password: &str,
    client: ClientAddress,
) -> Result<(), ApiError> {
    let sent = Credentials { name, password, client };
    let proven = context.logins.by_password_alone(&context.store, sent, (context.now)()).await;
    proven.map(|_| ()).map_err(|why| match why {
        LoginError::Wrong => ApiError::Forbidden("the current password is wrong"),
        LoginError::Wait(_) | LoginError::Busy => {
            ApiError::RateLimited(why.retry_after().unwrap_or_default())
        }
        LoginError::Store(error) => ApiError::Store(error),
    })
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
    if person.own_scope < scope {
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
        AccountError::NoAccount => ApiError::NotFound("the account does not exist"),
        AccountError::LastAdmin => ApiError::Conflict(why.to_string()),
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
        Err(ApiError::NotFound("the token does not exist or is not yours"))
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
    prove(&context, &name, &new.old, client).await?;
    let store = context.store.clone();
    blocking(move || {
        let hashed = auth::hash_password(&new.password);
        let hashed = hashed.map_err(|why| ApiError::Invalid(why.to_string()))?;
        Ok(store.set_password(person.account, &hashed)?)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}
