//! `tidings doctor`: checks configuration, storage, clock and network, and says what to do. It
//! sends no HTTP request: name lookups are enough to see whether the network works.

mod bus;
mod duplicates;
mod secrets;
mod server;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use engine::Clock;
use feed::Time;
use serde_json::json;
use store::{Location, LockError, OpenMode, Store, StoreError};

use crate::args::InstanceArgs;
use crate::checked_settings::CheckedSettings;
use crate::config::{self, Config};
use crate::error::{CliError, failed_silently};
use crate::output::{print_json, print_line};

/// The time of the first release. A clock that shows an earlier time is wrong.
const RELEASED: Time = Time::from_secs(1_760_000_000);
/// Names that are looked up to see whether the network works.
const NAMES_MAX: usize = 5;
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckLevel {
    Good,
    Advice,
    Trouble,
}

struct DoctorCheck {
    level: CheckLevel,
    about: &'static str,
    says: String,
    remedy: String,
}

impl DoctorCheck {
    fn good(about: &'static str, says: String) -> DoctorCheck {
        DoctorCheck { level: CheckLevel::Good, about, says, remedy: String::new() }
    }

    fn advice(about: &'static str, says: String, remedy: String) -> DoctorCheck {
        DoctorCheck { level: CheckLevel::Advice, about, says, remedy }
    }

    fn trouble(about: &'static str, says: String, remedy: String) -> DoctorCheck {
        DoctorCheck { level: CheckLevel::Trouble, about, says, remedy }
    }

    fn mark(&self) -> &'static str {
        match self.level {
            CheckLevel::Good => "ok",
            CheckLevel::Advice => "advice",
            CheckLevel::Trouble => "trouble",
        }
    }
}

pub async fn run(json: bool, place: &InstanceArgs) -> Result<(), CliError> {
    let config = config::read_offline(place)?;
    let now = Clock::System.now();
    let server = server::look(&config);
    let store = match &server {
        Some(server) if !server.is_usable => None,
        _ => Some(Store::open(&config.store, OpenMode::ReadOnly)),
    };
    let has_folder = server.is_none() && config.data.exists();
    let held = has_folder.then(|| store::lock(&config.data).err()).flatten();
    let held = held.filter(LockError::is_held);
    let daemons = match (&store, &server) {
        (Some(Ok(store)), None) => CheckedSettings::of_daemon(store, held.as_ref())?,
        (Some(Ok(store)), Some(server)) if server.is_recorded => CheckedSettings::kept(store)?,
        _ => None,
    };
    let judged = daemons.unwrap_or_else(|| CheckedSettings::of(&config));
    let mut checks = configuration(&judged, &config, held.as_ref());
    checks.extend(server.into_iter().flat_map(|server| server.checks));
    checks.extend(bus::check(&config).await);
    let store = store.and_then(|opened| match opened {
        Ok(store) => Some(store),
        Err(error) => {
            checks.push(unopened(&error, held.is_some()));
            None
        }
    });
    if let Some(store) = &store {
        checks.extend(storage(store, &judged, &config, now)?);
        checks.extend(access(store, &judged)?);
        checks.extend(duplicates::check(store)?);
        checks.extend(secrets::check(store, &config)?);
    }
    checks.push(clock(store.as_ref(), now)?);
    if let Some(store) = &store {
        checks.extend(reachability(store, &judged).await?);
    }
    print(&checks, json)?;
    let trouble = checks.iter().any(|c| c.level == CheckLevel::Trouble);
    if trouble { Err(failed_silently()) } else { Ok(()) }
}

/// Says why the store cannot be opened.
fn unopened(error: &StoreError, is_held: bool) -> DoctorCheck {
    if matches!(error, StoreError::Missing { .. }) && !is_held {
        let remedy = "add a feed: tidings feed add URL; or import a list: tidings import FILE";
        return DoctorCheck::advice("storage", error.to_string(), remedy.to_owned());
    }
    let remedy = "do what the message says; if the file is damaged, restore a backup";
    DoctorCheck::trouble("storage", error.to_string(), remedy.to_owned())
}

fn print(checks: &[DoctorCheck], json: bool) -> Result<(), CliError> {
    if json {
        let rows: Vec<_> = checks
            .iter()
            .map(|c| {
                json!({ "level": c.mark(), "about": c.about, "says": c.says, "remedy": c.remedy })
            })
            .collect();
        return print_json(&rows);
    }
    for check in checks {
        print_line(&format!("{:<8} {:<13} {}", check.mark(), check.about, check.says))?;
        if !check.remedy.is_empty() {
            print_line(&format!("{:<22} → {}", "", check.remedy))?;
        }
    }
    Ok(())
}

/// Says whose settings are checked: those of the running daemon, or those of this call.
fn configuration(
    judged: &CheckedSettings,
    config: &Config,
    held: Option<&LockError>,
) -> Vec<DoctorCheck> {
    let (origin, data) = (&judged.origin, config.data.display());
    let says = match (judged.pid, held) {
        (Some(pid), _) => {
            format!("of the running daemon (process {pid}): {origin}; data in {data}")
        }
        (None, Some(_)) => {
            format!(
                "of this call, since the daemon did not leave its own: {origin}; data in {data}"
            )
        }
        (None, None) => format!("{origin}; data in {data}"),
    };
    let mut checks = vec![DoctorCheck::good("configuration", says)];
    if !judged.has_contact {
        checks.push(DoctorCheck::advice(
            "configuration",
            "no contact is configured, so site owners cannot reach you".to_owned(),
            "add contact = \"https://…\" to the configuration file".to_owned(),
        ));
    }
    if let Some(fault) = judged.resolve_fault.clone() {
        let remedy = "start with tidings run --allow-private, or remove [resolve]".to_owned();
        checks.push(DoctorCheck::advice("configuration", fault, remedy));
    }
    if judged.gap_ms < 1000 {
        checks.push(DoctorCheck::advice(
            "configuration",
            "the gap between two requests to a domain is under a second".to_owned(),
            "set domain_gap to 2s, unless the servers are your own".to_owned(),
        ));
    }
    checks
}

fn storage(
    store: &Store,
    judged: &CheckedSettings,
    config: &Config,
    now: Time,
) -> Result<Vec<DoctorCheck>, CliError> {
    let counts = store.counts(now)?;
    // The latest writes are in the log next to the file. At first the log holds everything.
    let standing = store.status(now)?;
    let bytes = standing.database_bytes + standing.log_bytes;
    let mut checks = vec![DoctorCheck::good(
        "storage",
        format!(
            "{}, {}, {}, {:.1} MB",
            api::plural(counts.feeds, "feed", "feeds"),
            api::plural(counts.entries, "entry", "entries"),
            api::plural(counts.polls, "poll", "polls"),
            bytes as f64 / 1e6
        ),
    )];
    for finding in store.check()? {
        let feed = match finding.feed {
            Some(id) => format!("feed {id} {}: ", store.feed(id)?.location.url),
            None => String::new(),
        };
        let says = format!("{feed}{}", finding.what);
        let check = if finding.harmless { DoctorCheck::advice } else { DoctorCheck::trouble };
        checks.push(check("storage", says, finding.remedy));
    }
    checks.extend(readable(store));
    let n_with_hub = store.n_with_hub()?;
    if n_with_hub > 0 && !judged.takes_pushes {
        let feeds = if n_with_hub == 1 { "feed names" } else { "feeds name" };
        checks.push(DoctorCheck::advice(
            "push",
            format!("{n_with_hub} {feeds} a hub that would push, but hubs cannot reach us"),
            "add public_url = \"https://…\" to the configuration file: the address where hubs \
             reach this program. Until then these feeds are polled"
                .to_owned(),
        ));
    }
    if let Location::Folder(folder) = &config.store {
        checks.push(daemon(folder));
    }
    if counts.failing > 0 {
        checks.push(DoctorCheck::advice(
            "feeds",
            format!("{} of {} feeds are failing", counts.failing, counts.feeds),
            "list them with tidings feed list; tidings feed why FEED explains one".to_owned(),
        ));
    }
    if counts.damaged > 0 {
        let feeds = if counts.damaged == 1 { "feed sends" } else { "feeds send" };
        checks.push(DoctorCheck::advice(
            "feeds",
            format!("{} {feeds} broken documents without entries", counts.damaged),
            "`tidings feed why FEED` says what is wrong; tell the publisher".to_owned(),
        ));
    }
    Ok(checks)
}

/// Says whether a process holds the lock of the data folder.
fn daemon(folder: &Path) -> DoctorCheck {
    match store::lock(folder) {
        Ok(_ours) => DoctorCheck::good("daemon", "not running".to_owned()),
        Err(held) if held.is_held() => {
            let pid = held.pid().map_or_else(String::new, |pid| format!(", process {pid}"));
            DoctorCheck::good("daemon", format!("running{pid}"))
        }
        Err(error) => {
            let remedy = "check the owner and the mode of the data folder".to_owned();
            DoctorCheck::trouble("storage", error.to_string(), remedy)
        }
    }
}

/// A new store is readable only by its owner. A store of an older program keeps its file mode.
fn readable(store: &Store) -> Option<DoctorCheck> {
    let path = store.path();
    let mode = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.permissions().mode());
    let comes_in = path.parent().is_some_and(|folder| mode(folder) & 0o001 != 0);
    (comes_in && mode(path) & 0o004 != 0).then(|| {
        let shown = path.display();
        let says = format!("all users of this machine can read {shown} and the secrets in it");
        DoctorCheck::advice("storage", says, format!("chmod go= {shown}*"))
    })
}

/// Checks whether people can reach the page, and whether the connection is safe.
fn access(store: &Store, judged: &CheckedSettings) -> Result<Option<DoctorCheck>, CliError> {
    let public = judged.public_url.as_ref();
    let says = if !store.has_accounts()? {
        let Some(url) = public else { return Ok(None) };
        let says = format!("there is no account, so nobody can use {url}");
        let remedy = "create one: tidings user add NAME".to_owned();
        return Ok(Some(DoctorCheck::advice("access", says, remedy)));
    } else {
        match public {
            Some(url) if url.starts_with("https:") => return Ok(None),
            Some(url) => format!("passwords are sent unencrypted to {url}"),
            None if judged.listen.ip().is_loopback() => return Ok(None),
            None => format!("passwords are sent unencrypted to {}", judged.listen),
        }
    };
    let remedy = "put a proxy with TLS in front (operating/nginx.conf shows one) and add \
                  public_url = \"https://…\" to the configuration file";
    Ok(Some(DoctorCheck::advice("access", says, remedy.to_owned())))
}

fn clock(store: Option<&Store>, now: Time) -> Result<DoctorCheck, CliError> {
    let remedy = "set the system clock, for example with NTP".to_owned();
    if now < RELEASED {
        return Ok(DoctorCheck::trouble("clock", format!("it shows {now}"), remedy));
    }
    let last = store.map(Store::latest_poll_at).transpose()?.flatten();
    if let Some(last) = last.filter(|last| *last > now + Duration::from_secs(60)) {
        let says = format!("it shows {now}, but a poll was recorded at {last}");
        return Ok(DoctorCheck::trouble("clock", says, remedy));
    }
    Ok(DoctorCheck::good("clock", now.to_string()))
}

async fn reachability(
    store: &Store,
    judged: &CheckedSettings,
) -> Result<Vec<DoctorCheck>, CliError> {
    let filter = store::FeedFilter { limit: Some(200), ..Default::default() };
    let mut names: Vec<String> = store
        .feeds(&filter)?
        .iter()
        .filter_map(|f| f.location.url.url().domain().map(str::to_owned))
        .filter(|name| name.contains('.'))
        .collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(NAMES_MAX);
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = 0;
    for name in &names {
        if judged.resolved.contains(name) {
            // Its address is configured, so a poll does not use the name server either.
            found += 1;
            continue;
        }
        let lookup = tokio::net::lookup_host((name.as_str(), 443));
        let answer = tokio::time::timeout(LOOKUP_TIMEOUT, lookup).await;
        found += usize::from(matches!(answer, Ok(Ok(_))));
    }
    let says = format!("{found} of {} host names of feeds resolve", names.len());
    Ok(vec![if found == 0 {
        let remedy = "check the network and the DNS server of this machine".to_owned();
        DoctorCheck::trouble("reachability", says, remedy)
    } else {
        DoctorCheck::good("reachability", says)
    }])
}
