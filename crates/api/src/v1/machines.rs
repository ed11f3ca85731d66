//! The processes of the instance, and requests to them.

use axum::Json;
use axum::extract::{Path, State};
use dispatch::command::{Command, CommandResult};
use store::{MachineRow, MachineWish, TokenScope};

use super::extract::JsonBody;
use super::route::Route;
use super::schema::{answer, request};
use super::{act, blocking, unexpected_answer};
use crate::ServerContext;
use crate::v1::error::ApiError;

answer! {
    /// A process of the instance.
    Machine {
        /// Its name.
        name: String,
        /// `controller`, `standby`, `terminal` or `web`.
        role: &'static str,
        /// The region that it stands in.
        region: Option<String>,
        /// The version of its program.
        version: String,
        /// Since when it has this role.
        since: String,
        /// Polls a second, over the last ten seconds.
        polls_per_second: f64,
        /// Polls under way.
        in_flight: u64,
        /// Polls that it can make at once; 0 if it makes none.
        room: u64,
        /// Requests that it may have under way, as the database knows them.
        grants: u64,
        /// The time of a question to the controller or the database.
        round_trip_ms: Option<f64>,
        /// Whether its network works.
        network_up: bool,
        /// Whether an operator drains it.
        draining: bool,
    }

    /// All processes that have shown a sign of life within ten seconds. An instance in a data
    /// folder has one process and no list.
    Machines {
        /// The controller first.
        machines: Vec<Machine>,
        /// Requests of machines that are gone, which may still be under way.
        orphaned_grants: u64,
        /// Regions for which requests wait, because no terminal of them is connected.
        regions_lacking: Vec<String>,
        /// The number of times that a process has become the controller.
        epoch: i64,
    }

    /// The machine that was asked. It answers within a few seconds.
    MachineAsked {
        /// Its name.
        machine: String,
    }
}

request! {
    /// A request to drain a machine.
    DrainWish {
        /// False: it works again. The default is true.
        drain: Option<bool>,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/machines", "The processes of the instance", list)
            .needs(TokenScope::Admin)
            .answers::<Machines>(),
        Route::put("/machines/{name}/drain", "Drain a machine, or let it work again", drain)
            .takes::<DrainWish>()
            .answers::<MachineAsked>(),
        Route::post("/machines/step-down", "Ask the controller to give its seat away", step_down)
            .answers::<MachineAsked>(),
    ]
}

async fn list(State(context): State<ServerContext>) -> Result<Json<Machines>, ApiError> {
    let (store, regions_lacking) = (context.store, (context.live)().lacking_regions);
    blocking(move || {
        let found = store.machines()?;
        let machines = found.machines.into_iter().map(Machine::from).collect();
        let (orphaned_grants, epoch) = (found.orphaned_grants, found.epoch);
        Ok(Json(Machines { machines, orphaned_grants, regions_lacking, epoch }))
    })
    .await
}

async fn drain(
    State(context): State<ServerContext>,
    Path(machine): Path<String>,
    JsonBody(wish): JsonBody<DrainWish>,
) -> Result<Json<MachineAsked>, ApiError> {
    let on = wish.drain.unwrap_or(true);
    asked(act(&context, Command::Drain { machine, on }).await?)
}

async fn step_down(State(context): State<ServerContext>) -> Result<Json<MachineAsked>, ApiError> {
    asked(act(&context, Command::StepDown).await?)
}

fn asked(done: CommandResult) -> Result<Json<MachineAsked>, ApiError> {
    let CommandResult::Asked { machine } = done else { return Err(unexpected_answer()) };
    Ok(Json(MachineAsked { machine }))
}

impl From<MachineRow> for Machine {
    fn from(row: MachineRow) -> Machine {
        Machine {
            name: row.name,
            role: row.role.word(),
            region: row.region,
            version: row.version,
            since: row.since.to_string(),
            polls_per_second: row.polls_per_second,
            in_flight: row.in_flight,
            room: row.room,
            grants: row.grants,
            round_trip_ms: row.round_trip.map(|took| took.as_secs_f64() * 1000.0),
            network_up: row.network_up,
            draining: row.wish == MachineWish::Drain,
        }
    }
}
