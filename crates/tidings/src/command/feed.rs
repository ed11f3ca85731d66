//! `tidings feed …`: add, list, show, explain, poll, set up, move, remove.

pub mod bulk;
mod fetch;
mod list;
mod poll;

use std::time::Duration;

use api::{fetch_change, plural};
use dispatch::command::{Command, CommandResult, FeedSettingsChange, NotAdded, Target};
use engine::Clock;
use polling::model::behaviour::Behaviour;
use serde_json::{Map, Value, json};
use store::{AccountId, FeedRow, Store};

use super::why;
use crate::args::fetch::FetchArgs;
use crate::args::whose::WhoseArgs;
use crate::args::{self, FeedCommand, FeedSet, InstanceArgs, NetworkArgs, OneFeed};
use crate::error::{CliError, failed, failed_silently, input_error};
use crate::output::{self, one_line, print_json, print_line, shown_url};
use crate::{access, config};

pub async fn run(feed: FeedCommand) -> Result<(), CliError> {
    match feed {
        FeedCommand::Add { urls, tags, no_poll, force, json, whose, network, place } => {
            let account = whose.account(&config::read(&place, &network)?)?;
            let command = Command::Add { urls, tags, poll: !no_poll, force, account };
            add(command, json, &network, &place).await
        }
        FeedCommand::List(asked) => list::run(asked),
        FeedCommand::Show(one) => show(&one),
        FeedCommand::Why(one) => why::run(&one),
        FeedCommand::Poll { feeds, all, json, network, place } => {
            let feeds = (!all).then_some(feeds);
            poll::run(feeds, json, &network, &place).await
        }
        FeedCommand::Set(set) => change(*set).await,
        FeedCommand::Change(wanted) => bulk::change(*wanted).await,
        FeedCommand::Undo(undo) => bulk::undo(undo).await,
        FeedCommand::Move { feed, url, json, place } => move_feed(feed, url, json, &place).await,
        FeedCommand::Remove { one, whose } => remove(one, &whose).await,
    }
}

async fn add(
    command: Command,
    json: bool,
    network: &NetworkArgs,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    let config = config::read(place, network)?;
    let spinner = output::spinner("polling the feed");
    let done = access::carry_out(&config, command, &|_, _| ()).await;
    spinner.finish_and_clear();
    let CommandResult::Added { feeds, not_added } = done? else { return Err(other_answer()) };
    if json {
        let mut rows = feeds.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
        rows.extend(not_added.iter().map(|one| {
            json!({ "id": null, "url": one.url, "existed": false, "twin": null, "poll": one.poll })
        }));
        print_json(&rows)?;
        return if not_added.is_empty() { Ok(()) } else { Err(failed_silently()) };
    }
    for feed in &feeds {
        let known = if feed.existed { "already there" } else { "added" };
        print_line(&format!("feed {} {known}: {}", feed.id, feed.url))?;
        if let Some(poll) = &feed.poll {
            let next = poll.next_poll.as_deref().unwrap_or("never");
            print_line(&format!("  {}: {}; next poll {next}", poll.outcome, poll.detail))?;
            for candidate in &poll.candidates {
                print_line(&format!("  the page links to this feed: {candidate}"))?;
            }
        }
        if let Some(twin) = &feed.twin {
            print_line(&format!("  it looks like the same feed as {twin}; both stay"))?;
        }
    }
    if not_added.is_empty() { Ok(()) } else { Err(refused(&not_added)) }
}

fn refused(not_added: &[NotAdded]) -> CliError {
    let mut lines = Vec::new();
    for one in not_added {
        lines.push(one.words());
        let candidates = one.poll.candidates.iter();
        lines.extend(
            candidates.map(|candidate| format!("  the page links to this feed: {candidate}")),
        );
    }
    lines.push("it was not added; --force adds it anyway".to_owned());
    failed(lines.join("\n"))
}

/// Returns when the feed is polled next, unless it is paused or gone. If the last poll is ahead of
/// the clock, the clock was set back since. The daemon moves the next poll by the same time when it
/// starts.
pub fn next_poll(f: &FeedRow, now: feed::Time) -> Option<feed::Time> {
    let by_itself = f.location.gone.is_none() && !f.paused;
    let back = f.history.last_poll_at.map_or(Duration::ZERO, |last| last.since(now));
    f.schedule.next_at.filter(|_| by_itself).map(|at| at - back)
}

/// Returns the row of `feed list --json`.
fn list_json(f: &FeedRow, now: feed::Time) -> Value {
    json!({
        "id": f.id.0,
        "url": f.location.url.masked(),
        "title": f.shown_title(),
        "tags": f.tags,
        "state": f.state().word(),
        "last_poll": f.history.last_poll_at.map(|t| t.to_string()),
        "next_poll": next_poll(f, now).map(|t| t.to_string()),
        "entries": f.entries,
        "error": f.error(),
    })
}

/// How a feed posts: each fact of the papers with its meaning; nothing before the first poll.
fn behaviour(store: &Store, feed: &FeedRow) -> Result<Map<String, Value>, CliError> {
    let mut found = Map::new();
    if let Some(polled_at) = feed.history.last_poll_at {
        let times = store.published_times(feed.id)?;
        for fact in Behaviour::of(&times, polled_at).facts() {
            let name = fact.name.to_lowercase().replace(' ', "_");
            found.insert(name, json!({"value": fact.value, "meaning": fact.meaning}));
        }
    }
    Ok(found)
}

fn show(one: &OneFeed) -> Result<(), CliError> {
    let config = config::read_offline(&one.place)?;
    let store = access::read(&config)?;
    let f = store.feed(find(&store, &one.feed)?)?;
    let push = store.push(f.id)?;
    let mut value = list_json(&f, Clock::System.now());
    let text = |t: Option<feed::Time>| t.map(|t| t.to_string());
    let more = json!({
        "effective_url": f.location.effective_url.as_ref().map(|u| u.masked()),
        "domain": f.domain,
        "site": f.facts.site,
        "language": f.facts.language,
        "categories": f.facts.categories,
        "hub": f.facts.hub.as_deref().map(shown_url),
        "pushed_until": push.as_ref().and_then(|p| text(p.lease_until)),
        "last_push": push.as_ref().and_then(|p| text(p.pushed_at)),
        "pushes": push.as_ref().map(|p| p.n_pushes),
        "push_error": push.as_ref().and_then(|p| p.error.clone()),
        "rss_cloud": f.facts.cloud,
        "added_at": f.added_at.to_string(),
        "policy": f.settings.policy,
        "alpha_seconds": f.settings.alpha.map(|d| d.as_secs()),
        "beta_seconds": f.settings.beta.map(|d| d.as_secs()),
        "max_delay_seconds": f.settings.max_delay.map(|d| d.as_secs()),
        "weight": f.settings.weight,
        "polls": f.generation,
        "failures": f.history.failures,
        "last_outcome": f.last_outcome.map(|o| o.word()),
        "last_success": text(f.history.last_success_at),
        "last_new_entry": text(f.history.last_change_at),
        "wanted_at": text(f.schedule.wanted_at),
        "reason": f.schedule.why.reason,
        "held": f.schedule.why.held,
        "gone": f.location.gone.as_ref().map(|g| g.reason.clone()),
        "requests": requests(&store, f.id)?,
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut value, more) {
        all.extend(more);
        all.extend(behaviour(&store, &f)?);
    }
    if one.json {
        return print_json(&value);
    }
    let Value::Object(all) = &value else { return Ok(()) };
    for (name, value) in all {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => one_line(text, 300),
            Value::Array(many) if many.is_empty() => continue,
            Value::Object(fact) => {
                let part = |name: &str| fact.get(name).and_then(Value::as_str).unwrap_or_default();
                format!("{}. {}", part("value"), part("meaning"))
            }
            other => other.to_string(),
        };
        print_line(&format!("{:<18} {text}", name.replace('_', " ")))?;
    }
    Ok(())
}

/// The settings for the requests of a feed, without secrets.
fn requests(store: &Store, feed: feed::FeedId) -> Result<Vec<String>, CliError> {
    let rows = store.fetch_settings_of(feed)?.into_iter();
    let rows = rows.map(|row| format!("{}: {}", row.setting.name(), fetch_change::shown(&row)));
    Ok(rows.collect())
}

pub fn find(store: &Store, name: &str) -> Result<feed::FeedId, CliError> {
    find_of(store, AccountId::LOCAL, name)
}

/// Finds a feed that an account reads.
fn find_of(store: &Store, account: AccountId, name: &str) -> Result<feed::FeedId, CliError> {
    store.find_feed_of(account, name)?.ok_or_else(|| {
        input_error(format!(
            "there is no feed {}; list all with: tidings feed list",
            shown_url(name)
        ))
    })
}

async fn change(set: FeedSet) -> Result<(), CliError> {
    let config = config::read_offline(&set.place)?;
    let target = match (set.feed, set.tag) {
        (Some(feed), _) => Target::Feed(feed),
        (None, Some(tag)) => Target::Tag(tag),
        (None, None) => return Err(input_error("name a feed, or a tag with --tag".to_owned())),
    };
    let change = FeedSettingsChange {
        policy: set.policy.map(|p| (p != "default").then_some(p)),
        alpha: seconds("--alpha", set.alpha)?,
        beta: seconds("--beta", set.beta)?,
        max_delay: seconds("--max-delay", set.max_delay)?,
        weight: set.weight,
        paused: if set.pause { Some(true) } else { set.resume.then_some(false) },
        articles: set.articles.as_deref().map(article_mode).transpose()?,
        article_selector: set.article_selector.map(|css| (css != "default").then_some(css)),
        region: set.region.map(|region| (region != "any").then_some(region)),
    };
    let mut commands = Vec::new();
    if set.fetch != FetchArgs::default() {
        let Target::Feed(name) = &target else {
            let text = "settings for requests belong to one feed; name it instead of --tag";
            return Err(input_error(text.to_owned()));
        };
        let store = access::read(&config)?;
        let whose = set.whose.find(&store)?;
        let account = (whose != AccountId::LOCAL).then_some(whose.0);
        let feed = find_of(&store, whose, name)?;
        commands.extend(fetch::command(&set.fetch, &config, &store, feed, account)?);
    } else if set.whose.user.is_some() {
        let text = "--user: only the settings for requests belong to one account";
        return Err(input_error(text.to_owned()));
    }
    if change != FeedSettingsChange::default() {
        commands.push(Command::Set { target, change });
    }
    if commands.is_empty() {
        let what = "--policy, --alpha, --beta, --weight, --max-delay, --articles, \
                    --article-selector, --region, --pause, --resume or a flag for its requests";
        return Err(input_error(format!("nothing to set; name one of {what}")));
    }
    let command = Command::Together { commands };
    let done = access::carry_out(&config, command, &|_, _| ()).await?;
    let CommandResult::Set { feeds } = done else { return Err(other_answer()) };
    if set.json {
        return print_json(&json!({ "feeds": feeds }));
    }
    let later = if feeds == 0 { "; it will apply to feeds that get the tag" } else { "" };
    print_line(&format!("set for {}{later}", plural(feeds as u64, "feed", "feeds")))
}

fn article_mode(word: &str) -> Result<Option<feed::ArticleMode>, CliError> {
    match feed::ArticleMode::from_word(word) {
        Some(mode) => Ok(Some(mode)),
        None if word == "default" => Ok(None),
        None => Err(input_error(format!(
            "--articles: `{word}` is not `never`, `opened`, `every` or `default`"
        ))),
    }
}

fn seconds(flag: &str, text: Option<String>) -> Result<Option<Option<u64>>, CliError> {
    text.map(|t| match t.as_str() {
        "default" => Ok(None),
        _ => args::duration(&t)
            .map(|d: Duration| Some(d.as_secs()))
            .map_err(|e| input_error(format!("{flag}: {e}"))),
    })
    .transpose()
}

async fn move_feed(
    feed: String,
    url: String,
    json: bool,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    let config = config::read_offline(place)?;
    let command = Command::Move { feed, url };
    let done = access::carry_out(&config, command, &|_, _| ()).await?;
    let CommandResult::Moved { feed, from, url, queries } = done else {
        return Err(other_answer());
    };
    if json {
        let value = json!({ "id": feed, "from": from, "url": url, "queries": queries });
        return print_json(&value);
    }
    print_line(&format!("feed {feed} moved from {from} to {url}; it is polled there next"))?;
    for query in queries {
        print_line(&format!(
            "  query {query} names the old address: write the new one there and run \
             `tidings query apply`"
        ))?;
    }
    Ok(())
}

async fn remove(one: OneFeed, whose: &WhoseArgs) -> Result<(), CliError> {
    let config = config::read_offline(&one.place)?;
    let account = whose.account(&config)?;
    let command = Command::Remove { feed: one.feed, account };
    let done = access::carry_out(&config, command, &|_, _| ()).await?;
    let CommandResult::Removed { feed, url } = done else { return Err(other_answer()) };
    if one.json {
        return print_json(&json!({ "id": feed, "url": url }));
    }
    match &whose.user {
        None => print_line(&format!("feed {feed} removed: {url}")),
        Some(name) => print_line(&format!("{name} no longer reads feed {feed}: {url}")),
    }
}

fn other_answer() -> CliError {
    failed("the daemon gave an unexpected answer; it may be another version".to_owned())
}
