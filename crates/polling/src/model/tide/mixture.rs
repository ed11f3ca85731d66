//! A mixture of shapes, each weighted by how well it explains the counts. The caller supplies the
//! shapes.

/// A weight below e^−12 of the largest is ignored.
const NEGLIGIBLE: f64 = -12.0;

/// A weighted sum of shapes. Weights are given as logarithms; the largest so far counts as one.
pub(super) struct Mixture<const N: usize> {
    largest: f64,
    weight: f64,
    sum: [f64; N],
}

impl<const N: usize> Default for Mixture<N> {
    fn default() -> Mixture<N> {
        Mixture { largest: f64::NEG_INFINITY, weight: 0.0, sum: [0.0; N] }
    }
}

impl<const N: usize> Mixture<N> {
    pub(super) fn add(&mut self, log: f64, factor: impl Fn(usize) -> f64) {
        if log > self.largest {
            let shrink = (self.largest - log).exp();
            self.weight *= shrink;
            self.sum.iter_mut().for_each(|x| *x *= shrink);
            self.largest = log;
        }
        if log - self.largest < NEGLIGIBLE {
            return;
        }
        let weight = (log - self.largest).exp();
        self.weight += weight;
        self.sum.iter_mut().enumerate().for_each(|(i, x)| *x += weight * factor(i));
    }

    pub(super) fn mean(self) -> [f64; N] {
        if self.weight > 0.0 { self.sum.map(|x| x / self.weight) } else { [1.0; N] }
    }
}
