//! `tidings query deliveries [NAME]`: shows the progress of each receiver and its dead letters.

use ::query::masked_receiver;
use api::plural;
use dispatch::command::{QueriesCommand, QueriesResult};
use engine::Clock;
use serde_json::{Value, json};
use store::{DeadLetter, DeliveryRow, Store};

use super::{carry_out, find, odd_answer};
use crate::args::InstanceArgs;
use crate::args::whose::WhoseArgs;
use crate::error::CliError;
use crate::output::{ahead, one_line, print_json, print_line, relative};
use crate::{access, config};

/// Dead letters of one receiver that a terminal shows.
const NAMED_MAX: usize = 20;

pub async fn run(
    name: Option<&str>,
    replay: bool,
    as_json: bool,
    whose: &WhoseArgs,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    let config = config::read_offline(place)?;
    if let (Some(name), true) = (name, replay) {
        let (name, account) = (name.to_owned(), whose.account(&config)?);
        let granted = carry_out(&config, QueriesCommand::Replay { name, account }).await?;
        let QueriesResult::Replaying { letters } = granted else { return Err(odd_answer()) };
        if as_json {
            return print_json(&json!({"replaying": letters}));
        }
        return {
            let deliveries = plural(letters as u64, "delivery", "deliveries");
            print_line(&format!("{deliveries} will be tried again while tidings run is running."))
        };
    }
    let store = access::read(&config)?;
    let queries = match name {
        Some(name) => vec![find(&store, whose.find(&store)?, name)?],
        None => store.queries_of(whose.find(&store)?)?,
    };
    let (mut values, mut n) = (Vec::new(), 0);
    for query in &queries {
        for delivery in store.deliveries(Some(query.id))? {
            n += 1;
            let letters = store.dead_letters(delivery.id)?;
            if as_json {
                values.push(value(&query.name, &delivery, &letters));
            } else {
                say(&store, &query.name, &delivery, &letters)?;
            }
        }
    }
    if as_json {
        return print_json(&values);
    }
    if n == 0 {
        let who = name.map_or("no query has deliveries".to_owned(), |name| {
            format!("{name} has no deliveries")
        });
        return print_line(&format!("{who}; see DELIVER TO in docs/reference/queries.md."));
    }
    Ok(())
}

fn value(query: &str, delivery: &DeliveryRow, letters: &[DeadLetter]) -> Value {
    let dead: Vec<Value> = letters
        .iter()
        .map(|letter| {
            json!({
                "entry": letter.entry.0,
                "at": letter.at.to_string(),
                "attempts": letter.attempts,
                "error": letter.error,
                "replaying": letter.to_replay,
            })
        })
        .collect();
    json!({
        "query": query,
        "receiver": masked_receiver(&delivery.receiver),
        "waiting": delivery.n_waiting,
        "attempts": delivery.attempts,
        "next_attempt": delivery.next_at.map(|at| at.to_string()),
        "delivered_at": delivery.delivered_at.map(|at| at.to_string()),
        "error": delivery.error,
        "dead_letters": dead,
    })
}

fn say(
    store: &Store,
    query: &str,
    delivery: &DeliveryRow,
    letters: &[DeadLetter],
) -> Result<(), CliError> {
    let now = Clock::System.now();
    let last = delivery.delivered_at.map_or("never".to_owned(), |at| relative(at, now));
    print_line(&format!("{query}: {}", masked_receiver(&delivery.receiver)))?;
    print_line(&format!("  {} waiting, last delivered {last}", delivery.n_waiting))?;
    if let (Some(error), Some(next)) = (&delivery.error, delivery.next_at) {
        let again = ahead(next, now);
        let n = delivery.attempts;
        let times = plural(n.into(), "time", "times");
        print_line(&format!("  failed {times}: {}; next try {again}", one_line(error, 200)))?;
    }
    for letter in letters.iter().take(NAMED_MAX) {
        let entry = store.entry(letter.entry)?;
        let title = entry.and_then(|entry| entry.title).unwrap_or_default();
        let (at, error) = (relative(letter.at, now), one_line(&letter.error, 100));
        let title = one_line(&title, 60);
        print_line(&format!("  given up: entry {} {title}, {at}: {error}", letter.entry))?;
    }
    if letters.len() > NAMED_MAX {
        print_line(&format!("  and {} more given up", letters.len() - NAMED_MAX))?;
    }
    Ok(())
}
