//! Spreads failures over made-up feeds.

use std::time::Duration;

use feed::Time;

use crate::{DemoFeed, Mishap};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// Gives every tenth feed a failure, each kind in turn, from soon after `start`. A feed that moved
/// is also served at its new path.
pub fn with_mishaps(feeds: Vec<DemoFeed>, start: Time) -> Vec<DemoFeed> {
    let mut served = Vec::with_capacity(feeds.len() + feeds.len() / 50);
    for (number, mut feed) in feeds.into_iter().enumerate() {
        if number % 10 != 3 {
            served.push(feed);
            continue;
        }
        let mishap = match number / 10 % 7 {
            0 => {
                Mishap::Busy { from: start + HOUR, until: start + 7 * HOUR, retry_after: 2 * HOUR }
            }
            1 => Mishap::Missing { from: start + 2 * HOUR, until: start + DAY },
            2 => {
                let to = format!("/new{}", feed.path);
                served.push(DemoFeed { path: to.clone(), ..feed.clone() });
                Mishap::Moved { to }
            }
            3 => Mishap::Empties,
            4 => Mishap::Page { from: start + 3 * HOUR, until: start + 9 * HOUR },
            5 => Mishap::Gone { from: start + 12 * HOUR },
            _ => Mishap::Locked,
        };
        feed.mishap = Some(mishap);
        served.push(feed);
    }
    served
}
