//! The page of machines: every process of the instance with its role, load and network, and buttons
//! to drain one or to change the controller. For administrators.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::Command;
use store::{
    Location, MachineList, MachineRole, MachineRow, MachineState, MachineWish, TokenScope,
};

use super::frame::{AdminForm, Frame, NavSection, Visitor};
use super::notice::{notice, render, run_command, store_error};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::words::{DisplayTime, LocalNow, plural};

const PATH: &str = "/machines";

#[derive(Template)]
#[template(path = "machines.html")]
struct MachinesPage {
    frame: Frame,
    /// The store is a data folder: there is one process and no list.
    is_alone: bool,
    /// Says who is active, in a sentence.
    active: String,
    active_class: &'static str,
    /// Whether another process waits for the seat.
    has_standby: bool,
    rows: Vec<MachineLine>,
    /// Says which requests wait for the end of their grant; empty if none do.
    waiting: String,
    /// Regions for which requests wait, because no terminal of them is connected.
    lacking: Vec<String>,
}

/// One process, in words.
struct MachineLine {
    name: String,
    role: &'static str,
    region: String,
    version: String,
    since: DisplayTime,
    /// The part of the room in use, in percent; `None` if it makes no polls.
    load: Option<u64>,
    room: String,
    polls: String,
    round_trip: String,
    network: &'static str,
    grants: u64,
    state: &'static str,
    class: &'static str,
    is_draining: bool,
    is_controller: bool,
}

pub async fn machines(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    if !visitor.may(TokenScope::Admin) {
        let text = "Only administrators see the machines.".to_owned();
        return notice(&context, visitor, StatusCode::FORBIDDEN, "Not allowed", text);
    }
    let (store, now) = (context.store.clone(), visitor.now(&context));
    let is_alone = matches!(store.location(), Location::Folder(_));
    match run_blocking(move || store.machines()).await {
        Ok(list) => {
            let (active, active_class) = active(&list);
            render(&MachinesPage {
                frame: Frame::new(&context, visitor, Some(NavSection::Health)),
                is_alone,
                active,
                active_class,
                has_standby: list.machines.iter().any(|m| m.role == MachineRole::Standby),
                waiting: waiting(list.orphaned_grants),
                lacking: (context.live)().lacking_regions,
                rows: list.machines.into_iter().map(|row| line(row, now)).collect(),
            })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Asks a machine to finish its work, or to work again.
pub async fn drain(
    State(context): State<ServerContext>,
    Path(machine): Path<String>,
    sent: AdminForm,
) -> Response {
    let AdminForm(visitor, form) = sent;
    let on = !form.has("undo");
    done(run_command(&context, &visitor, Command::Drain { machine, on }).await)
}

/// Asks the controller to give its seat to another process.
pub async fn step_down(State(context): State<ServerContext>, sent: AdminForm) -> Response {
    let AdminForm(visitor, _) = sent;
    done(run_command(&context, &visitor, Command::StepDown).await)
}

fn done<T>(ran: Result<T, Response>) -> Response {
    match ran {
        Ok(_) => Redirect::to(PATH).into_response(),
        Err(refused) => refused,
    }
}

fn active(list: &MachineList) -> (String, &'static str) {
    let active = list.machines.iter().find(|row| row.role == MachineRole::Controller);
    match active {
        Some(row) => (format!("{} is the controller", row.name), ""),
        None => ("No controller is active".to_owned(), "bad"),
    }
}

fn waiting(orphaned: u64) -> String {
    match orphaned {
        0 => String::new(),
        n => format!(
            "{} of machines that are gone may still be under way. Their sites wait until these \
             requests have certainly ended.",
            plural(n, "request", "requests")
        ),
    }
}

fn line(row: MachineRow, now: LocalNow) -> MachineLine {
    let state = row.state();
    let makes_polls = row.room > 0;
    MachineLine {
        role: row.role.word(),
        region: row.region.unwrap_or_default(),
        version: row.version,
        since: DisplayTime::new(row.since, now),
        load: makes_polls.then(|| (row.in_flight * 100 / row.room.max(1)).min(100)),
        room: if makes_polls {
            format!("{} of {}", row.in_flight, row.room)
        } else {
            String::new()
        },
        polls: format!("{:.1}", row.polls_per_second),
        round_trip: row
            .round_trip
            .map_or_else(String::new, |took| format!("{:.1} ms", took.as_secs_f64() * 1000.0)),
        network: if row.network_up { "up" } else { "down" },
        grants: row.grants,
        state: state.word(),
        class: class(state),
        is_draining: row.wish == MachineWish::Drain,
        is_controller: row.role == MachineRole::Controller,
        name: row.name,
    }
}

/// The class that colours the state of a machine.
const fn class(state: MachineState) -> &'static str {
    match state {
        MachineState::Draining | MachineState::SteppingDown => "backing",
        MachineState::Drained => "paused",
        MachineState::NetworkDown | MachineState::Silent => "failed",
        MachineState::Waiting => "fresh",
        MachineState::Working => "active",
    }
}
