//! Whether the bus answers, and whether a controller is active there.

use std::time::Duration;

use dispatch::machine::WindowQuestion;
use dispatch::{Bus, GrantId};
use feed::FeedId;

use super::DoctorCheck;
use crate::config::Config;

/// The time to connect, and the time for an answer.
const WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Checks the bus, if one is configured.
pub async fn check(config: &Config) -> Option<DoctorCheck> {
    let about = "bus";
    // The rights of a key name the machine.
    let name = config.machine.name.clone();
    let name = name.unwrap_or_else(|| format!("doctor-{}", std::process::id()));
    let remedy =
        "check the address, the key and `ca` in the table [bus], and that nats-server runs";
    let settings = match config.bus.settings(&name) {
        Ok(settings) => settings?,
        Err(error) => return Some(DoctorCheck::trouble(about, error.to_string(), remedy.into())),
    };
    let bus = match Bus::connect(settings).await {
        Ok(bus) => bus,
        Err(error) => return Some(DoctorCheck::trouble(about, error.to_string(), remedy.into())),
    };
    let connected = async {
        while !bus.is_connected() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    if tokio::time::timeout(WITHIN, connected).await.is_err() {
        let says = format!("it does not answer within {} s, or refuses this key", WITHIN.as_secs());
        return Some(DoctorCheck::trouble(about, says, remedy.into()));
    }
    // The active controller answers every question for a window. Nobody has this one.
    let question = WindowQuestion { grant: GrantId(0), feed: FeedId(0), digest: [0; 16] };
    Some(match bus.ask("window", &question, WITHIN).await {
        Ok(_) => DoctorCheck::good(about, "it answers, and a controller is active".to_owned()),
        Err(error) => {
            let says = format!("it answers, but no controller does: {error}");
            let remedy = "start `tidings run` with the role `all` or `controller` and the same \
                          [bus]; the key must be allowed to ask for windows, under the name in \
                          `[machine] name`";
            DoctorCheck::advice(about, says, remedy.to_owned())
        }
    })
}
