//! The place of a process among several machines: its name, its road to the others, and the process
//! of a terminal.

use dispatch::Bus;
use engine::BusRoad;
use terminal::{Terminal, TerminalSettings, look_terms};

use super::{RunRole, wait_for_signal};
use crate::args::RunArgs;
use crate::config::{Config, MachineSettings};
use crate::error::{CliError, failed, input_error};

/// How a process is called among the machines.
#[derive(Clone, Debug)]
pub struct MachinePlace {
    pub name: String,
    pub region: Option<String>,
    /// Another text after each start.
    pub life: String,
}

impl MachinePlace {
    /// `chance` is a random number; it makes a name that nobody else has.
    pub fn new(settings: &MachineSettings, role: RunRole, chance: u64) -> MachinePlace {
        let made = || format!("{}-{}-{:04x}", host(), role.word(), chance & 0xffff);
        MachinePlace {
            name: settings.name.clone().unwrap_or_else(made),
            region: settings.region.clone(),
            life: format!("{chance:016x}"),
        }
    }
}

/// The name of this machine, with the characters of names only.
fn host() -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name = store::host_name().unwrap_or_else(|| "machine".to_owned());
    name.chars().map(letter).take(40).collect()
}

/// Returns the road to terminals, if this process may control them and a bus is configured.
pub async fn road(
    config: &Config,
    role: RunRole,
    place: &MachinePlace,
) -> Result<Option<BusRoad>, CliError> {
    if !matches!(role, RunRole::All | RunRole::Controller) {
        return Ok(None);
    }
    let Some(settings) = config.bus.settings(&place.name)? else { return Ok(None) };
    let bus = Bus::connect(settings).await.map_err(|error| failed(error.to_string()))?;
    let engine = &config.engine;
    let terms = look_terms(&config.fetch, &engine.parse, engine.keeps_answers);
    Ok(Some(BusRoad { bus, terms }))
}

/// Runs a terminal until a signal or the controller ends it.
pub async fn run(config: &Config, args: &RunArgs) -> Result<(), CliError> {
    if args.demo || args.once {
        let text = "--role terminal polls for a controller; leave out --demo and --once";
        return Err(input_error(text.to_owned()));
    }
    let place = MachinePlace::new(&config.machine, args.role, config.engine.seed);
    let Some(settings) = config.bus.settings(&place.name)? else {
        return Err(input_error(
            "--role terminal takes its work from a bus; name it: --bus nats://127.0.0.1:4222"
                .to_owned(),
        ));
    };
    let bus = Bus::connect(settings).await.map_err(|error| failed(error.to_string()))?;
    tracing::info!(name = place.name, "this terminal waits for the active controller");
    let terminal = Terminal::new(
        bus,
        TerminalSettings {
            name: place.name,
            region: place.region,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            life: place.life,
            room: config.bus.room,
            cache_bytes: config.bus.cache_bytes,
            outgoing_proxies: config.fetch.outgoing_proxies.clone(),
        },
    );
    let stop = async {
        if let Err(error) = wait_for_signal().await {
            tracing::error!(%error, "cannot wait for signals");
        }
        tracing::info!("stopping; what is under way may end");
    };
    terminal.run(stop).await.map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_host_role_and_chance() {
        let made = MachinePlace::new(&MachineSettings::default(), RunRole::Web, 0x1_2345);
        assert!(made.name.ends_with("-web-2345"), "{}", made.name);
        assert!(feed::is_machine_word(&made.name));
        let named = MachineSettings { name: Some("box".to_owned()), region: None };
        assert_eq!(MachinePlace::new(&named, RunRole::Web, 7).name, "box");
    }
}
