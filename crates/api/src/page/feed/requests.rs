//! The settings for the requests of a feed, on its page. Secret values are never shown again.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::Command;
use feed::{FeedId, FetchSetting, FetchSettingError, origin_text};
use store::{FeedRow, FetchSettingRow, StoreError, TokenScope};

use crate::ServerContext;
use crate::auth::Person;
use crate::blocking::run_blocking;
use crate::feed_rows::seen_by;
use crate::fetch_change::{FetchEdit, FetchEditError, feed_after, shown};
use crate::form::SignedForm;
use crate::page::frame::WriteForm;
use crate::page::notice::{not_found, notice, run_command, store_error};
use crate::words::sentence;

/// The settings as the page shows them.
pub struct RequestsPart {
    /// The origin that receives the values.
    pub origin: String,
    pub rows: Vec<RequestSettingView>,
    /// Whether certificates are ignored.
    pub is_insecure: bool,
}

/// One setting, without its secret.
pub struct RequestSettingView {
    /// The stored name.
    pub name: String,
    pub label: String,
    pub shown: String,
    pub may_remove: bool,
    /// The origin for which it was set, if the feed has moved away from there.
    pub elsewhere: Option<String>,
}

impl RequestsPart {
    pub fn new(row: &FeedRow, settings: &[FetchSettingRow], is_admin: bool) -> RequestsPart {
        let origin = origin_text(row.location.current().url());
        let view = |one: &FetchSettingRow| RequestSettingView {
            name: one.setting.name(),
            label: label(&one.setting),
            shown: shown(one),
            may_remove: is_admin || !one.setting.needs_admin(),
            elsewhere: (one.origin != origin).then(|| one.origin.clone()),
        };
        let is_insecure = settings.iter().any(|one| one.setting == FetchSetting::InsecureTls);
        RequestsPart { rows: settings.iter().map(view).collect(), origin, is_insecure }
    }
}

fn label(setting: &FetchSetting) -> String {
    match setting {
        FetchSetting::Header(name) => format!("Header {name}"),
        FetchSetting::Cookie => "Cookies".to_owned(),
        FetchSetting::UserAgent => "User-Agent".to_owned(),
        FetchSetting::Login => "Login".to_owned(),
        FetchSetting::Proxy => "Proxy".to_owned(),
        FetchSetting::InsecureTls => "Certificates".to_owned(),
    }
}

/// Reads the form. Empty fields keep the settings.
fn edit(form: &SignedForm) -> Result<FetchEdit, FetchSettingError> {
    let mut edit = FetchEdit::default();
    for name in form.all("remove") {
        edit.remove.extend(FetchSetting::from_name(name));
    }
    let text = |name: &str| form.text(name).trim().to_owned();
    let (name, value) = (text("header_name"), text("header_value"));
    if !name.is_empty() || !value.is_empty() {
        edit.set.push((FetchSetting::header(&name)?, value));
    }
    let (user, password) = (text("user"), text("password"));
    if !user.is_empty() || !password.is_empty() {
        edit.set.push((FetchSetting::Login, format!("{user}:{password}")));
    }
    for (field, setting) in [
        ("cookie", FetchSetting::Cookie),
        ("user_agent", FetchSetting::UserAgent),
        ("proxy", FetchSetting::Proxy),
    ] {
        let value = text(field);
        if !value.is_empty() {
            edit.set.push((setting, value));
        }
    }
    if form.has("insecure_tls") {
        edit.set.push((FetchSetting::InsecureTls, String::new()));
    }
    Ok(edit)
}

/// Sets or removes settings and returns to the page of the feed.
pub async fn change(
    State(context): State<ServerContext>,
    Path(id): Path<String>,
    WriteForm { visitor, form }: WriteForm,
) -> Response {
    let title = "Could not change how the feed is fetched";
    let refuse = |visitor, text: String| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        notice(&context, visitor, status, title, sentence(&text))
    };
    let Ok(number) = id.parse::<u32>() else {
        return refuse(visitor, format!("there is no feed {id}"));
    };
    let edit = match edit(&form) {
        Ok(edit) if edit.is_empty() => {
            return refuse(visitor, "every field was empty, so nothing was changed".to_owned());
        }
        Ok(edit) => edit,
        Err(error) => return refuse(visitor, error.to_string()),
    };
    if edit.needs_admin() && !visitor.may(TokenScope::Admin) {
        let text = "only administrators can set a proxy or ignore certificates".to_owned();
        return refuse(visitor, text);
    }
    let (context_of, person) = (context.clone(), visitor.person.clone());
    let made = run_blocking(move || Ok(command(&context_of, person, &edit, FeedId(number)))).await;
    let command = match made {
        Ok(Ok(command)) => command,
        Ok(Err(FetchEditError::Store(StoreError::NoFeed(_)))) => {
            let text = format!("The feed {id} does not exist. The page Feeds lists yours.");
            return not_found(&context, visitor, text);
        }
        Ok(Err(FetchEditError::Store(error))) | Err(error) => {
            return store_error(&context, visitor, &error);
        }
        Ok(Err(error)) => return refuse(visitor, error.to_string()),
    };
    match run_command(&context, &visitor, command).await {
        Ok(_) => {
            let (store, person) = (context.store.clone(), visitor.person.clone());
            let feed = FeedId(number);
            let own = run_blocking(move || match person {
                Some(person) => feed_after(&store, &person, feed),
                None => Ok(feed),
            });
            let feed = own.await.unwrap_or(feed);
            Redirect::to(&format!("/feed/{feed}#h-requests")).into_response()
        }
        Err(refused) => refused,
    }
}

fn command(
    context: &ServerContext,
    person: Option<Person>,
    edit: &FetchEdit,
    feed: FeedId,
) -> Result<Command, FetchEditError> {
    let (store, person) = (&context.store, person.ok_or(StoreError::NoFeed(feed))?);
    let row = seen_by(store, &person, feed)?;
    let subscribed = store.is_subscribed(person.account, feed)?;
    let account = edit.account(&person, row.private_to).filter(|_| subscribed);
    edit.command(store, &context.key_file, feed, account)
}
