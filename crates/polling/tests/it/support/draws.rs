//! The random generator of the synthetic vectors, so that their populations can be drawn again:
//! PCG64 (O'Neill 2014, XSL-RR), its seed spread over the state by a hash.
//!
//! The vectors do not name their generator. Seed 0 of this one gives their mean rates to the last
//! digit.

/// A stream that its seed determines.
#[derive(Clone)]
pub struct Draws {
    state: u128,
    increment: u128,
    /// The unused upper half of a draw.
    spare: Option<u32>,
}

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl Draws {
    pub fn new(seed: u32) -> Draws {
        let [a, b, c, d] = spread(seed);
        let wide = |high: u64, low: u64| (u128::from(high) << 64) | u128::from(low);
        let mut draws = Draws { state: 0, increment: (wide(c, d) << 1) | 1, spare: None };
        draws.step();
        draws.state = draws.state.wrapping_add(wide(a, b));
        draws.step();
        draws
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    pub fn bits(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// Returns a number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn units(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.unit()).collect()
    }

    fn half_bits(&mut self) -> u32 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let bits = self.bits();
        self.spare = Some((bits >> 32) as u32);
        bits as u32
    }

    /// Returns a number in 0..n, without bias (Lemire 2019).
    pub fn below(&mut self, n: u32) -> u32 {
        let unfair = n.wrapping_neg() % n;
        loop {
            let wide = u64::from(self.half_bits()) * u64::from(n);
            if wide as u32 >= unfair {
                return (wide >> 32) as u32;
            }
        }
    }

    /// Returns a Poisson number: small means by multiplying uniform ones, others by transformed
    /// rejection (Hörmann 1993, PTRS).
    pub fn poisson(&mut self, mean: f64) -> f64 {
        if mean < 10.0 {
            let (limit, mut product, mut n) = ((-mean).exp(), self.unit(), 0.0);
            while product > limit {
                product *= self.unit();
                n += 1.0;
            }
            return n;
        }
        let b = 0.931 + 2.53 * mean.sqrt();
        let a = -0.059 + 0.024_83 * b;
        let inverse = 1.1239 + 1.1328 / (b - 3.4);
        let ratio = 0.9277 - 3.6224 / (b - 2.0);
        loop {
            let (u, v) = (self.unit() - 0.5, self.unit());
            let us = 0.5 - u.abs();
            let k = ((2.0 * a / us + b) * u + mean + 0.43).floor();
            if us >= 0.07 && v <= ratio {
                return k;
            }
            let outside = k < 0.0 || (us < 0.013 && v > us);
            let hat = v.ln() + inverse.ln() - (a / (us * us) + b).ln();
            if !outside && hat <= k * mean.ln() - mean - ln_factorial(k) {
                return k;
            }
        }
    }
}

fn ln_factorial(k: f64) -> f64 {
    (2..=k as u32).map(|i| f64::from(i).ln()).sum()
}

/// The seed's 32 bits, hashed into a pool of four words, and that into four words of state.
fn spread(seed: u32) -> [u64; 4] {
    fn hash(word: u32, constant: &mut u32, multiplier: u32) -> u32 {
        let mixed = word ^ *constant;
        *constant = constant.wrapping_mul(multiplier);
        let mixed = mixed.wrapping_mul(*constant);
        mixed ^ (mixed >> 16)
    }
    let mut constant = 0x43b0_d7e5;
    let mut pool = [seed, 0, 0, 0].map(|word| hash(word, &mut constant, 0x931e_8875));
    for from in 0..4 {
        for to in (0..4).filter(|to| *to != from) {
            let hashed = hash(pool[from], &mut constant, 0x931e_8875);
            let mixed =
                pool[to].wrapping_mul(0xca01_f9dd).wrapping_sub(hashed.wrapping_mul(0x4973_f715));
            pool[to] = mixed ^ (mixed >> 16);
        }
    }
    let mut constant = 0x8b51_f9dd;
    let mut words = [0_u32; 8];
    for (i, word) in words.iter_mut().enumerate() {
        *word = hash(pool[i % 4], &mut constant, 0x58f3_8ded);
    }
    std::array::from_fn(|i| u64::from(words[2 * i]) | (u64::from(words[2 * i + 1]) << 32))
}

#[test]
fn the_generator_is_the_one_of_the_vectors() {
    assert_eq!(Draws::new(0).unit(), 0.636_961_687_321_454_3);
    assert_eq!(Draws::new(42).unit(), 0.773_956_048_555_963_3);
}
