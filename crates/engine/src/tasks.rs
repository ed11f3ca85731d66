//! Starts the tasks of an engine besides its controller: the workers of this process, the road to
//! terminals on other machines, and the tasks that make no polls.

use std::collections::HashMap;
use std::sync::Arc;

use dispatch::{Stopwatch, WorkerEnd};
use terminal::Worker;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::context::Context;
use crate::errand_road::{ErrandBus, ErrandRoad};
use crate::grants::GrantBook;
use crate::road::{BusRoad, RoadContext};
use crate::terminals::Terminals;
use crate::{
    articles, deliver, icons, indexing, moved_in, people, plan, road, rules, site_looks, stories,
    subscriber, upkeep,
};

/// Returns the way of errands to the terminals of their regions, with the bus if there is one.
pub fn errand_road(
    road: Option<&BusRoad>,
    grants: Option<&GrantBook>,
    terminals: &Arc<Terminals>,
    stopwatch: Stopwatch,
    regions: &HashMap<String, String>,
) -> Arc<ErrandRoad> {
    let bus = road.zip(grants).map(|(road, book)| ErrandBus {
        bus: road.bus.clone(),
        epoch: book.epoch(),
        grant_life: book.life(),
        bytes_max: road.terms.fetch.body_bytes_max,
    });
    Arc::new(ErrandRoad::new(Arc::clone(terminals), stopwatch, regions.clone(), bus))
}

/// Starts to serve terminals on the bus, if there is one.
pub fn serve_road(
    road: Option<&BusRoad>,
    context: &Arc<Context>,
    terminals: &Arc<Terminals>,
    stopwatch: Stopwatch,
    window_of: road::WindowLookup,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    if let (Some(road), Some(book)) = (road, &context.grants) {
        tasks.spawn(road::run(Arc::new(RoadContext {
            road: road.clone(),
            context: Arc::clone(context),
            terminals: Arc::clone(terminals),
            stopwatch,
            epoch: book.epoch(),
            grant_life: plan::grant_life(context.fetcher.exchange_time_max()),
            window_of,
        })));
    }
    tasks
}

/// Starts the workers of the terminal in this process.
pub fn workers(
    context: &Context,
    stopwatch: Stopwatch,
    end: &WorkerEnd,
    cut: &watch::Receiver<bool>,
) -> JoinSet<()> {
    let settings = &context.settings;
    let fetcher = Arc::clone(&context.fetcher);
    let (limits, keeps_bodies) = (settings.parse, settings.keeps_answers);
    let worker = Arc::new(Worker { fetcher, limits, keeps_bodies, stopwatch, windows: None });
    let mut tasks = JoinSet::new();
    for _ in 0..settings.polls_in_flight_max {
        tasks.spawn(terminal::run(Arc::clone(&worker), end.clone(), cut.clone()));
    }
    tasks
}

/// Starts the tasks that make no polls.
pub fn side_tasks(context: &Arc<Context>, stop: &watch::Receiver<bool>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(deliver::run(Arc::clone(context), stop.clone()));
    tasks.spawn(indexing::run(Arc::clone(context), stop.clone()));
    tasks.spawn(stories::run(Arc::clone(context), stop.clone()));
    tasks.spawn(articles::run(Arc::clone(context), stop.clone()));
    tasks.spawn(rules::run(Arc::clone(context), stop.clone()));
    tasks.spawn(icons::run(Arc::clone(context), stop.clone()));
    tasks.spawn(upkeep::retain(Arc::clone(context), stop.clone()));
    tasks.spawn(upkeep::cluster(Arc::clone(context), stop.clone()));
    tasks.spawn(upkeep::recover(Arc::clone(context), stop.clone()));
    tasks.spawn(upkeep::remove_ended_grants(Arc::clone(context), stop.clone()));
    tasks.spawn(people::run(Arc::clone(context), stop.clone()));
    tasks.spawn(site_looks::run(Arc::clone(context), stop.clone()));
    tasks.spawn(moved_in::run(Arc::clone(context), stop.clone()));
    tasks.spawn(subscriber::receive(Arc::clone(context), stop.clone()));
    tasks.spawn(subscriber::subscribe(Arc::clone(context), stop.clone()));
    tasks
}
