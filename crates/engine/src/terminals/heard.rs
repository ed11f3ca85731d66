//! The terminals on other machines as they describe themselves. Anybody with a key of the bus can
//! write such a message, so every field is checked or bounded.

use std::time::Duration;

use dispatch::machine::Here;
use dispatch::wire;
use feed::Time;

use super::{Registry, RemotePlace, TerminalSlot, Terminals};
use crate::network::Network;

/// Far more than any instance has. It limits what strangers on the bus can make us remember.
pub(super) const TERMINALS_MAX: usize = 1000;
/// The most requests of one terminal at once. One process can hardly make more.
pub(super) const ROOM_MAX: usize = 16_384;
const VERSION_BYTES_MAX: usize = 64;
/// A longer round trip is shown as this.
const ROUND_TRIP_MAX: Duration = Duration::from_secs(60);

impl Terminals {
    /// Notes that a terminal said that it is there. Returns the version of the wire form to use
    /// with it, or why it is refused.
    pub fn heard(
        &self,
        here: &Here,
        own_wire: u32,
        now: Time,
        clock: Duration,
    ) -> Result<u32, String> {
        check_words(here)?;
        let Some(wire) = wire::common(here.wire, own_wire) else {
            return Err(format!(
                "it speaks version {} of the messages and this controller {own_wire}; machines \
                 may be one release apart",
                here.wire
            ));
        };
        if here.identity_rule != feed::IDENTITY_RULE {
            return Err("it gives entries other keys; run the same release".to_owned());
        }
        let mut registry = self.lock();
        let place = registry.list.iter().position(|slot| *slot.name == *here.terminal);
        let place = match place {
            Some(place) => {
                registry.list[place].taken_by(here, now, clock)?;
                place
            }
            None => registry.add(TerminalSlot::new(&here.terminal, now, clock), clock)?,
        };
        let is_drained = registry.drained.contains(&here.life);
        let slot = &mut registry.list[place];
        slot.update(here, wire, clock);
        slot.is_drained = is_drained;
        Ok(wire)
    }

    /// Returns the place of a terminal by its name and by its life. Only the terminal itself and
    /// controllers know its life: others cannot hear its messages.
    pub fn place_of(&self, name: &str, life: &str) -> Option<usize> {
        let registry = self.lock();
        let is_it =
            |slot: &TerminalSlot| slot.remote.is_some() && *slot.name == *name && slot.life == life;
        registry.list.iter().position(is_it)
    }
}

/// Refuses texts that are not words: they become parts of subjects, rows and labels.
fn check_words(here: &Here) -> Result<(), String> {
    let words = [Some(&here.terminal), Some(&here.life), here.region.as_ref()];
    let is_version = here.version.len() <= VERSION_BYTES_MAX
        && here.version.chars().all(|c| c.is_ascii_graphic());
    if !is_version || !words.into_iter().flatten().all(|word| feed::is_machine_word(word)) {
        return Err("its name, region, life or version is not a word".to_owned());
    }
    Ok(())
}

impl Registry {
    /// Adds a terminal, in the place of one that has ended if there is such a place. The others
    /// keep their places, because open grants name them.
    fn add(&mut self, slot: TerminalSlot, clock: Duration) -> Result<usize, String> {
        let has_ended = |old: &TerminalSlot| old.n_open == 0 && old.is_silent(clock);
        if let Some(place) = self.list.iter().position(has_ended) {
            self.list[place] = slot;
            return Ok(place);
        }
        if self.list.len() >= TERMINALS_MAX {
            return Err(format!("there are {TERMINALS_MAX} terminals already"));
        }
        self.list.push(slot);
        Ok(self.list.len() - 1)
    }
}

impl TerminalSlot {
    /// Refuses another process with the name of a terminal that is there.
    fn taken_by(&mut self, here: &Here, now: Time, clock: Duration) -> Result<(), String> {
        let is_another = self.life != here.life;
        if self.remote.is_none() || (is_another && !self.is_silent(clock)) {
            return Err(format!(
                "another machine is called {}; give each a name of its own: --name",
                here.terminal
            ));
        }
        if is_another {
            (self.since, self.network) = (now, Network::default());
        }
        Ok(())
    }

    fn update(&mut self, here: &Here, wire: u32, clock: Duration) {
        self.region.clone_from(&here.region);
        self.version.clone_from(&here.version);
        self.life.clone_from(&here.life);
        let subject = format!("job.{}.{}", here.terminal, here.life).into();
        (self.remote, self.heard) = (Some(RemotePlace { subject, wire }), clock);
        self.room = here.room.min(ROOM_MAX);
        self.round_trip = here.round_trip.map(|took| took.min(ROUND_TRIP_MAX));
        (self.draining, self.takes_errands) = (here.draining, here.takes_errands);
    }
}
