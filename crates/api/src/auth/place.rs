//! The address that a request comes from, as far as password guesses are counted by it. Behind a
//! proxy every connection has the proxy's address; the client's is taken from `X-Forwarded-For`,
//! but only from proxies that the operator named. Anybody else could write any address there.

use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The other end of a connection. The server puts it beside each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// An IPv4 address, or a /64 of IPv6: a provider gives each customer at least that much, so
/// single addresses of it cost an attacker nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(IpAddr);

impl Place {
    pub fn of(address: IpAddr) -> Place {
        Place(match address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
            v4 => v4,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Requests without a connection, as in tests, share one place.
impl Default for Place {
    fn default() -> Place {
        Place::of(Ipv6Addr::UNSPECIFIED.into())
    }
}

/// The gate has put it there.
impl<S: Send + Sync> FromRequestParts<S> for Place {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Place, Infallible> {
        Ok(parts.extensions.get::<Place>().copied().unwrap_or_default())
    }
}

/// A range of addresses: `10.0.0.0/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    first: IpAddr,
    bits: u32,
}

impl Network {
    fn read(text: &str) -> Option<Network> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().ok()?)),
            None => (text, None),
        };
        let first: IpAddr = address.trim().parse().ok()?;
        let all = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(all);
        (bits <= all).then_some(Network { first, bits })
    }

    fn holds(&self, address: IpAddr) -> bool {
        let same = |a: u128, b: u128, all: u32| {
            let rest = all - self.bits;
            a.checked_shr(rest).unwrap_or(0) == b.checked_shr(rest).unwrap_or(0)
        };
        match (self.first, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => same(a.to_bits().into(), b.to_bits().into(), 32),
            (IpAddr::V6(a), IpAddr::V6(b)) => same(a.to_bits(), b.to_bits(), 128),
            _ => false,
        }
    }
}

/// The proxies whose word on a client's address is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<Network>);

impl Proxies {
    /// Reads addresses and ranges; the error is the text that is neither.
    pub fn read(texts: &[String]) -> Result<Proxies, String> {
        let read = |text: &String| Network::read(text).ok_or_else(|| text.clone());
        texts.iter().map(read).collect::<Result<_, _>>().map(Proxies)
    }

    /// Where a request comes from. Each proxy appends the address that it was asked from, so the
    /// list is read from its end, up to the first address that is not a proxy of ours.
    pub fn place(&self, peer: IpAddr, headers: &HeaderMap) -> Place {
        let mut last = peer.to_canonical();
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        let hops = lines.flat_map(|line| line.to_str().unwrap_or("").rsplit(','));
        for hop in hops {
            if !self.0.iter().any(|network| network.holds(last)) {
                break;
            }
            let Some(address) = address(hop.trim()) else { break };
            last = address.to_canonical();
        }
        Place::of(last)
    }
}

/// Some proxies add the port.
fn address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    text.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(proxies: &[&str], peer: &str, forwarded: &[&str]) -> String {
        let texts: Vec<String> = proxies.iter().map(|text| (*text).to_owned()).collect();
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, line.parse().unwrap());
        }
        Proxies::read(&texts).unwrap().place(peer.parse().unwrap(), &headers).0.to_string()
    }

    #[test]
    fn a_place_is_an_address_or_a_network_of_ipv6() {
        assert_eq!(place(&[], "203.0.113.7", &[]), "203.0.113.7");
        assert_eq!(place(&[], "2001:db8:1:2:3:4:5:6", &[]), "2001:db8:1:2::");
        assert_eq!(place(&[], "::ffff:203.0.113.7", &[]), "203.0.113.7");
    }

    #[test]
    fn only_a_trusted_proxy_says_where_a_client_is() {
        let claim = ["198.51.100.1"];
        assert_eq!(place(&[], "127.0.0.1", &claim), "127.0.0.1");
        assert_eq!(place(&["127.0.0.1"], "203.0.113.7", &claim), "203.0.113.7");
        assert_eq!(place(&["127.0.0.1"], "127.0.0.1", &claim), "198.51.100.1");
        assert_eq!(place(&["::ffff:0:0/96", "127.0.0.1"], "127.0.0.1", &["x"]), "127.0.0.1");
    }

    #[test]
    fn what_the_client_itself_wrote_is_not_believed() {
        // The client wrote the first address; the proxies appended the others.
        let lines = ["192.0.2.9, 198.51.100.1", "10.1.2.3:4444"];
        assert_eq!(place(&["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", &lines), "198.51.100.1");
        assert_eq!(place(&["127.0.0.1"], "127.0.0.1", &lines), "10.1.2.3");
        let only = ["not an address, 10.0.0.1"];
        assert_eq!(place(&["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", &only), "10.0.0.1");
    }

    #[test]
    fn proxies_are_addresses_or_ranges() {
        for text in ["127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8", "0.0.0.0/0"] {
            assert!(Proxies::read(&[text.to_owned()]).is_ok(), "{text}");
        }
        for text in ["localhost", "10.0.0.0/33", "", "10.0.0.1/x", "::/129"] {
            assert_eq!(Proxies::read(&[text.to_owned()]), Err(text.to_owned()));
        }
    }
}
