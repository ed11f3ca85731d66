//! The arguments of `tidings record`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{InstanceArgs, NetworkArgs, duration};

#[derive(Debug, Args)]
#[command(after_help = "Records until the time is over or Ctrl-C. The same command continues a \
    recording, also after a crash; the end\n\
    of the recording stays. Without a configured policy, feeds are polled by the policy \
    `recording`,\nbetween every minute and every 6 hours. All feeds of the data folder are \
    recorded: use a\nfolder of its own.")]
pub struct RecordArgs {
    /// The feeds: OPML, or one address a line; `-` is standard input
    #[arg(value_name = "LIST")]
    pub list: PathBuf,
    /// The duration of the recording
    #[arg(long = "for", value_name = "DURATION", value_parser = duration, default_value = "28d")]
    pub duration: Duration,
    /// End the recording when the database has this size, e.g. 50GB; on PostgreSQL, when the
    /// stored documents and messages have this size
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_size: Option<u64>,
    /// Keep no more documents of a feed beyond this size; its polls are still recorded
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_feed_size: Option<u64>,
    #[command(flatten)]
    pub place: InstanceArgs,
    #[command(flatten)]
    pub network: NetworkArgs,
}

/// Reads `500kB`, `20MB` or `1GB`.
pub fn size(text: &str) -> Result<u64, String> {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1)];
    let found = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = found.unwrap_or((text, 1));
    let parsed = number.trim().parse::<u64>().ok().and_then(|n| n.checked_mul(factor));
    parsed.ok_or_else(|| format!("`{text}` is not a size; write it as 500kB, 20MB or 1GB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("20MB"), Ok(20_000_000));
        assert_eq!(size("7"), Ok(7));
        assert!(size("20 MiB").is_err() && size("-1").is_err());
        assert!(size("99999999999999999999GB").is_err());
    }
}
