//! Raises the number of files that this process may open, as far as the machine allows.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Reserved for the store, its readers, the visitors of the page and the log.
const RESERVED: u64 = 256;
/// A new connection may use two sockets for the two lookups of a name, or two for the race between
/// IPv4 and IPv6.
const PER_EXCHANGE: u64 = 2;
/// Polling continues slowly even if the process may open only a few files.
const CONNECTIONS_MIN: u64 = 8;
/// The number if the machine has no limit. One machine cannot use more exchanges at once.
const CONNECTIONS_MAX: u64 = 16_384;

/// Raises the soft limit to the hard limit. Returns how many exchanges may run at once while `idle`
/// more connections are open and unused.
pub(crate) fn connections_max(idle: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let usable = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        // macOS refuses "unlimited" here. The present limit stays.
        Err(_) => limit.current,
    };
    connections_within(usable, idle as u64)
}

fn connections_within(limit: Option<u64>, idle: u64) -> usize {
    let free = limit.unwrap_or(u64::MAX).saturating_sub(RESERVED).saturating_sub(idle);
    let connections = (free / PER_EXCHANGE).clamp(CONNECTIONS_MIN, CONNECTIONS_MAX);
    usize::try_from(connections).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_stay_below_the_limit_of_descriptors() {
        assert_eq!(connections_within(Some(1024), 256), 256);
        assert_eq!(connections_within(Some(20_000), 256), 9744);
        assert_eq!(connections_within(Some(64), 256), 8);
        assert_eq!(connections_within(None, 256), 16_384);
    }
}
