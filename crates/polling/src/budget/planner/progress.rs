//! Encodes the state of a planner that survives a restart: τ, the price, the position of `uniform`,
//! and the rest of the budget. The learned state of each feed is stored with the feed.
//!
//! ```
//! use polling::budget::{Planner, Strategy};
//! use std::time::Duration;
//!
//! let mut before = Planner::new(Strategy::TwoSteps, Duration::from_secs(60));
//! before.set_threshold(500.0);
//! let mut after = Planner::new(Strategy::TwoSteps, Duration::from_secs(60));
//! after.resume(&before.progress());
//! assert_eq!(after.threshold(), 500.0);
//! ```

use crate::budget::Planner;
use crate::budget::allowance::Allowance;
use crate::budget::strategy::uniform::RoundRobin;
use crate::bytes::ByteReader;

/// The layout of the stored bytes.
const VERSION: u8 = 2;
/// The layout without a price.
const WITHOUT_PRICE: u8 = 1;

struct StoredProgress {
    tau: f64,
    /// The price, and its share of bytes.
    price: Option<(f64, f64)>,
    turn: u64,
    allowance: Allowance,
}

impl Planner {
    pub fn progress(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend(self.tau.tau().to_le_bytes());
        let (price, share) = self.tide.stored_price();
        bytes.extend(price.to_le_bytes());
        bytes.extend(share.to_le_bytes());
        bytes.extend((self.turn.upcoming() as u64).to_le_bytes());
        self.allowance.write(&mut bytes);
        bytes
    }

    /// Restores stored [`progress`](Planner::progress). Bytes that no version wrote change nothing.
    /// Under an allocation each feed's schedule restarts from its last poll.
    pub fn resume(&mut self, progress: &[u8]) {
        let Some(progress) = read(progress) else { return };
        self.turn = RoundRobin::at(usize::try_from(progress.turn).unwrap_or(0));
        self.allowance = progress.allowance;
        if let Some((price, share)) = progress.price {
            self.tide.resume(price, share);
        }
        self.set_threshold(progress.tau);
    }
}

fn read(bytes: &[u8]) -> Option<StoredProgress> {
    let mut reader = ByteReader(bytes);
    let version = reader.u8()?;
    let mut number = || reader.bytes().map(f64::from_le_bytes).filter(|number| number.is_finite());
    let tau = number()?;
    let price = match version {
        VERSION => Some((number()?, number()?)),
        WITHOUT_PRICE => None,
        _ => return None,
    };
    let turn = reader.bytes().map(u64::from_le_bytes)?;
    let allowance = Allowance::read(&mut reader)?;
    reader.0.is_empty().then_some(StoredProgress { tau, price, turn, allowance })
}
