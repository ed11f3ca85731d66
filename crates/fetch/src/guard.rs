//! Decides which addresses are on the public Internet. It checks addresses only. Names are looked
//! up first, and the client connects to exactly the address that was checked.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// The URL leads to an address that may not be reached.
#[derive(Debug, thiserror::Error)]
#[error("{host} leads to {address}, which is not a public address; allow it with --allow-private")]
pub(crate) struct NotPublic {
    pub host: String,
    pub address: IpAddr,
}

/// Whether everybody can reach an address, so that a request to it reveals nothing about our own
/// network. The rules follow the registries of special-purpose addresses (IANA, RFC 6890).
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

/// Returns the address in a URL that has an address instead of a host name. Such URLs never reach
/// the resolver.
pub(crate) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Domain(_) => None,
        Host::Ipv4(v4) => Some(IpAddr::V4(v4)),
        Host::Ipv6(v6) => Some(IpAddr::V6(v6)),
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let special = match v4.octets() {
        [0 | 10 | 127, ..] => true,
        // Behind a provider's NAT.
        [100, b, ..] => (64..128).contains(&b),
        [169, 254, ..] => true,
        [172, b, ..] => (16..32).contains(&b),
        // Protocol assignments, documentation, the dead 6to4 relay.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [192, 168, ..] => true,
        // Benchmarks, documentation.
        [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => true,
        // Multicast, reserved, broadcast.
        [a, ..] => a >= 224,
    };
    !special
}

fn is_public_v6(v6: Ipv6Addr) -> bool {
    let s = v6.segments();
    let embedded =
        |high: u16, low: u16| is_public_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match s {
        // IPv4-mapped and NAT64 addresses contain the real address.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        // 6to4.
        [0x2002, high, low, ..] => embedded(high, low),
        // Protocol assignments: Teredo (which hides an IPv4 address), benchmarks, ORCHID.
        [0x2001, b, ..] if b < 0x200 => false,
        // Documentation.
        [0x2001, 0x0db8, ..] => false,
        [0x3fff, b, ..] if b < 0x1000 => false,
        // ISATAP carries an IPv4 address of the local network in its last bits.
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => (s[0] >> 13) == 1 && embedded(high, low),
        // Only 2000::/3 is assigned. Unique-local, link-local, multicast, loopback, unspecified and
        // IPv4-compatible addresses are all outside.
        [a, ..] => (a >> 13) == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_public_are_known_in_every_disguise() {
        let refused = "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.9.9.9 \
            169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 \
            198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.1.1.1 240.0.0.1 \
            255.255.255.255 :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.1.2.3 \
            ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b:1::1 100::1 \
            2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 \
            2002:c0a8:101::1 2002:a00:1::1 3fff::1 3fff:fff::1 5f00::1 fc00::1 fd12:3456::1 \
            fe80::1 febf::1 fec0::1 ff02::1 ff0e::1 2a00:1450::5efe:10.0.0.1";
        for text in refused.split_whitespace() {
            assert!(!is_public(text.parse().unwrap()), "{text} is not public");
        }
    }

    #[test]
    fn public_addresses_are_let_through() {
        let public = "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 \
            126.255.255.255 128.0.0.1 169.253.1.1 172.15.255.255 172.32.0.1 191.255.255.255 \
            192.0.1.1 192.88.98.1 192.167.1.1 198.17.1.1 198.20.0.1 223.255.255.255 \
            2001:200::1 2001:4860:4860::8888 2606:4700::1111 2a00:1450:4001::1 3ffe::1 \
            ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1 3fff:1000::1";
        for text in public.split_whitespace() {
            assert!(is_public(text.parse().unwrap()), "{text} is public");
        }
    }

    #[test]
    fn odd_spellings_of_an_address_are_read_as_one() {
        for text in
            ["http://2130706433/", "http://0x7f.1/", "http://017700000001/", "http://127.1/"]
        {
            let address = literal(&Url::parse(text).unwrap()).unwrap();
            assert_eq!(address, IpAddr::V4(Ipv4Addr::LOCALHOST), "{text}");
        }
    }
}
