//! Keys of machines on the bus (NKeys). The machine keeps the seed, the server knows the public
//! half.

use crate::BusError;

/// A new key.
pub struct BusKey {
    /// The secret half, which begins with `SU`.
    pub seed: String,
    /// The public half, which begins with `U`.
    pub public: String,
}

impl BusKey {
    /// Makes a key by chance of the operating system.
    pub fn fresh() -> Result<BusKey, BusError> {
        let pair = nkeys::KeyPair::new_user();
        let seed = pair.seed().map_err(|_| BusError::Random)?;
        Ok(BusKey { seed, public: pair.public_key() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_leads_to_the_public_half() {
        let key = BusKey::fresh().unwrap();
        assert!(key.seed.starts_with("SU") && key.public.starts_with('U'));
        let pair = nkeys::KeyPair::from_seed(&key.seed).unwrap();
        assert_eq!(pair.public_key(), key.public);
        assert_ne!(BusKey::fresh().unwrap().seed, key.seed);
    }
}
