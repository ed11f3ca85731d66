//! The checks of a PostgreSQL server: version, locale, rights, connections, distance, encryption,
//! schema, and the process that records.

use std::time::Duration;

use store::{Location, ServerReport, Store, StoreError};

use super::DoctorCheck;
use crate::config::Config;

/// A page asks several questions, so a longer way makes it slow.
const ROUND_TRIP_MAX: Duration = Duration::from_millis(5);
/// A process that records shows a sign of life once a second.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// The connections of a process besides those that read: two that write, two for signals, and one
/// to take the seat.
const CONNECTIONS_BESIDES: i64 = 5;

/// The result of looking at the server of a store.
pub struct ServerChecks {
    pub checks: Vec<DoctorCheck>,
    /// Whether the store can be opened after that.
    pub is_usable: bool,
    /// Whether a process records and shows signs of life.
    pub is_recorded: bool,
}

/// Looks at the server; `None` for SQLite.
pub fn look(config: &Config) -> Option<ServerChecks> {
    match Store::inspect_server(&config.store) {
        Ok(None) => None,
        Ok(Some(report)) => Some(judge(&report, config)),
        Err(error) => {
            let remedy = remedy(&error);
            // With the words of the server, which say what it refused.
            let says = format!("{:#}", anyhow::Error::from(error));
            let checks = vec![DoctorCheck::trouble("database", says, remedy)];
            Some(ServerChecks { checks, is_usable: false, is_recorded: false })
        }
    }
}

/// Says what to do about a server that refused the connection.
fn remedy(error: &StoreError) -> String {
    if error.is_unavailable() {
        return "check that PostgreSQL runs, and host, port and firewall; pg_isready asks it \
                without Tidings"
            .to_owned();
    }
    "check user, password (~/.pgpass, mode 600), database name, sslmode and pg_hba.conf; psql with \
     the same address shows the same error"
        .to_owned()
}

fn judge(report: &ServerReport, config: &Config) -> ServerChecks {
    let shown = config.store.shown();
    let mut checks = vec![version(report, &shown)];
    checks.extend(locale(report));
    checks.extend(rights(report));
    checks.push(durability(report));
    checks.extend(takeover(report));
    checks.push(connections(report, config));
    checks.push(distance(report));
    checks.push(encryption(report));
    checks.push(schema(report));
    let is_silent = report.seat.as_ref().is_none_or(|seat| seat.silent_for > SILENCE_MAX);
    checks.push(seat(report, is_silent));
    ServerChecks {
        checks,
        is_usable: report.schema.is_some()
            && report.schema_version == Some(report.schema_version_known),
        is_recorded: report.is_seat_taken && !is_silent,
    }
}

fn version(report: &ServerReport, shown: &str) -> DoctorCheck {
    let says = format!("PostgreSQL {}: {shown}", report.version);
    if !report.is_supported {
        let remedy = "upgrade the server; 15 or later is needed".to_owned();
        return DoctorCheck::trouble("database", says, remedy);
    }
    if report.is_replica {
        let says = format!("{says} is a replica, which cannot be written");
        let remedy = "name the primary, or all hosts with ?target_session_attrs=read-write";
        return DoctorCheck::trouble("database", says, remedy.to_owned());
    }
    DoctorCheck::good("database", says)
}

fn locale(report: &ServerReport) -> Vec<DoctorCheck> {
    let (encoding, locale) = (&report.encoding, &report.locale);
    let says = format!("encoding {encoding}, locale {locale}");
    let mut checks = vec![match encoding == "UTF8" {
        true => DoctorCheck::good("locale", says),
        false => {
            let remedy = "create a database with encoding UTF8 (template template0), and migrate";
            DoctorCheck::trouble("locale", says, remedy.to_owned())
        }
    }];
    if !report.columns_by_locale.is_empty() {
        let says = format!(
            "texts must compare byte by byte, but these columns follow the locale: {}",
            report.columns_by_locale.join(", ")
        );
        let remedy = "another program has changed the tables; restore a dump";
        checks.push(DoctorCheck::trouble("locale", says, remedy.to_owned()));
    }
    checks
}

fn rights(report: &ServerReport) -> Vec<DoctorCheck> {
    let role = &report.role;
    let Some(schema) = &report.schema else {
        let says = format!("the search path of {role} names no schema that exists");
        let remedy = format!("create schema tidings authorization {role}");
        return vec![DoctorCheck::trouble("rights", says, remedy)];
    };
    let mut checks = Vec::new();
    if !report.may_create {
        let says = format!("{role} may not create tables in the schema {schema}");
        let remedy = format!("grant usage, create on schema {schema} to {role}");
        checks.push(DoctorCheck::trouble("rights", says, remedy));
    }
    if !report.foreign_tables.is_empty() {
        let says = format!("tables belong to another role: {}", report.foreign_tables.join(", "));
        let remedy = format!(
            "alter table NAME owner to {role}, for each of them; or load the dump again with \
             pg_restore --no-owner --role={role}"
        );
        checks.push(DoctorCheck::trouble("rights", says, remedy));
    }
    if report.is_superuser {
        let says = format!("{role} is a superuser");
        let remedy = "use a role of its own, which owns its database only".to_owned();
        checks.push(DoctorCheck::advice("rights", says, remedy));
    }
    if checks.is_empty() {
        checks.push(DoctorCheck::good("rights", format!("{role} owns the schema {schema}")));
    }
    checks
}

fn durability(report: &ServerReport) -> DoctorCheck {
    if report.is_durable {
        return DoctorCheck::good("durability", "a confirmed commit survives a crash".to_owned());
    }
    let says = "fsync or synchronous_commit is off: a crash of the server can lose entries whose \
                numbers are given again"
        .to_owned();
    let remedy = format!(
        "set fsync = on in postgresql.conf, and: alter role {} set synchronous_commit = on",
        report.role
    );
    DoctorCheck::trouble("durability", says, remedy)
}

/// Without the times of sessions, a waiting process ends the session of one that works on a long
/// change.
fn takeover(report: &ServerReport) -> Option<DoctorCheck> {
    if report.tracks_activities {
        return None;
    }
    let says = "track_activities is off: a waiting process cannot tell whether the one that \
                records is busy or hangs"
        .to_owned();
    let remedy = "set track_activities = on in postgresql.conf, and reload the server".to_owned();
    Some(DoctorCheck::trouble("takeover", says, remedy))
}

fn connections(report: &ServerReport, config: &Config) -> DoctorCheck {
    let (used, most) = (report.connections_used, report.connections_max);
    let readers = match &config.store {
        Location::Postgres(address) => i64::try_from(address.readers_max()).unwrap_or(i64::MAX),
        Location::Folder(_) => 0,
    };
    let needed = readers * 2 + CONNECTIONS_BESIDES;
    let says = format!("{used} of {most} connections are in use; a process needs up to {needed}");
    if most - used < needed {
        let remedy = "raise max_connections of the server, or lower [store] readers".to_owned();
        return DoctorCheck::advice("connections", says, remedy);
    }
    DoctorCheck::good("connections", says)
}

fn distance(report: &ServerReport) -> DoctorCheck {
    let ms = report.round_trip.as_secs_f64() * 1e3;
    let says = format!("a question takes {ms:.2} ms");
    if report.round_trip > ROUND_TRIP_MAX {
        let remedy = "run Tidings closer to the database: a page asks several questions";
        return DoctorCheck::advice("round trip", says, remedy.to_owned());
    }
    DoctorCheck::good("round trip", says)
}

fn encryption(report: &ServerReport) -> DoctorCheck {
    match &report.tls {
        Some(tls) if report.is_certificate_checked => {
            DoctorCheck::good("encryption", format!("{tls}; the certificate is checked"))
        }
        Some(tls) if report.is_local => DoctorCheck::good("encryption", tls.clone()),
        Some(tls) => {
            let says = format!("{tls}; but anybody can answer in place of the server");
            let remedy = "add ?sslmode=verify-full to the address, and sslrootcert=FILE for an \
                          authority of your own";
            DoctorCheck::advice("encryption", says, remedy.to_owned())
        }
        None if report.is_local => {
            DoctorCheck::good("encryption", "none; the server is on this machine".to_owned())
        }
        None => {
            let says = "none: others on the network can read everything".to_owned();
            let remedy = "set ssl = on on the server, and add ?sslmode=verify-full to the address";
            DoctorCheck::advice("encryption", says, remedy.to_owned())
        }
    }
}

fn schema(report: &ServerReport) -> DoctorCheck {
    let known = report.schema_version_known;
    match report.schema_version {
        None if !report.foreign_tables.is_empty() => DoctorCheck::trouble(
            "schema",
            "unknown, because the tables cannot be read".to_owned(),
            "correct the rights first, see above".to_owned(),
        ),
        None => DoctorCheck::advice(
            "schema",
            "no tables yet".to_owned(),
            "start `tidings run`, or copy a store here: tidings migrate --from DIR --to URL"
                .to_owned(),
        ),
        Some(found) if found < known => DoctorCheck::advice(
            "schema",
            format!("step {found} of {known}: an older Tidings wrote it"),
            "make a dump, stop all processes, and start `tidings run` once".to_owned(),
        ),
        Some(found) if found > known => DoctorCheck::trouble(
            "schema",
            format!("step {found}, but this program knows {known}: a newer Tidings wrote it"),
            "start the newer program, or restore a dump".to_owned(),
        ),
        Some(found) => DoctorCheck::good("schema", format!("step {found} of {known}")),
    }
}

fn seat(report: &ServerReport, is_silent: bool) -> DoctorCheck {
    let Some(seat) = report.seat.as_ref().filter(|_| report.is_seat_taken) else {
        let epoch = report.seat.as_ref().map(|seat| format!(" (last epoch: {})", seat.epoch));
        let says = format!("not running{}", epoch.unwrap_or_default());
        return DoctorCheck::good("daemon", says);
    };
    let holder = seat.holder.as_deref().unwrap_or("a process");
    let secs = seat.silent_for.as_secs_f64();
    let says = format!("{holder} records, epoch {}, sign of life {secs:.1} s ago", seat.epoch);
    if is_silent {
        let remedy = "end that process; a second `tidings run` on this database would replace it";
        return DoctorCheck::trouble("daemon", says, remedy.to_owned());
    }
    DoctorCheck::good("daemon", says)
}
