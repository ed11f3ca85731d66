//! The processes of an instance on one database: each has a row, which it renews every two seconds.
//! The controller writes the rows of terminals, because they do not know the database.
//!
//! Ages are measured by the clock of the database. A data folder has one process and no rows.

use std::sync::Arc;
use std::time::Duration;

use feed::Time;

use crate::db::columns::time;
use crate::db::postgres::seat::NOW;
use crate::db::sql::{Connection, OptionalExtension, Row, params};
use crate::error::DbError;
use crate::{Store, StoreError};

/// How often a process renews its row.
pub const MACHINE_BEAT_EVERY: Duration = Duration::from_secs(2);
/// A process without a sign of life for so long is gone. Five beats are not lost by accident.
pub const MACHINE_SILENCE_MAX: Duration = Duration::from_secs(10);
/// A process without a sign of life for so long has missed two beats.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// Rows are deleted after so long without a sign of life.
const FORGET_AFTER: Duration = Duration::from_secs(60);

/// The duty of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MachineRole {
    /// It records and decides; there is one at a time.
    Controller,
    /// It takes over when the controller ends.
    Standby,
    Terminal,
    Web,
}

impl MachineRole {
    pub const ALL: [MachineRole; 4] =
        [MachineRole::Controller, MachineRole::Standby, MachineRole::Terminal, MachineRole::Web];

    pub const fn word(self) -> &'static str {
        match self {
            MachineRole::Controller => "controller",
            MachineRole::Standby => "standby",
            MachineRole::Terminal => "terminal",
            MachineRole::Web => "web",
        }
    }

    fn from_word(word: &str) -> MachineRole {
        MachineRole::ALL.into_iter().find(|role| role.word() == word).unwrap_or(MachineRole::Web)
    }
}

/// A request of an operator to a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MachineWish {
    /// Nothing.
    #[default]
    Work,
    /// Finish the work, take no more, and do not take the seat.
    Drain,
    /// Give the seat to another process.
    StepDown,
}

impl MachineWish {
    const fn number(self) -> i64 {
        match self {
            MachineWish::Work => 0,
            MachineWish::Drain => 1,
            MachineWish::StepDown => 2,
        }
    }

    const fn from_number(number: i64) -> MachineWish {
        match number {
            1 => MachineWish::Drain,
            2 => MachineWish::StepDown,
            _ => MachineWish::Work,
        }
    }
}

/// A sign of life of one process.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineBeat {
    pub name: Arc<str>,
    pub role: MachineRole,
    pub region: Option<Arc<str>>,
    pub version: Arc<str>,
    /// A random text, another one after each start.
    pub life: Arc<str>,
    /// Since when it has this role.
    pub since: Time,
    /// Polls that it can make at once; 0: it makes none.
    pub room: u64,
    pub in_flight: u64,
    pub polls_per_second: f64,
    /// The time of a question to the controller; for other roles, to the database.
    pub round_trip: Option<Duration>,
    pub network_up: bool,
    /// The epoch in which it records; 0 for other roles.
    pub epoch: i64,
}

/// The answer to a sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeatAnswer {
    Kept(MachineWish),
    /// Another process that is alive has this name.
    NameTaken,
}

/// A process, as an operator sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineRow {
    pub name: String,
    pub role: MachineRole,
    pub region: Option<String>,
    pub version: String,
    pub since: Time,
    /// The time since its last sign of life.
    pub silent_for: Duration,
    pub room: u64,
    pub in_flight: u64,
    pub polls_per_second: f64,
    pub round_trip: Option<Duration>,
    pub network_up: bool,
    pub wish: MachineWish,
    /// Requests that it may have under way, as the database knows them.
    pub grants: u64,
}

/// The most important fact about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineState {
    /// It shows no sign of life. It is listed until it is certainly gone.
    Silent,
    Draining,
    Drained,
    SteppingDown,
    NetworkDown,
    /// It takes over when the controller ends.
    Waiting,
    Working,
}

impl MachineState {
    pub const fn word(self) -> &'static str {
        match self {
            MachineState::Silent => "silent",
            MachineState::Draining => "draining",
            MachineState::Drained => "drained",
            MachineState::SteppingDown => "stepping down",
            MachineState::NetworkDown => "network down",
            MachineState::Waiting => "waiting",
            MachineState::Working => "working",
        }
    }
}

impl MachineRow {
    pub fn state(&self) -> MachineState {
        match self.wish {
            // A terminal ends when it is drained. A controller gives its seat away first.
            MachineWish::Drain if self.in_flight > 0 || self.role == MachineRole::Controller => {
                MachineState::Draining
            }
            MachineWish::Drain => MachineState::Drained,
            _ if self.silent_for >= SILENT_AFTER => MachineState::Silent,
            MachineWish::StepDown => MachineState::SteppingDown,
            MachineWish::Work if !self.network_up => MachineState::NetworkDown,
            MachineWish::Work if self.role == MachineRole::Standby => MachineState::Waiting,
            MachineWish::Work => MachineState::Working,
        }
    }
}

/// All processes, and the requests that nobody answers for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineList {
    /// The controller first, then by role and name.
    pub machines: Vec<MachineRow>,
    /// Grants of machines that are gone. Their domains wait for the end of the grant.
    pub orphaned_grants: u64,
    pub epoch: i64,
}

impl Store {
    /// Renews the rows of processes, and removes old rows. Returns an answer for each.
    pub fn beat_machines(&self, beats: Vec<MachineBeat>) -> Result<Vec<BeatAnswer>, StoreError> {
        self.write_own(move |conn| {
            if !conn.is_postgres() {
                return Ok(vec![BeatAnswer::Kept(MachineWish::Work); beats.len()]);
            }
            let answers = beats.iter().map(|beat| renew(conn, beat)).collect::<Result<_, _>>()?;
            let sql = format!("delete from machines where beat < {NOW} - $1");
            conn.execute(&sql, [millis(FORGET_AFTER)])?;
            Ok(answers)
        })
    }

    /// Removes the row of a process that ends.
    pub fn leave_machine(&self, name: &str, life: &str) -> Result<(), StoreError> {
        let (name, life) = (name.to_owned(), life.to_owned());
        self.write_own(move |conn| {
            conn.execute("delete from machines where name = $1 and life = $2", [name, life])?;
            Ok(())
        })
    }

    /// Notes what an operator asks a process to do. Returns whether there is such a process.
    pub fn ask_machine(&self, name: &str, wish: MachineWish) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_own(move |conn| {
            let sql = "update machines set drain = $1 where name = $2";
            Ok(conn.execute(sql, params![wish.number(), name])? > 0)
        })
    }

    /// Returns all processes that have shown a sign of life recently.
    pub fn machines(&self) -> Result<MachineList, StoreError> {
        self.read(|conn| match conn.is_postgres() {
            true => list(conn),
            false => Ok(MachineList::default()),
        })
    }
}

/// Writes one row. A living process keeps its name: another one with the same name gets no row. The
/// controller knows which of two terminals with one name is alive. A new controller does not know
/// since when a terminal works, but its row does.
fn renew(conn: &Connection, beat: &MachineBeat) -> Result<BeatAnswer, DbError> {
    let sql = format!(
        "insert into machines (name, role, region, version, life, since, beat, room, in_flight, \
         polls_per_second, round_trip_ms, network_up, figures) \
         values ($1, $2, $3, $4, $5, $6, {NOW}, $7, $8, $9, $10, $11, $12) \
         on conflict (name) do update set role = excluded.role, region = excluded.region, \
         version = excluded.version, life = excluded.life, \
         since = case when machines.life = excluded.life and machines.role = 'terminal' \
         and excluded.role = 'terminal' then machines.since else excluded.since end, \
         beat = excluded.beat, room = excluded.room, in_flight = excluded.in_flight, \
         polls_per_second = excluded.polls_per_second, \
         round_trip_ms = excluded.round_trip_ms, network_up = excluded.network_up, \
         figures = excluded.figures, \
         drain = case when machines.life = excluded.life then machines.drain else 0 end \
         where machines.life = excluded.life or machines.beat < {NOW} - $13 \
         or (machines.role = 'terminal' and excluded.role = 'terminal') \
         returning drain"
    );
    let figures = (beat.epoch > 0).then(|| format!("{{\"epoch\":{}}}", beat.epoch));
    let values = params![
        &*beat.name,
        beat.role.word(),
        beat.region.as_deref(),
        &*beat.version,
        &*beat.life,
        beat.since.millis(),
        count(beat.room),
        count(beat.in_flight),
        beat.polls_per_second,
        beat.round_trip.map(|took| took.as_secs_f64() * 1000.0),
        i64::from(beat.network_up),
        figures,
        millis(MACHINE_SILENCE_MAX),
    ];
    let kept: Option<i64> = conn.query_row(&sql, values, |row| row.get(0)).optional()?;
    Ok(kept
        .map_or(BeatAnswer::NameTaken, |drain| BeatAnswer::Kept(MachineWish::from_number(drain))))
}

fn list(conn: &Connection) -> Result<MachineList, DbError> {
    let epoch: i64 = conn.query_row("select epoch from seat", [], |row| row.get(0))?;
    let sql = format!(
        "select m.name, m.role, m.region, m.version, m.since, {NOW} - m.beat, m.room, \
         m.in_flight, m.polls_per_second, m.round_trip_ms, m.network_up, m.drain, m.figures, \
         (select count(*) from grants g where g.terminal = m.name and g.until > {NOW}) \
         from machines m where m.beat > {NOW} - $1"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([millis(MACHINE_SILENCE_MAX)], |row| machine_row(row, epoch))?;
    let mut machines: Vec<MachineRow> = rows.collect::<Result<_, _>>()?;
    machines.sort_by(|a, b| (a.role, &a.name).cmp(&(b.role, &b.name)));
    let sql = format!("select count(*) from grants where until > {NOW}");
    let n_all: i64 = conn.query_row(&sql, [], |row| row.get(0))?;
    let n_known: u64 = machines.iter().map(|machine| machine.grants).sum();
    let orphaned_grants = whole(n_all).saturating_sub(n_known);
    Ok(MachineList { machines, orphaned_grants, epoch })
}

/// A process that was replaced may not know it yet: it waits, whatever its row says.
fn machine_row(row: &Row<'_>, epoch: i64) -> crate::db::sql::Result<MachineRow> {
    let role = MachineRole::from_word(&row.get::<_, String>(1)?);
    let figures: Option<String> = row.get(12)?;
    let own_epoch = figures.and_then(|text| {
        serde_json::from_str::<serde_json::Value>(&text).ok()?.get("epoch")?.as_i64()
    });
    let was_replaced = role == MachineRole::Controller && own_epoch != Some(epoch);
    let round_trip_ms: Option<f64> = row.get(9)?;
    Ok(MachineRow {
        name: row.get(0)?,
        role: if was_replaced { MachineRole::Standby } else { role },
        region: row.get(2)?,
        version: row.get(3)?,
        since: time(row, 4)?,
        silent_for: Duration::from_millis(whole(row.get(5)?)),
        room: whole(row.get(6)?),
        in_flight: whole(row.get(7)?),
        polls_per_second: row.get(8)?,
        round_trip: round_trip_ms.map(|ms| Duration::from_secs_f64(ms.max(0.0) / 1000.0)),
        network_up: row.get::<_, i64>(10)? != 0,
        wish: MachineWish::from_number(row.get(11)?),
        grants: whole(row.get(13)?),
    })
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn whole(number: i64) -> u64 {
    number.max(0).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_is_not_drained_while_it_holds_the_seat() {
        let state = |role, in_flight| {
            let row = MachineRow {
                name: "m".to_owned(),
                role,
                region: None,
                version: String::new(),
                since: Time::MIN,
                silent_for: Duration::ZERO,
                room: 1,
                in_flight,
                polls_per_second: 0.0,
                round_trip: None,
                network_up: true,
                wish: MachineWish::Drain,
                grants: 0,
            };
            row.state()
        };
        assert_eq!(state(MachineRole::Controller, 0), MachineState::Draining);
        assert_eq!(state(MachineRole::Standby, 0), MachineState::Drained);
        assert_eq!(state(MachineRole::Terminal, 1), MachineState::Draining);
        assert_eq!(state(MachineRole::Terminal, 0), MachineState::Drained);
    }
}
