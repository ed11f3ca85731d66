//! `tidings machines`: the processes of an instance, and requests to them. Reads and writes rows of
//! the database only, so it needs no running controller.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use dispatch::BusKey;
use dispatch::command::CommandResult;
use engine::Clock;
use engine::command::machines;
use feed::Time;
use serde_json::{Value, json};
use store::{Location, MachineList, MachineRole, MachineRow, MachineWish, OpenMode, Store};

use super::run::figures::SharedFigures;
use crate::args::InstanceArgs;
use crate::args::machine::{MachinesArgs, MachinesCommand};
use crate::error::{CliError, failed, input_error};
use crate::output::{print_json, print_line, relative, say, table};
use crate::{access, config};

/// How long the command waits for the controller to change. A process reads its row every two
/// seconds, ends its polls, and pauses before it takes the seat again.
const CHANGE_LIMIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub async fn run(args: MachinesArgs) -> Result<(), CliError> {
    match args.command {
        None => list(args.json, &args.place),
        Some(MachinesCommand::Drain { name, undo, place }) => drain(&name, !undo, &place),
        Some(MachinesCommand::Key { file }) => make_key(&file),
        Some(MachinesCommand::StepDown { place }) => step_down(&place).await,
    }
}

fn list(as_json: bool, place: &InstanceArgs) -> Result<(), CliError> {
    let config = config::read_offline(place)?;
    if let Location::Folder(folder) = &config.store {
        let folder = folder.display();
        let text = format!(
            "The store is in the data folder {folder}, which one process uses alone. Several \
             machines need a PostgreSQL database (--database)."
        );
        if as_json {
            eprintln!("{text}");
            return print_json(&json!([]));
        }
        return print_line(&text);
    }
    let store = access::read(&config)?;
    let found = store.machines()?;
    if as_json {
        let rows: Vec<Value> = found.machines.iter().map(machine_json).collect();
        return print_json(&rows);
    }
    print(&found, Clock::System.now())?;
    let seat = store.seat()?.filter(|_| !found.machines.is_empty());
    for region in seat.map(|seat| SharedFigures::lacking_regions(&seat)).unwrap_or_default() {
        say!(
            "No terminal of region {region} is connected; the feeds and pages that ask for it wait."
        )?;
    }
    Ok(())
}

fn machine_json(row: &MachineRow) -> Value {
    json!({
        "name": row.name,
        "role": row.role.word(),
        "region": row.region,
        "version": row.version,
        "since": row.since.to_string(),
        "polls_per_second": rounded(row.polls_per_second),
        "in_flight": row.in_flight,
        "room": row.room,
        "grants": row.grants,
        "round_trip_ms": row.round_trip.map(|took| rounded(took.as_secs_f64() * 1000.0)),
        "network_up": row.network_up,
        "draining": row.wish == MachineWish::Drain,
    })
}

fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

fn print(found: &MachineList, now: Time) -> Result<(), CliError> {
    if found.machines.is_empty() {
        return print_line("No process uses this database at the moment. Start one: tidings run");
    }
    let mut shown = table([
        "Name",
        "Role",
        "Region",
        "Since",
        "Version",
        "Polls/s",
        "In flight",
        "Grants",
        "Round trip",
        "State",
    ]);
    for row in &found.machines {
        let room = if row.room > 0 { format!(" of {}", row.room) } else { String::new() };
        let took = row
            .round_trip
            .map_or("–".to_owned(), |took| format!("{:.1} ms", took.as_secs_f64() * 1000.0));
        shown.add_row([
            row.name.clone(),
            row.role.word().to_owned(),
            row.region.clone().unwrap_or_else(|| "–".to_owned()),
            relative(row.since, now),
            row.version.clone(),
            format!("{:.1}", row.polls_per_second),
            format!("{}{room}", row.in_flight),
            row.grants.to_string(),
            took,
            row.state().word().to_owned(),
        ]);
    }
    print_line(&shown.to_string())?;
    if !found.machines.iter().any(|row| row.role == MachineRole::Controller) {
        print_line("No controller is active at the moment.")?;
    }
    if found.orphaned_grants > 0 {
        let n = api::plural(found.orphaned_grants, "request", "requests");
        say!("{n} of machines that are gone may still be under way; their sites wait.")?;
    }
    Ok(())
}

fn open(place: &InstanceArgs) -> Result<Store, CliError> {
    let config = config::read_offline(place)?;
    if let Location::Folder(folder) = &config.store {
        return Err(input_error(format!(
            "the store is in the data folder {}, which one process uses alone; several machines \
             need a PostgreSQL database (--database)",
            folder.display()
        )));
    }
    Ok(Store::open(&config.store, OpenMode::Shared)?)
}

fn drain(name: &str, on: bool, place: &InstanceArgs) -> Result<(), CliError> {
    let store = open(place)?;
    machines::drain(&store, name, on).map_err(|error| input_error(error.to_string()))?;
    if !on {
        return say!("{name} works again within a few seconds.");
    }
    let list = store.machines()?;
    let role = list.machines.iter().find(|row| row.name == name).map(|row| row.role);
    match role {
        Some(MachineRole::Terminal) => {
            say!("{name} gets no more jobs. It ends when the results of its polls are recorded.")
        }
        Some(MachineRole::Web) => say!(
            "{name} answers 503 at /readyz, so that a load balancer sends nobody there. It still \
             serves requests."
        ),
        _ => say!(
            "{name} gives the seat back if it has it, and does not take it again. Another process \
             polls if one waits."
        ),
    }
}

async fn step_down(place: &InstanceArgs) -> Result<(), CliError> {
    let store = open(place)?;
    let before = store.machines()?.epoch;
    let asked = machines::step_down(&store).map_err(|error| failed(error.to_string()))?;
    let CommandResult::Asked { machine } = asked else { return Ok(()) };
    eprintln!("{machine} was asked to give its seat back.");
    let mut waited = Duration::ZERO;
    while waited < CHANGE_LIMIT {
        tokio::time::sleep(LOOK_EVERY).await;
        waited += LOOK_EVERY;
        let list = store.machines()?;
        let active = list.machines.iter().find(|row| row.role == MachineRole::Controller);
        match active {
            Some(row) if list.epoch > before && row.name == machine => {
                return say!("No other process took the seat, so {machine} took it again.");
            }
            Some(row) if list.epoch > before => {
                return say!("{} is the controller now (epoch {}).", row.name, list.epoch);
            }
            _ => {}
        }
    }
    let secs = CHANGE_LIMIT.as_secs();
    Err(failed(format!(
        "the controller has not changed within {secs} s; look at the log of {machine}"
    )))
}

/// Writes the secret half of a new key into a file, and prints the public half.
fn make_key(file: &Path) -> Result<(), CliError> {
    let key = BusKey::fresh()?;
    let options = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let written = options.and_then(|mut file| writeln!(file, "{}", key.seed));
    written.map_err(|e| failed(format!("cannot write {}: {e}", file.display())))?;
    eprintln!(
        "{} holds the secret half; only the machine needs it. The public half goes into the \
         configuration of the server:",
        file.display()
    );
    print_line(&key.public)
}
