//! Weighted rendezvous hashing: every terminal has a score for a domain, and the highest wins. If a
//! terminal comes or goes, only the domains that it wins change their terminal.

use feed::Domain;

/// The score of a terminal for a domain. Terminals win domains in proportion to their room.
pub fn score(domain: &Domain, terminal: &str, room: usize) -> f64 {
    let hash = hash(domain.as_str().bytes().chain([0]).chain(terminal.bytes()));
    // Between 0 and 1, without both.
    let unit = ((hash >> 12) as f64 + 0.5) / (1_u64 << 52) as f64;
    -(room.max(1) as f64) / unit.ln()
}

/// FNV-1a, then a finaliser that spreads the last bytes over all bits.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn winner(domain: &Domain, terminals: &[(&str, usize)]) -> usize {
        let scores = terminals.iter().map(|(name, room)| score(domain, name, *room));
        let best = scores.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map(|(place, _)| place).expect("a terminal")
    }

    #[test]
    fn domains_are_shared_by_room_and_stay_where_they_are() {
        let domains: Vec<Domain> =
            (0..4000).map(|n| Domain::from_stored(&format!("site-{n}.example"))).collect();
        let three = [("a", 100), ("b", 100), ("c", 200)];
        let won: Vec<usize> = domains.iter().map(|domain| winner(domain, &three)).collect();
        let share = |place| won.iter().filter(|won| **won == place).count();
        assert!((850..1150).contains(&share(0)), "{}", share(0));
        assert!((850..1150).contains(&share(1)), "{}", share(1));
        assert!((1800..2200).contains(&share(2)), "{}", share(2));
        for (domain, before) in domains.iter().zip(&won) {
            let after = winner(domain, &three[..2]);
            assert!(*before == 2 || after == *before, "only the domains of c move");
        }
    }
}
