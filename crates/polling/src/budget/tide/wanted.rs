//! What the feeds want of the time ahead at a price: a sample of them is followed look by look, as
//! their models expect them to be. It finds the price; it polls nobody.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, Rates};
//! use std::time::Duration;
//!
//! // A feed of which nothing is expected is hardly looked at, whatever is left to spend.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(Rates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.0));
//! planner.track(feed(0.001));
//! planner.set_budget(Some("6/1h".parse().unwrap()));
//! let mut looks = [0, 0];
//! for minute in 1..=600 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         looks[number] += 1;
//!         let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert!(looks[0] <= 1 && looks[1] > 50, "{looks:?}");
//! ```

use feed::Time;

use super::price::{MOMENTS, Wanted};
use super::{Purse, Tide, look};
use crate::budget::Tracked;

/// Looks that are followed one by one; faster feeds go on as they began.
const LOOKS_MAX: u32 = 8;

impl Tide {
    /// Finds the price at which the time ahead spends what may be spent.
    pub(super) fn settle(&mut self, now: Time, purse: &Purse, feeds: &[Tracked]) {
        let mut price = self.price;
        let roots = self.feeds.iter().enumerate();
        let roots = roots.filter_map(|(feed, known)| Some((feed as u32, known.part?.root)));
        let sample = price.sample(roots);
        price.settle(now, purse, |price| {
            let mut wanted = [Wanted::default(); MOMENTS];
            for (feed, stands_for) in &sample {
                let tracked = &feeds[*feed as usize];
                let price = price * self.beside(*feed, tracked);
                follow(tracked, price, now, purse, |moment, n| {
                    wanted[moment].looks += stands_for * n;
                    wanted[moment].bytes += stands_for * n * tracked.cost.max(0.0);
                });
            }
            wanted
        });
        self.price = price;
    }
}

/// Follows a feed at a price from look to look; tells how many it has had by each moment.
fn follow(
    tracked: &Tracked,
    price: f64,
    now: Time,
    purse: &Purse,
    mut tell: impl FnMut(usize, f64),
) {
    let (mut n, mut last) = (0, tracked.last);
    for moment in 0..MOMENTS {
        let until = now + purse.until(moment);
        while n < LOOKS_MAX {
            let at = last.map_or(Some(now), |last| look(tracked, last, price).map(|(at, _)| at));
            let Some(at) = at.map(|at| at.max(now)).filter(|at| *at < until) else { break };
            (n, last) = (n + 1, Some(at));
        }
        let so_far = if n < LOOKS_MAX {
            f64::from(n)
        } else {
            // As fast as so far.
            let lived = last.map_or(0.0, |last| last.since(now).as_secs_f64());
            f64::from(n) * until.since(now).as_secs_f64() / lived.max(1.0)
        };
        tell(moment, so_far);
    }
}
