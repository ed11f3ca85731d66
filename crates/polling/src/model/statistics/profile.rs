//! Daily profiles shared by similar feeds: k-means over normalised 24-dimensional hour vectors, K =
//! 12 (Sia, Cho and Cho 2007, section 4.3.1; source 002). `indhist-agg` uses them too (dissertation
//! 003, section 2.5.4).
//!
//! For a million feeds the clusters are found in a sample. All feeds then refine them in one pass
//! of mini-batches ([`Refining`]; Sculley 2010, "Web-scale k-means clustering").
//!
//! A feed's entries per hour are divided by their sum; profiles are the means of the clusters. The
//! clustering is deterministic: the first centre is the vector nearest to the mean of all, each
//! further one the vector farthest from those before. A new feed belongs to the profile under which
//! its few entries are likeliest, Σ c_h·ln p_h: with three entries a distance says little.
//!
//! ```
//! use polling::model::profile::Profiles;
//!
//! let mut morning = [0; 24];
//! morning[8] = 40;
//! let mut evening = [0; 24];
//! evening[20] = 40;
//! let profiles = Profiles::fit(&[morning, evening, morning], 12).unwrap();
//! assert_eq!(profiles.centres.len(), 2);
//! let mut young = [0; 24];
//! young[20] = 1;
//! assert_eq!(profiles.of(&young).weights[20], profiles.of(&evening).weights[20]);
//! ```

/// The number of clusters in the paper.
pub const K: usize = 12;
/// The most steps of Lloyd's algorithm; it usually stops much earlier.
const STEPS_MAX: usize = 100;
/// The feeds that one step of the refinement moves centres by.
const BATCH: usize = 1024;
/// The smallest share of an hour in a profile: no hour is impossible.
const HOUR_SHARE_MIN: f64 = 1e-4;

/// Shares of a day, or entries, by hour.
pub type Hours = [f64; 24];

/// The means of the clusters, each with sum one.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles {
    pub centres: Vec<Hours>,
}

/// One profile in whole numbers, as a feed's state keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Shares of the day in 1/65 535.
    pub weights: [u16; 24],
}

/// Returns entries per hour as shares of their sum; `None` without any.
pub fn normalised(counts: &[u32; 24]) -> Option<Hours> {
    let total: f64 = counts.iter().map(|c| f64::from(*c)).sum();
    (total > 0.0).then(|| counts.map(|c| f64::from(c) / total))
}

impl Profiles {
    /// Clusters the feeds' entries per hour into at most `k` profiles. Feeds without entries do not
    /// count. `None` if no feed has entries.
    pub fn fit(feeds: &[[u32; 24]], k: usize) -> Option<Profiles> {
        let vectors: Vec<Hours> = feeds.iter().filter_map(normalised).collect();
        let mut centres = starts(&vectors, k.max(1));
        if centres.is_empty() {
            return None;
        }
        let mut members = vec![usize::MAX; vectors.len()];
        for _ in 0..STEPS_MAX {
            let nearest: Vec<usize> = vectors.iter().map(|v| nearest(&centres, v)).collect();
            if nearest == members {
                break;
            }
            members = nearest;
            for (j, centre) in centres.iter_mut().enumerate() {
                let own = vectors.iter().zip(&members).filter(|(_, m)| **m == j).map(|(v, _)| v);
                if let Some(mean) = mean(own) {
                    *centre = mean;
                }
            }
        }
        Some(Profiles { centres })
    }

    /// Returns the centre that is nearest to the shares of a day's hours. The paper assigns feeds
    /// in this way.
    pub fn nearest(&self, shares: &Hours) -> &Hours {
        &self.centres[nearest(&self.centres, shares)]
    }

    /// Returns the profile under which a feed's entries per hour are likeliest.
    pub fn of(&self, counts: &[u32; 24]) -> Profile {
        let likelihood = |centre: &Hours| -> f64 {
            let terms = counts.iter().zip(centre);
            terms.map(|(c, p)| f64::from(*c) * p.max(HOUR_SHARE_MIN).ln()).sum()
        };
        let mut best = &self.centres[0];
        for centre in &self.centres[1..] {
            if likelihood(centre) > likelihood(best) {
                best = centre;
            }
        }
        Profile { weights: best.map(|p| (p.clamp(0.0, 1.0) * 65_535.0).round() as u16) }
    }
}

/// Moves the centres of a sample by all feeds, one mini-batch at a time. Each feed moves its
/// nearest centre by one part in the feeds that this centre has seen. The cost is one comparison
/// with each centre per feed, and the memory is that of one batch.
#[derive(Clone, Debug)]
pub struct Refining {
    centres: Vec<Hours>,
    /// The feeds that each centre has seen.
    n_seen: Vec<f64>,
    batch: Vec<Hours>,
}

impl Refining {
    /// Begins with the profiles of a sample. It weighs as much as its `n_sampled` feeds.
    ///
    /// ```
    /// use polling::model::profile::{Profiles, Refining};
    ///
    /// let mut morning = [0; 24];
    /// morning[8] = 40;
    /// let mut later = [0; 24];
    /// (later[8], later[9]) = (20, 20);
    /// let sampled = Profiles::fit(&[morning], 1).unwrap();
    /// let mut refining = Refining::new(sampled, 1);
    /// (0..99).for_each(|_| refining.add(&later));
    /// let centre = refining.end().centres[0];
    /// assert!((centre[9] - 0.495).abs() < 1e-9);
    /// ```
    pub fn new(sampled: Profiles, n_sampled: usize) -> Refining {
        let n_each = n_sampled as f64 / sampled.centres.len().max(1) as f64;
        let n_seen = vec![n_each; sampled.centres.len()];
        Refining { centres: sampled.centres, n_seen, batch: Vec::with_capacity(BATCH) }
    }

    /// Adds a feed by its entries per hour. One without entries does not count.
    pub fn add(&mut self, counts: &[u32; 24]) {
        self.batch.extend(normalised(counts));
        if self.batch.len() >= BATCH {
            self.step();
        }
    }

    /// Returns the refined profiles.
    pub fn end(mut self) -> Profiles {
        self.step();
        Profiles { centres: self.centres }
    }

    /// Assigns the batch to the present centres, then moves them.
    fn step(&mut self) {
        let members: Vec<usize> = self.batch.iter().map(|v| nearest(&self.centres, v)).collect();
        for (v, j) in self.batch.drain(..).zip(members) {
            self.n_seen[j] += 1.0;
            let part = 1.0 / self.n_seen[j];
            self.centres[j].iter_mut().zip(v).for_each(|(c, x)| *c += part * (x - *c));
        }
    }
}

fn distance(a: &Hours, b: &Hours) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Returns the first of the nearest centres.
fn nearest(centres: &[Hours], v: &Hours) -> usize {
    let mut best = (f64::INFINITY, 0);
    for (j, centre) in centres.iter().enumerate() {
        let d = distance(centre, v);
        if d < best.0 {
            best = (d, j);
        }
    }
    best.1
}

fn mean<'a>(vectors: impl Iterator<Item = &'a Hours>) -> Option<Hours> {
    let (mut sum, mut n) = ([0.0; 24], 0.0);
    for v in vectors {
        sum.iter_mut().zip(v).for_each(|(s, x)| *s += x);
        n += 1.0;
    }
    (n > 0.0).then(|| sum.map(|s: f64| s / n))
}

/// Returns the initial centres, each as far as possible from those before, without duplicates.
fn starts(vectors: &[Hours], k: usize) -> Vec<Hours> {
    let Some(middle) = mean(vectors.iter()) else { return Vec::new() };
    let first = vectors.iter().min_by(|a, b| distance(a, &middle).total_cmp(&distance(b, &middle)));
    let mut centres: Vec<Hours> = first.copied().into_iter().collect();
    let mut to_centre: Vec<f64> = vectors.iter().map(|v| distance(v, &centres[0])).collect();
    while centres.len() < k {
        let farthest = to_centre.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let Some((i, d)) = farthest.filter(|(_, d)| **d > 0.0) else { break };
        debug_assert!(d.is_finite());
        centres.push(vectors[i]);
        for (d, v) in to_centre.iter_mut().zip(vectors) {
            *d = d.min(distance(v, &vectors[i]));
        }
    }
    centres
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feed `i` of the cluster that publishes around hour 2·`cluster`, with some noise.
    fn feed(cluster: usize, i: u32) -> [u32; 24] {
        let mut hours = [0; 24];
        hours[2 * cluster] = 60 + i % 7;
        hours[(2 * cluster + 1) % 24] = 30 - i % 5;
        hours[(i as usize * 5 + cluster) % 24] += 2;
        hours
    }

    #[test]
    fn twelve_habits_are_found_and_a_young_feed_joins_the_likeliest() {
        let feeds: Vec<[u32; 24]> =
            (0..20).flat_map(|i| (0..K).map(move |cluster| feed(cluster, i))).collect();
        let profiles = Profiles::fit(&feeds, K).unwrap();
        assert_eq!(profiles.centres.len(), K);
        assert!(profiles.centres.iter().all(|c| (c.iter().sum::<f64>() - 1.0).abs() < 1e-9));
        for cluster in 0..K {
            let profile = profiles.of(&feed(cluster, 3));
            // All feeds of a cluster share one profile with the same busiest hour.
            assert!((0..20).all(|i| profiles.of(&feed(cluster, i)) == profile));
            let busiest = (0..24).max_by_key(|h| profile.weights[*h]).unwrap();
            assert_eq!(busiest, 2 * cluster);
            let mut young = [0; 24];
            (young[2 * cluster], young[(2 * cluster + 1) % 24]) = (1, 1);
            assert_eq!(profiles.of(&young), profile, "two entries tell the cluster");
        }
        assert_eq!(Profiles::fit(&feeds, K).unwrap(), profiles, "no chance is involved");
    }

    #[test]
    fn mini_batches_move_the_centres_of_a_sample_to_those_of_all_feeds() {
        let all: Vec<[u32; 24]> =
            (0..2000).flat_map(|i| (0..K).map(move |cluster| feed(cluster, i))).collect();
        let sampled: Vec<[u32; 24]> = all[..10 * K].to_vec();
        let sample = Profiles::fit(&sampled, K).unwrap();
        let mut refining = Refining::new(sample.clone(), sampled.len());
        all.iter().for_each(|counts| refining.add(counts));
        let refined = refining.end();
        let exact = Profiles::fit(&all, K).unwrap();
        let off = |profiles: &Profiles| -> f64 {
            let exact = exact.centres.iter();
            exact.map(|centre| distance(centre, profiles.nearest(centre))).fold(0.0, f64::max)
        };
        assert!(off(&refined) < 0.1 * off(&sample), "{} {}", off(&refined), off(&sample));
        assert!(refined.centres.iter().all(|c| (c.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    }

    #[test]
    fn feeds_without_entries_do_not_count() {
        assert_eq!(Profiles::fit(&[[0; 24]; 3], K), None);
        assert_eq!(Profiles::fit(&[], K), None);
        let one = Profiles::fit(&[[0; 24], [7; 24]], K).unwrap();
        assert_eq!(one.centres, [[1.0 / 24.0; 24]]);
        assert_eq!(one.of(&[0; 24]).weights, [2731; 24]);
    }
}
