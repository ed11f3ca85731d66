//! The price of a poll that spends a budget: the waiting, in entry-seconds, at which as many looks
//! are wanted as are allowed.
//!
//! **Where it starts.** At a constant rate λ and price c a feed is looked at every √(2c/λ), so all
//! of them make Σ√(λ/2)/√c looks a second; that sum is kept, and the price moves with its square
//! when feeds come and go, and against the budget's square when that is changed.
//!
//! **How it settles.** Feeds are polled in the order in which they are due, as many as the budget
//! allows. Where that left due ones waiting, the price was too low; where some were polled ahead of
//! their time, too high. A price higher by a share δ moves the next look of each feed by δ/2 of its
//! interval, and with n feeds n·δ/2 looks across the present moment; so u looks too many mean
//! δ = 2u/n. Only a part of that is followed: feeds differ.
//!
//! Where bytes are limited too, a poll costs partly the same for all feeds and partly by its size;
//! the share of the second grows while bytes run out first. It knows no feed and no time.

/// The part of a correction that is followed.
const GAIN: f64 = 0.3;
/// The most that one cycle may change: where feeds are few, one look too many says little.
const STEP_MAX: f64 = 0.05;
/// A price stays within a second and thirty years, whatever the budget.
const RANGE: (f64, f64) = (1.0, 1e9);
/// How fast bytes gain or lose importance, per cycle.
const SHARE_STEP: f64 = 0.01;

/// What a poll costs now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Price {
    price: f64,
    /// Σ √(value·λ/2) over all feeds.
    roots: f64,
    /// The sum and the looks per second that the price is made for.
    made_for: Option<(f64, f64)>,
    /// How much of a poll's cost is its bytes, 0 to 1.
    share: f64,
    /// Bytes of one poll of each feed together, and of how many feeds.
    bytes: f64,
    pub(super) n_feeds: u32,
}

/// What one cycle came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    /// Looks ahead of their time, and polls for which no feed was found.
    pub(super) too_few: usize,
    /// Looks that are due and were not made.
    pub(super) too_many: usize,
    /// Which of two limits ended it, where bytes are limited.
    pub(super) ended_by: Option<Limit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Polls,
    Bytes,
}

impl Default for Price {
    fn default() -> Price {
        Price { price: 3600.0, roots: 0.0, made_for: None, share: 0.0, bytes: 0.0, n_feeds: 0 }
    }
}

/// What one feed adds to the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Part {
    pub(super) root: f64,
    pub(super) bytes: f64,
}

impl Price {
    /// Goes on from a price and a share of bytes that were stored.
    pub(super) fn resumed(self, price: f64, share: f64) -> Price {
        let valid = price.is_finite() && share.is_finite();
        // The feeds may still be on their way: what they add changes nothing.
        let made_for = Some((0.0, 0.0));
        let price = price.clamp(RANGE.0, RANGE.1);
        if valid { Price { price, share: share.clamp(0.0, 1.0), made_for, ..self } } else { self }
    }

    pub(super) fn now(&self) -> f64 {
        self.price
    }

    pub(super) fn share(&self) -> f64 {
        self.share
    }

    /// What a poll of so many bytes costs.
    pub(super) fn of(&self, bytes: f64) -> f64 {
        if self.share <= 0.0 || self.bytes <= 0.0 {
            return self.price;
        }
        let beside_mean = bytes.max(0.0) * f64::from(self.n_feeds) / self.bytes;
        self.price * (1.0 - self.share + self.share * beside_mean)
    }

    pub(super) fn add(&mut self, part: Part) {
        self.n_feeds += 1;
        self.roots += part.root;
        self.bytes += part.bytes;
    }

    pub(super) fn subtract(&mut self, part: Part) {
        self.n_feeds -= 1;
        self.roots = (self.roots - part.root).max(0.0);
        self.bytes = (self.bytes - part.bytes).max(0.0);
    }

    /// Moves with the feeds and with the looks per second that are allowed.
    pub(super) fn follow(&mut self, per_sec: f64) {
        if per_sec <= 0.0 || self.roots <= 0.0 {
            return;
        }
        let made_for = self.made_for.replace((self.roots, per_sec));
        let moved = match made_for {
            None => (self.roots / per_sec).powi(2),
            Some((roots, before)) if roots > 0.0 && before > 0.0 => {
                self.price * (self.roots / roots * before / per_sec).powi(2)
            }
            Some(_) => self.price,
        };
        self.price = moved.clamp(RANGE.0, RANGE.1);
    }

    /// Takes in how a cycle ended.
    pub(super) fn adapt(&mut self, cycle: Cycle) {
        let missing = cycle.too_many as f64 - cycle.too_few as f64;
        self.price = (self.price * correction(missing, self.n_feeds)).clamp(RANGE.0, RANGE.1);
        let step = match cycle.ended_by {
            None => return,
            Some(Limit::Bytes) => SHARE_STEP,
            Some(Limit::Polls) => -SHARE_STEP,
        };
        self.share = (self.share + step).clamp(0.0, 1.0);
    }
}

/// The factor by which a price changes where so many looks were `missing` among `n` feeds.
pub(super) fn correction(missing: f64, n: u32) -> f64 {
    (2.0 * GAIN * missing / f64::from(n.max(1))).clamp(-STEP_MAX, STEP_MAX).exp()
}
