//! Single steps of adaptive-ttl, mavsync and advarss compared with the papers' formulas in plain
//! integers, on thousands of random cases.

use std::time::Duration;

use feed::{Observation, Time};
use polling::policy::advarss::AdvaRssInterval;
use polling::{Bounds, Decimal, Policy};

use crate::reference::histograms::moment;
use crate::support::chance::Chance;
use crate::support::vectors::seen;

/// One step of a policy that reads everything from the window.
fn step(policy: &Policy, o: &Observation<'_>, bounds: &Bounds) -> (i128, i64) {
    let mut learned = policy.start();
    policy.learn(&mut learned, o);
    let wish = policy.wish(&learned, o, bounds);
    (wish.exact_nanos(), wish.at.secs())
}

/// Nanoseconds and seconds of the time num/den milliseconds after 1970.
fn rounded(num: i128, den: i128) -> (i128, i64) {
    let secs = (2 * num + 1000 * den).div_euclid(2000 * den);
    ((num * 1_000_000).div_euclid(den), secs as i64)
}

#[test]
fn adaptive_ttl_and_mavsync_follow_the_paper_also_for_times_from_the_future() {
    let mut chance = Chance::new(5);
    let secs = Duration::from_secs;
    for _ in 0..5000 {
        let at = Time::from_secs(moment(&mut chance).secs());
        let n = chance.below(8) as usize;
        let offset = |chance: &mut Chance| chance.below(400_000_000) as i64 - 100_000_000;
        let mut window: Vec<Time> = (0..n).map(|_| at.shifted(-offset(&mut chance))).collect();
        if chance.below(5) == 0 {
            window = vec![at.shifted(-(chance.below(3) as i64) * 60_000); n];
        }
        window.sort_unstable();
        let (alpha, eta) = (1 + chance.below(600), 1 + chance.below(7200));
        let beta = chance.below(1_000_000);
        let bounds = Bounds::new(secs(alpha), secs(alpha + eta + beta), secs(alpha + eta));
        let bounds = bounds.expect("ordered");
        let ms = |d: Duration| d.as_millis() as i128;
        let clamp = |num: i128, den: i128| {
            let (alpha, beta) = (ms(bounds.alpha) * den, ms(bounds.beta) * den);
            (num.max(alpha).min(beta), den)
        };
        let now = i128::from(at.millis());
        let after = |(num, den): (i128, i128)| rounded(now * den + num, den);

        let factor = Decimal::new(1 + chance.below(10_000) as i64, 3);
        let ttl = match window.last() {
            Some(newest) => {
                let age = now - i128::from(newest.millis());
                let thousandths = (factor.to_f64() * 1000.0).round() as i128;
                clamp(age * thousandths, 1000)
            }
            None => (ms(bounds.eta), 1),
        };
        let found = step(&Policy::AdaptiveTtl { factor }, &seen(at, &window), &bounds);
        assert_eq!(found, after(ttl), "{window:?} {at} {factor}");

        let kappa = Duration::from_secs(chance.below(3) * chance.below(100));
        let found = step(&Policy::MavSync { kappa }, &seen(at, &window), &bounds);
        let times: Vec<i128> = window.iter().map(|t| i128::from(t.millis())).collect();
        let expected = match &times[..] {
            [] => after((ms(bounds.eta), 1)),
            [start, .., end] => {
                let gaps = times.len() as i128 - 1;
                let sync = (end + ms(kappa)) * gaps + end - start;
                let wait = sync - now * gaps;
                if wait >= ms(bounds.alpha) * gaps && wait <= ms(bounds.beta) * gaps {
                    rounded(sync, gaps)
                } else {
                    after(clamp(now - start, gaps + 1))
                }
            }
            [only] => after(clamp(now - only, 1)),
        };
        assert_eq!(found, expected, "{window:?} {at} {kappa:?}");
    }
}

/// M and T as whole multiples of 10⁻ⁿ, n growing with every step: nothing is ever rounded.
#[test]
fn advarss_never_loses_a_digit() {
    let mut chance = Chance::new(6);
    for _ in 0..3000 {
        let ceiling = [25, 40, 640][chance.below(3) as usize];
        let often = 1 + chance.below(10);
        let mut pace = AdvaRssInterval::start();
        let (mut unit, mut m, mut t) = (1_i128, 4_i128, 1_i128);
        for _ in 0..24 {
            let changed = chance.below(10) < often;
            pace.step(changed, ceiling);
            (unit, m, t) = (unit * 10, m * 10, t * 10);
            if changed {
                t = unit;
                m = m / 10 * 2 + t / 10 * 8;
            } else {
                (m, t) = (m + t / 10 * 3, t + m);
            }
            m = m.clamp(unit, i128::from(ceiling) * unit);
            assert_eq!(i128::from(pace.toe()), (m + unit - 1) / unit);
            assert!((pace.m() * unit as f64 / m as f64 - 1.0).abs() < 1e-12);
            assert!((pace.t() * unit as f64 / t as f64 - 1.0).abs() < 1e-12);
        }
    }
}
