//! The reference of the configuration file, one row for each key. Defaults come from the settings
//! themselves. Tests compare the rows with the structs that read the file, and read every example.

mod articles;
mod budget;
mod login;
mod machines;
mod mail;
mod people;
mod secrets;

use polling::written;

/// Keys of one table of the file.
pub struct ConfigTable {
    /// The name in brackets; empty for the keys before the first table.
    pub name: &'static str,
    pub about: &'static str,
    pub keys: Vec<ConfigKey>,
}

pub struct ConfigKey {
    pub name: &'static str,
    pub kind: &'static str,
    /// The value without this key, in words.
    pub default: String,
    pub meaning: &'static str,
    /// The value, as TOML.
    pub example: &'static str,
    /// Whether the table is refused without this key.
    pub needed: bool,
}

impl ConfigTable {
    /// Returns whether the operator chooses the names of the keys.
    pub fn takes_any_key(&self) -> bool {
        matches!(self.name, "resolve" | "keys")
    }

    /// Returns the row of a key; one row stands for all names that the operator chooses.
    pub fn key(&self, name: &str) -> Option<&ConfigKey> {
        self.keys.iter().find(|key| key.name == name || self.takes_any_key())
    }
}

fn key(
    name: &'static str,
    kind: &'static str,
    default: impl Into<String>,
    meaning: &'static str,
    example: &'static str,
) -> ConfigKey {
    ConfigKey { name, kind, default: default.into(), meaning, example, needed: false }
}

impl ConfigKey {
    fn needed(self) -> ConfigKey {
        ConfigKey { needed: true, ..self }
    }
}

/// Returns all tables in reading order.
pub fn tables() -> Vec<ConfigTable> {
    vec![
        start(),
        domain(),
        defaults(),
        budget::budget(),
        limits(),
        resolve(),
        keys(),
        mail::mail(),
        push(),
        articles::articles(),
        people::people(),
        server::delivery(),
        server::store(),
        server::machine(),
        server::recording(),
        login::login(),
        login::notifications(),
        machines::bus(),
        machines::terminal(),
    ]
}

fn start() -> ConfigTable {
    let mut keys = vec![
        key(
            "contact",
            "URL",
            "none; `tidings doctor` recommends one",
            "Sent in the User-Agent, so that site owners can reach you.",
            "\"https://example.org/my-reader\"",
        ),
        key(
            "listen",
            "address and port",
            super::LISTEN.to_string(),
            "The address on which the page and the API are served.",
            "\"127.0.0.1:8080\"",
        ),
        key(
            "data",
            "folder",
            super::DATA,
            "The data folder. A relative path starts at the working directory.",
            "\"/var/lib/tidings\"",
        ),
        key(
            "database",
            "URL",
            "SQLite in the data folder",
            "A PostgreSQL database for the store: postgres://USER@HOST/NAME. The usual PG* \
             variables and the password file complete it.",
            "\"postgres://tidings@db.example.org/tidings\"",
        ),
        key(
            "public_url",
            "URL",
            "the address of the request",
            "The address under which others reach this program. Links in published feeds begin \
             with it.",
            "\"https://news.example.org/\"",
        ),
        key(
            "trusted_proxies",
            "list of addresses or ranges",
            "none",
            "Proxies in front of this program. Their `X-Forwarded-For` gives the client's \
             address, by which failed logins are counted.",
            "[\"127.0.0.1\", \"10.0.0.0/8\"]",
        ),
        key(
            "images",
            "`proxy` or `off`",
            super::images::DEFAULT,
            "Pictures of entries: `proxy` fetches them through this program, so that pages load \
             nothing from other sites; `off` does not show them.",
            "\"proxy\"",
        ),
        key(
            "media",
            "`direct` or `proxy`",
            super::images::MEDIA_DEFAULT,
            "Sound and video of entries: `direct` loads them from their hosts, after a click; \
             `proxy` passes them on in parts, so that hosts do not see who plays. An hour of a \
             podcast is about 60 MB of traffic.",
            "\"direct\"",
        ),
    ];
    keys.extend(requests());
    keys.extend(secrets::keys());
    let about = "Before the first table.";
    ConfigTable { name: "", about, keys }
}

fn requests() -> Vec<ConfigKey> {
    let engine = engine::Settings::new();
    let fetch = fetch::Settings::new(super::CONTACT);
    vec![
        key(
            "domain_gap",
            "duration",
            written(engine.gaps.default),
            "The shortest time between two requests to one registrable domain, counted from the \
             end of the first.",
            "\"2s\"",
        ),
        key(
            "workers",
            "number",
            engine.polls_in_flight_max.to_string(),
            "The number of simultaneous polls over all domains.",
            "100",
        ),
        key(
            "allow_private",
            "`true` or `false`",
            fetch.allow_private.to_string(),
            "Also poll loopback and private addresses. Use it only if everybody who may add a \
             feed may also reach your network.",
            "false",
        ),
        key(
            "no_cache",
            "`true` or `false`",
            fetch.no_cache.to_string(),
            "Send `Cache-Control: no-cache` with every poll, so that caches on the way do not \
             send outdated documents.",
            "true",
        ),
    ]
}

fn domain() -> ConfigTable {
    let meaning = "The same as `domain_gap`, for one registrable domain.";
    let region = "The region whose terminals poll the feeds of this domain.";
    let keys = vec![
        key("gap", "duration", "`domain_gap`", meaning, "\"30s\""),
        key("region", "name", "any", region, "\"eu\""),
    ];
    let about = "One table for each domain with a gap or a region of its own.";
    ConfigTable { name: "domain.\"example.org\"", about, keys }
}

fn defaults() -> ConfigTable {
    let engine = engine::Settings::new();
    let bounds = engine.bounds;
    let hints = if engine.follow_hints { "lower" } else { "ignore" };
    let keys = vec![
        key(
            "policy",
            "policy",
            engine.policy.to_string(),
            "The policy that decides when to poll, written as for `tidings feed set --policy`.",
            "\"tide\"",
        ),
        key(
            "alpha",
            "duration",
            written(bounds.alpha),
            "The shortest interval between two polls of a feed.",
            "\"5m\"",
        ),
        key(
            "beta",
            "duration",
            written(bounds.beta),
            "The longest interval between two polls of a feed.",
            "\"1d\"",
        ),
        key(
            "eta",
            "duration",
            written(bounds.eta),
            "The interval that is used if a policy has no answer.",
            "\"1h\"",
        ),
        key(
            "hints",
            "`lower` or `ignore`",
            hints,
            "The publishers' hints (ttl, skipHours, max-age): `lower` uses them as lower bounds, \
             `ignore` does not use them.",
            "\"lower\"",
        ),
        key(
            "learn",
            "`all` or `relevant`",
            if engine.learn_relevant { "relevant" } else { "all" },
            "The entries from which Tidings learns about feeds that queries read: all, or only \
             those that a query kept.",
            "\"all\"",
        ),
    ];
    let about = "For feeds without a setting of their own or of a tag.";
    ConfigTable { name: "defaults", about, keys }
}

fn push() -> ConfigTable {
    let push = engine::Settings::new().push;
    let keys = vec![
        key(
            "subscribe",
            "boolean",
            "true",
            "Subscribe to the hubs that feeds name, if there is a `public_url`.",
            "true",
        ),
        key(
            "safety_net",
            "duration",
            written(push.safety_net),
            "The interval at which a feed is polled while its hub pushes.",
            "\"1d\"",
        ),
        key(
            "lease",
            "duration",
            written(push.lease),
            "The requested duration of a subscription. It is renewed before it ends.",
            "\"10d\"",
        ),
    ];
    ConfigTable { name: "push", about: "Feeds that hubs push to Tidings (WebSub).", keys }
}

fn limits() -> ConfigTable {
    let engine = engine::Settings::new();
    let fetch = fetch::Settings::new(super::CONTACT);
    let keys = vec![
        key(
            "body_bytes",
            "number",
            fetch.body_bytes_max.to_string(),
            "The maximum size of a document after decompression, in bytes. The poll of a longer \
             document fails.",
            "4000000",
        ),
        key(
            "items",
            "number",
            engine.parse.items_max.to_string(),
            "The maximum number of items read from one document.",
            "10000",
        ),
        key(
            "entry_age",
            "duration",
            "no limit",
            "Entries seen longer ago are dropped. Their keys are kept, so that they do not come \
             back as new.",
            "\"365d\"",
        ),
        key(
            "entries_per_feed",
            "number",
            "no limit",
            "The number of entries kept for each feed, the newest ones.",
            "5000",
        ),
        key(
            "entries",
            "number",
            "no limit",
            "The number of entries kept in all, the newest ones.",
            "10000000",
        ),
        key(
            "key_age",
            "duration",
            "no limit",
            "Keys of dropped entries are deleted this long after the entry left its feed, and not \
             before 400 days. An entry that comes back later is new.",
            "\"800d\"",
        ),
        key(
            "header_timeout",
            "duration",
            written(fetch::Settings::new("").header_timeout),
            "The longest time from the start of a request to the end of the answer's head.",
            "\"20s\"",
        ),
        key(
            "body_timeout",
            "duration",
            written(fetch::Settings::new("").body_timeout),
            "The longest time from the head of an answer to its last byte.",
            "\"60s\"",
        ),
    ];
    let about = "Limits for documents and for stored entries. Nothing is dropped unless set.";
    ConfigTable { name: "limits", about, keys }
}

fn resolve() -> ConfigTable {
    let meaning = "A name and its address or addresses, which replace the answer of DNS. Needs \
                   `allow_private`.";
    let keys = vec![key("\"NAME\"", "address, or list", "DNS", meaning, "[\"192.0.2.7\"]")];
    ConfigTable { name: "resolve", about: "For tests and split DNS.", keys }
}

fn keys() -> ConfigTable {
    let meaning = "A key that queries name with `SIGNED BY`; at least 16 characters.";
    let example = "\"a long random text of your own\"";
    let keys = vec![key("NAME", "text", "none", meaning, example)];
    ConfigTable { name: "keys", about: "The keys that sign deliveries.", keys }
}

mod markdown;
mod server;
#[cfg(test)]
mod tests;

pub use markdown::markdown;
