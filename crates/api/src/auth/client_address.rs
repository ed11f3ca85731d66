//! The address of a client, by which password guesses are counted. Behind a proxy every connection
//! has the proxy's address, so the client's address is read from `X-Forwarded-For`. Only proxies
//! that the operator named are trusted, because anybody can write any address there.

use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// An IPv4 address, or a /64 network of IPv6. A provider gives each customer at least a /64, so
/// single IPv6 addresses cost an attacker nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

impl ClientAddress {
    pub fn of(address: IpAddr) -> ClientAddress {
        ClientAddress(match address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
            v4 => v4,
        })
    }

    /// Returns the client as a host; `None` for IPv6, because only the network is known.
    pub fn host(&self) -> Option<String> {
        self.0.is_ipv4().then(|| self.0.to_string())
    }
}

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Requests without a connection, as in tests, share one address.
impl Default for ClientAddress {
    fn default() -> ClientAddress {
        ClientAddress::of(Ipv6Addr::UNSPECIFIED.into())
    }
}

/// The gate adds it to each request.
impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<ClientAddress, Infallible> {
        Ok(parts.extensions.get::<ClientAddress>().copied().unwrap_or_default())
    }
}

/// A range of addresses: `10.0.0.0/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AddressRange {
    first: IpAddr,
    bits: u32,
}

impl AddressRange {
    fn read(text: &str) -> Option<AddressRange> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().ok()?)),
            None => (text, None),
        };
        let first: IpAddr = address.trim().parse().ok()?;
        let all = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(all);
        (bits <= all).then_some(AddressRange { first, bits })
    }

    fn contains(&self, address: IpAddr) -> bool {
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

/// The proxies that are trusted to name the address of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<AddressRange>);

impl Proxies {
    /// Reads addresses and ranges. The error is the first text that is neither.
    pub fn read(texts: &[String]) -> Result<Proxies, String> {
        let read = |text: &String| AddressRange::read(text).ok_or_else(|| text.clone());
        texts.iter().map(read).collect::<Result<_, _>>().map(Proxies)
    }

    /// Returns whether an address is one of these proxies.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|range| range.contains(address))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the address of the client. Each proxy appends the address of its own client. So the
    /// list is read from its end, up to the first address that is not one of our proxies.
    pub fn client_address(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        let mut last = peer.to_canonical();
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        let hops = lines.flat_map(|line| line.to_str().unwrap_or("").rsplit(','));
        for hop in hops {
            if !self.contains(last) {
                break;
            }
            let Some(address) = address(hop.trim()) else { break };
            last = address.to_canonical();
        }
        ClientAddress::of(last)
    }
}

/// Reads an address. Some proxies add the port.
fn address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    text.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(proxies: &[&str], peer: &str, forwarded: &[&str]) -> String {
        let texts: Vec<String> = proxies.iter().map(|text| (*text).to_owned()).collect();
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, line.parse().unwrap());
        }
        Proxies::read(&texts).unwrap().client_address(peer.parse().unwrap(), &headers).0.to_string()
    }

    #[test]
    fn a_client_is_an_address_or_a_network_of_ipv6() {
        assert_eq!(client(&[], "203.0.113.7", &[]), "203.0.113.7");
        assert_eq!(client(&[], "2001:db8:1:2:3:4:5:6", &[]), "2001:db8:1:2::");
        assert_eq!(client(&[], "::ffff:203.0.113.7", &[]), "203.0.113.7");
    }

    #[test]
    fn only_a_trusted_proxy_names_the_client() {
        let claim = ["198.51.100.1"];
        assert_eq!(client(&[], "127.0.0.1", &claim), "127.0.0.1");
        assert_eq!(client(&["127.0.0.1"], "203.0.113.7", &claim), "203.0.113.7");
        assert_eq!(client(&["127.0.0.1"], "127.0.0.1", &claim), "198.51.100.1");
        assert_eq!(client(&["::ffff:0:0/96", "127.0.0.1"], "127.0.0.1", &["x"]), "127.0.0.1");
    }

    #[test]
    fn addresses_written_by_the_client_are_ignored() {
        // The client wrote the first address; the proxies appended the others.
        let lines = ["192.0.2.9, 198.51.100.1", "10.1.2.3:4444"];
        assert_eq!(client(&["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", &lines), "198.51.100.1");
        assert_eq!(client(&["127.0.0.1"], "127.0.0.1", &lines), "10.1.2.3");
        let only = ["not an address, 10.0.0.1"];
        assert_eq!(client(&["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", &only), "10.0.0.1");
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
