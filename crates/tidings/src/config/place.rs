//! The data folder, the database, and the keys of `[store]` and `[machine]`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::source::ConfigSource;
use super::{DATA, DurationText};
use crate::args::InstanceArgs;
use crate::args::operate::BusArgs;
use crate::error::{CliError, input_error};

/// After so long without a sign of life, another process replaces the one that records.
pub const SEAT_SILENCE: Duration = Duration::from_secs(5);
/// The process that records shows a sign of life once a second. A shorter limit would replace a
/// process that is only busy.
const SEAT_SILENCE_MIN: Duration = Duration::from_secs(3);
/// Connections for reading.
pub const READERS: usize = 8;
/// A higher number is a mistake: a database server allows a hundred connections by default.
const READERS_MAX: usize = 256;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreTable {
    readers: Option<usize>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineTable {
    name: Option<String>,
    region: Option<String>,
    seat_silence: Option<DurationText>,
}

/// How a process is called, and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineSettings {
    /// `None`: a name is made from the host, the role and a random suffix.
    pub name: Option<String>,
    pub region: Option<String>,
}

/// Returns the folder of the flag, or of the file, or the default. It need not exist yet.
pub fn data_folder(
    place: &InstanceArgs,
    of_file: Option<PathBuf>,
    source: &ConfigSource,
) -> Result<PathBuf, CliError> {
    let data = place.data.clone().or(of_file).unwrap_or_else(|| DATA.into());
    if !data.is_file() {
        return Ok(data);
    }
    let reason = format!("{} is a file, not a folder", data.display());
    Err(match place.data {
        Some(_) => input_error(format!("--data: {reason}; for example: --data ./{DATA}")),
        None => source.fault("", "data", reason),
    })
}

/// Returns the database of the flag, or of the file; without one, the store is in the data folder.
pub fn store_location(
    place: &InstanceArgs,
    of_file: Option<&str>,
    table: &StoreTable,
    data: &Path,
    source: &ConfigSource,
) -> Result<store::Location, CliError> {
    let readers = table.readers.unwrap_or(READERS);
    if readers == 0 || readers > READERS_MAX {
        let reason = format!("{readers} is not between 1 and {READERS_MAX}");
        return Err(source.fault("store", "readers", reason));
    }
    let Some(text) = place.database.as_deref().or(of_file) else {
        return Ok(store::Location::Folder(data.to_owned()));
    };
    match store::PgAddress::parse(text, &|name| std::env::var(name).ok()) {
        Ok(address) => Ok(store::Location::Postgres(address.with_readers(readers))),
        Err(error) if place.database.is_some() => Err(input_error(format!("--database: {error}"))),
        Err(error) => Err(source.fault("", "database", error.to_string())),
    }
}

pub fn seat_silence(table: &MachineTable, source: &ConfigSource) -> Result<Duration, CliError> {
    let silence = table.seat_silence.as_ref().map_or(SEAT_SILENCE, |text| text.0);
    if silence < SEAT_SILENCE_MIN {
        let reason = format!("the shortest time is {} s", SEAT_SILENCE_MIN.as_secs());
        return Err(source.fault("machine", "seat_silence", reason));
    }
    Ok(silence)
}

/// Returns the name and the region of the file.
pub fn machine(table: &MachineTable, source: &ConfigSource) -> Result<MachineSettings, CliError> {
    let checked = |key: &str, text: &Option<String>| match text.as_deref().map(check_name) {
        Some(Err(reason)) => Err(source.fault("machine", key, reason)),
        _ => Ok(text.clone()),
    };
    let (name, region) = (checked("name", &table.name)?, checked("region", &table.region)?);
    Ok(MachineSettings { name, region })
}

impl MachineSettings {
    /// Replaces what the flags name.
    pub fn with(mut self, args: &BusArgs) -> Result<MachineSettings, CliError> {
        for (flag, of_flag, place) in
            [("name", &args.name, &mut self.name), ("region", &args.region, &mut self.region)]
        {
            let Some(text) = of_flag else { continue };
            check_name(text).map_err(|reason| input_error(format!("--{flag}: {reason}")))?;
            *place = Some(text.clone());
        }
        Ok(self)
    }
}

fn check_name(text: &str) -> Result<(), String> {
    match feed::is_machine_word(text) {
        true => Ok(()),
        false => Err(format!("`{text}` is not a name; use 1 to 64 letters, digits, `-` and `_`")),
    }
}
