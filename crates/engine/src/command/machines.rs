//! Requests to the processes of an instance: to finish their work, or to give the seat to another
//! one. A request is a mark in the row of the process, which reads it with its next sign of life.
//! Every process on the database may leave one, whether a controller is active or not.

use dispatch::command::CommandResult;
use store::{Location, MachineRole, MachineWish, Store};

use super::CommandError;

/// Asks a machine to finish its work and take no more, or to work again.
pub fn drain(store: &Store, machine: &str, on: bool) -> Result<CommandResult, CommandError> {
    refuse_folder(store)?;
    let wish = if on { MachineWish::Drain } else { MachineWish::Work };
    if !store.ask_machine(machine, wish)? {
        let text = format!("there is no machine `{machine}`; `tidings machines` shows all of them");
        return Err(CommandError::Change(text));
    }
    Ok(CommandResult::Asked { machine: machine.to_owned() })
}

/// Asks the active controller to give its seat to another process.
pub fn step_down(store: &Store) -> Result<CommandResult, CommandError> {
    refuse_folder(store)?;
    let list = store.machines()?;
    let active = list.machines.into_iter().find(|m| m.role == MachineRole::Controller);
    let Some(active) = active else {
        let text = "no controller is active at the moment; one takes over soon";
        return Err(CommandError::Change(text.to_owned()));
    };
    store.ask_machine(&active.name, MachineWish::StepDown)?;
    Ok(CommandResult::Asked { machine: active.name })
}

/// A data folder belongs to one process.
fn refuse_folder(store: &Store) -> Result<(), CommandError> {
    match store.location() {
        Location::Postgres(_) => Ok(()),
        Location::Folder(_) => Err(CommandError::Change(
            "the store is in a data folder, which one process uses alone; several machines need \
             a PostgreSQL database (--database)"
                .to_owned(),
        )),
    }
}
