//! The keys about the requests of single feeds: the key of their secrets, and their proxies.

use super::{ConfigKey, key};

pub fn keys() -> Vec<ConfigKey> {
    vec![
        key(
            "key_file",
            "file",
            "`secrets.key` in the data folder",
            "The key of stored secrets, such as passwords of feeds. It is created with the first \
             secret. Keep a copy apart from the backups. Every process that polls or changes \
             settings on one database needs the same file; terminals need none.",
            "\"/etc/tidings/secrets.key\"",
        ),
        key(
            "outgoing_proxies",
            "list of URLs",
            "none",
            "Proxies through which feeds may be fetched although they have a private address. They \
             look up names themselves, so they can reach your own network. Terminals need the \
             same list.",
            "[\"socks5h://127.0.0.1:9050\"]",
        ),
    ]
}
