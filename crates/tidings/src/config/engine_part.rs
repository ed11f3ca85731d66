//! The settings of the engine: defaults of feeds, gaps, workers, limits and retention.

use std::collections::HashMap;

use engine::Gaps;
use polling::{Bounds, PolicySpec};

use super::source::ConfigSource;
use super::{ConfigFile, DomainTable, LimitsTable};
use crate::args::NetworkArgs;
use crate::error::{CliError, input_error};

pub(super) fn engine_settings(
    file: &ConfigFile,
    network: &NetworkArgs,
    source: &ConfigSource,
) -> Result<engine::Settings, CliError> {
    let wrong = |key: &str, reason: String| source.fault("defaults", key, reason);
    let mut settings = engine::Settings::new();
    let defaults = &file.defaults;
    if let Some(spec) = &defaults.policy {
        settings.policy = spec.parse::<PolicySpec>().map_err(|e| wrong("policy", e.to_string()))?;
    }
    let eta = defaults.eta.as_ref().map_or(settings.bounds.eta, |t| t.0);
    let alpha = defaults.alpha.as_ref().map_or(settings.bounds.alpha, |t| t.0);
    let beta = defaults.beta.as_ref().map_or(settings.bounds.beta, |t| t.0);
    settings.bounds =
        Bounds::new(alpha, beta, eta).map_err(|e| wrong("alpha", e.to_string()))?.by_cause();
    settings.follow_hints = match defaults.hints.as_deref() {
        None | Some("lower") => true,
        Some("ignore") => false,
        Some(other) => {
            return Err(wrong("hints", format!("`{other}` is neither lower nor ignore")));
        }
    };
    settings.learn_relevant = match defaults.learn.as_deref() {
        None | Some("all") => false,
        Some("relevant") => true,
        Some(other) => {
            return Err(wrong("learn", format!("`{other}` is neither all nor relevant")));
        }
    };
    // `xtask machines figure-3` measures the work that hashes and windows save.
    settings.reads_whole = std::env::var_os("TIDINGS_TEST_WHOLE").is_some();
    settings.budget = file.budget.as_ref().map(|table| table.rule(source)).transpose()?;
    settings.gaps = Gaps {
        default: network
            .domain_gap
            .or(file.domain_gap.as_ref().map(|t| t.0))
            .unwrap_or(settings.gaps.default),
        by_domain: of_domains(file, |table| table.gap.as_ref().map(|gap| gap.0)),
    };
    settings.regions = of_domains(file, |table| table.region.clone());
    for (name, region) in &settings.regions {
        if !feed::is_machine_word(region) {
            let why = format!("`{region}` is not a word of letters, digits, `-` and `_`");
            return Err(source.fault(&format!("domain.\"{name}\""), "region", why));
        }
    }
    if let Some(n) = network.workers.or(file.workers) {
        if n == 0 {
            let reason = "0 would never poll; give 1 or more";
            return Err(match network.workers {
                Some(_) => input_error(format!("--workers: {reason}")),
                None => source.fault("", "workers", reason),
            });
        }
        settings.polls_in_flight_max = n;
    }
    refuse_zero(&file.limits, source)?;
    if let Some(items) = file.limits.items {
        settings.parse.items_max = items;
    }
    settings.retention.entries_age_max = file.limits.entry_age.as_ref().map(|t| t.0);
    settings.retention.entries_per_feed_max = file.limits.entries_per_feed;
    settings.retention.entries_max = file.limits.entries;
    settings.retention.keys_age_max = file.limits.key_age.as_ref().map(|t| t.0);
    Ok(settings)
}

/// Reads one key of all tables of domains.
fn of_domains<T>(
    file: &ConfigFile,
    read: impl Fn(&DomainTable) -> Option<T>,
) -> HashMap<String, T> {
    let domains = file.domain.iter();
    domains.filter_map(|(name, table)| Some((name.to_ascii_lowercase(), read(table)?))).collect()
}

/// Refuses zero as a limit. Elsewhere 0 often means "no limit"; here it would drop every stored
/// entry.
fn refuse_zero(limits: &LimitsTable, source: &ConfigSource) -> Result<(), CliError> {
    let zeros = [
        ("body_bytes", limits.body_bytes == Some(0)),
        ("items", limits.items == Some(0)),
        ("entry_age", limits.entry_age.as_ref().is_some_and(|age| age.0.is_zero())),
        ("entries_per_feed", limits.entries_per_feed == Some(0)),
        ("entries", limits.entries == Some(0)),
        ("header_timeout", limits.header_timeout.as_ref().is_some_and(|t| t.0.is_zero())),
        ("body_timeout", limits.body_timeout.as_ref().is_some_and(|t| t.0.is_zero())),
    ];
    match zeros.into_iter().find(|(_, is_zero)| *is_zero) {
        Some((name, _)) => {
            let reason = "0 would keep nothing; leave the key out for no limit";
            Err(source.fault("limits", name, reason))
        }
        None => Ok(()),
    }
}
