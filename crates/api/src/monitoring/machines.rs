//! Figures of all processes on one database. Every process shows the same ones, so that an alert
//! works as long as one of them answers.

use std::time::Duration;

use dispatch::RoadFigures;
use store::{MachineList, MachineRole, MachineRow, SeatRow};

use super::exposition::Exposition;
use super::exposition::MetricKind::{Counter, Gauge};

pub fn write(text: &mut Exposition, seat: &SeatRow, list: &MachineList, n_lacking: usize) {
    let help = "The number of the process that records; it rises with every takeover.";
    text.one(Gauge, "tidings_seat_epoch", help, seat.epoch as f64);
    let is_active = has(list, MachineRole::Controller);
    text.one(Gauge, "tidings_seat_active", "Whether a process records.", f64::from(is_active));
    let help = "Takeovers of the seat since the database was created.";
    text.one(Counter, "tidings_seat_takeovers_total", help, seat.epoch.max(0) as f64);
    let help = "Time since the last sign of life of the process that records.";
    text.one(Gauge, "tidings_seat_beat_age_seconds", help, seat.silent_for.as_secs_f64());
    let roles = MachineRole::ALL.map(|role| {
        (role.word(), list.machines.iter().filter(|row| row.role == role).count() as f64)
    });
    text.family(Gauge, "tidings_machines", "Processes by role.", "role", &roles);
    let known: u64 = list.machines.iter().map(|row| row.grants).sum();
    let help = "Requests that may be under way, as the database knows them.";
    let outstanding = (known + list.orphaned_grants) as f64;
    text.one(Gauge, "tidings_grants_outstanding", help, outstanding);
    let help = "Such requests of machines that are gone.";
    text.one(Gauge, "tidings_grants_orphaned", help, list.orphaned_grants as f64);
    let help = "Regions for which requests wait, because no terminal of them is connected.";
    text.one(Gauge, "tidings_regions_lacking", help, n_lacking as f64);
    terminals(text, list);
}

/// The figures of everything that polls. Names of machines have letters, digits, `-` and `_`.
fn terminals(text: &mut Exposition, list: &MachineList) {
    let polling: Vec<&MachineRow> = list.machines.iter().filter(|row| row.room > 0).collect();
    // A metric without a sample is a fault for some scrapers.
    if polling.is_empty() {
        return;
    }
    let mut family = |name: &str, help: &str, figure: &dyn Fn(&MachineRow) -> f64| {
        let samples: Vec<(&str, f64)> =
            polling.iter().map(|row| (row.name.as_str(), figure(row))).collect();
        text.family(Gauge, &format!("tidings_terminal_{name}"), help, "terminal", &samples);
    };
    family("in_flight", "Polls under way.", &|row| row.in_flight as f64);
    family("room", "Polls that it can make at once.", &|row| row.room as f64);
    family("polls_per_second", "Polls a second.", &|row| row.polls_per_second);
    family("round_trip_seconds", "Time of a question to the controller or database.", &|row| {
        row.round_trip.map_or(0.0, |took| took.as_secs_f64())
    });
    family("network_up", "Whether its network works.", &|row| f64::from(row.network_up));
    family("here_age_seconds", "Time since its last sign of life.", &|row| {
        row.silent_for.as_secs_f64()
    });
}

/// The work of the active controller with terminals on other machines.
pub fn road(text: &mut Exposition, totals: &RoadFigures) {
    let results = [
        ("recorded", totals.recorded as f64),
        ("stale", totals.stale as f64),
        ("refused", totals.refused as f64),
        ("not_sent", totals.not_sent as f64),
    ];
    let help = "Results of terminals by what became of them.";
    text.family(Counter, "tidings_results_total", help, "verdict", &results);
    let took = Duration::from_micros(totals.grant_commit_micros);
    let help = "Time until the rows of granted requests were committed.";
    text.summary("tidings_grants_commit_seconds", help, totals.grant_commits, took);
    let mut one = |name: &str, help: &str, count: u64| {
        text.one(Counter, &format!("tidings_{name}_total"), help, count as f64);
    };
    one("results_late", "Results whose grant was no longer open.", totals.late);
    one("grants_expired", "Requests whose result did not come in time.", totals.expired);
    let help = "Windows that terminals asked for.";
    one("window_questions", help, totals.window_questions);
    one("road_messages", "Messages of the controller on the bus, both ways.", totals.messages);
    one("road_bytes", "Bytes of these messages.", totals.bytes);
}

fn has(list: &MachineList, role: MachineRole) -> bool {
    list.machines.iter().any(|row| row.role == role)
}
