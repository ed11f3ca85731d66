//! The tables for terminals on other machines: `[bus]` and `[terminal]`.

use super::{ConfigTable, key};
use crate::config::bus;

pub fn bus() -> ConfigTable {
    let keys = vec![
        key(
            "url",
            "addresses",
            "none: this process polls by itself",
            "The NATS servers between controllers and terminals, separated by commas. Beyond this \
             machine they need TLS.",
            "\"tls://bus.example.org:4222\"",
        ),
        key(
            "name",
            "name",
            bus::BUS_NAME,
            "The beginning of all NATS subjects. Instances that share a server need different \
             names.",
            "\"tidings\"",
        ),
        key(
            "key",
            "file",
            "none",
            "The seed of the NKey by which this process logs in.",
            "\"/etc/tidings/terminal.seed\"",
        ),
        key(
            "ca",
            "file",
            "the authorities of the machine",
            "The certificate authority of the servers, in PEM. With it, TLS is required.",
            "\"/etc/tidings/bus-ca.pem\"",
        ),
    ];
    ConfigTable { name: "bus", about: "Terminals on other machines poll over this bus.", keys }
}

pub fn terminal() -> ConfigTable {
    let keys = vec![
        key("room", "number", bus::ROOM.to_string(), "Polls that a terminal makes at once.", "200"),
        key(
            "cache",
            "size",
            format!("{}MB", bus::CACHE_MB),
            "Memory for windows of feeds, so that a terminal does not send unchanged items. With \
             `0MB` it asks for every window.",
            "\"64MB\"",
        ),
    ];
    ConfigTable { name: "terminal", about: "For `--role terminal`.", keys }
}
