//! What the configuration file may hold, one row for each key. Defaults are read from the settings
//! they are the defaults of; a test holds the rows to the structs that read the file, and every
//! example to the reader itself.

use polling::written;

/// Keys of one table of the file.
pub struct Table {
    /// As it stands in brackets; empty: before the first one.
    pub name: &'static str,
    pub about: &'static str,
    pub keys: Vec<Key>,
}

pub struct Key {
    pub name: &'static str,
    pub kind: &'static str,
    /// What holds without it.
    pub default: String,
    pub meaning: &'static str,
    /// The value, as TOML.
    pub example: &'static str,
    /// Its table is refused without it.
    pub needed: bool,
}

impl Table {
    /// The names in it are the operator's own.
    pub fn takes_any_key(&self) -> bool {
        matches!(self.name, "resolve" | "keys")
    }

    /// What is known of a key; one row stands for all names that the operator chooses.
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.name == name || self.takes_any_key())
    }
}

fn key(
    name: &'static str,
    kind: &'static str,
    default: impl Into<String>,
    meaning: &'static str,
    example: &'static str,
) -> Key {
    Key { name, kind, default: default.into(), meaning, example, needed: false }
}

impl Key {
    fn needed(self) -> Key {
        Key { needed: true, ..self }
    }
}

/// Everything, in the order in which a person would read it.
pub fn tables() -> Vec<Table> {
    vec![start(), domain(), defaults(), budget(), limits(), resolve(), keys(), mail(), push()]
}

fn start() -> Table {
    let mut keys = vec![
        key(
            "contact",
            "URL",
            "none; `tidings doctor` asks for one",
            "Sent in the User-Agent, so that the people behind a site can reach you.",
            "\"https://example.org/my-reader\"",
        ),
        key(
            "listen",
            "address and port",
            super::LISTEN.to_string(),
            "Where the page and the API are served.",
            "\"127.0.0.1:8080\"",
        ),
        key(
            "data",
            "folder",
            super::DATA,
            "Where everything is kept. Relative to where the program is started.",
            "\"/var/lib/tidings\"",
        ),
        key(
            "public_url",
            "URL",
            "the address a request came to",
            "Under which address others reach this program: the links in published feeds begin \
             with it.",
            "\"https://news.example.org/\"",
        ),
        key(
            "trusted_proxies",
            "list of addresses or ranges",
            "none",
            "Proxies in front of this program. The client's address is taken from the \
             `X-Forwarded-For` that they send; failed logins are counted by it.",
            "[\"127.0.0.1\", \"10.0.0.0/8\"]",
        ),
        key(
            "images",
            "`proxy` or `off`",
            super::images::DEFAULT,
            "Pictures of entries: fetched by this program on the reader's behalf, so that a \
             page asks nobody else; or not shown.",
            "\"proxy\"",
        ),
    ];
    keys.extend(requests());
    let about = "Before the first table.";
    Table { name: "", about, keys }
}

fn requests() -> Vec<Key> {
    let engine = engine::Settings::new();
    let fetch = fetch::Settings::new(super::CONTACT);
    vec![
        key(
            "domain_gap",
            "duration",
            written(engine.gaps.default),
            "Least time between two requests to one registrable domain, counted from the end \
             of the first.",
            "\"2s\"",
        ),
        key(
            "workers",
            "number",
            engine.polls_in_flight_max.to_string(),
            "Polls under way at once, over all domains.",
            "100",
        ),
        key(
            "allow_private",
            "`true` or `false`",
            fetch.allow_private.to_string(),
            "Poll loopback and private addresses too. Only where everybody who may add a feed \
             may also reach your network.",
            "false",
        ),
        key(
            "no_cache",
            "`true` or `false`",
            fetch.no_cache.to_string(),
            "Send `Cache-Control: no-cache` with every poll, so that no cache on the way \
             answers stale.",
            "true",
        ),
    ]
}

fn domain() -> Table {
    let meaning = "The same as `domain_gap`, for one registrable domain.";
    let keys = vec![key("gap", "duration", "`domain_gap`", meaning, "\"30s\"").needed()];
    let about = "One table for each domain that is to be asked less often, or may be more often.";
    Table { name: "domain.\"example.org\"", about, keys }
}

fn defaults() -> Table {
    let engine = engine::Settings::new();
    let bounds = engine.bounds;
    let hints = if engine.follow_hints { "lower" } else { "ignore" };
    let keys = vec![
        key(
            "policy",
            "policy",
            engine.policy.to_string(),
            "When to look, as `tidings feed set --policy` takes it.",
            "\"tide\"",
        ),
        key("alpha", "duration", written(bounds.alpha), "No feed is polled more often.", "\"5m\""),
        key("beta", "duration", written(bounds.beta), "No feed is polled less often.", "\"1d\""),
        key(
            "eta",
            "duration",
            written(bounds.eta),
            "The interval where a policy has no answer.",
            "\"1h\"",
        ),
        key(
            "hints",
            "`lower` or `ignore`",
            hints,
            "What publishers say about when to come back (ttl, skipHours, max-age): lower \
             bounds, or nothing.",
            "\"lower\"",
        ),
        key(
            "learn",
            "`all` or `relevant`",
            if engine.learn_relevant { "relevant" } else { "all" },
            "From which entries the feeds that queries read are learned: all, or those that some \
             query kept.",
            "\"all\"",
        ),
    ];
    let about = "For feeds that have no setting of their own, by themselves or by a tag.";
    Table { name: "defaults", about, keys }
}

fn budget() -> Table {
    let keys = vec![
        key(
            "polls",
            "polls per time, and bytes",
            "needed",
            "How many polls may be made in all, and where it is given how many bytes in the \
             same time.",
            "\"1000/1h,50MB\"",
        )
        .needed(),
        key(
            "strategy",
            "strategy",
            engine::BudgetRule::STRATEGY.to_string(),
            "How it is spent over the feeds; `tidings budget --help` names them. Of tide also what \
             an entry costs that is lost, as waiting: 730d where nothing is said.",
            "\"tide:365d\"",
        ),
        key(
            "estimator",
            "estimator",
            format!("tide; of other strategies {}", engine::BudgetRule::MODEL.word()),
            "What the strategy believes of a feed.",
            "\"periodic\"",
        ),
    ];
    let about = "Without this table there is no budget, unless `tidings budget` set one, which \
        goes before it.";
    Table { name: "budget", about, keys }
}

fn push() -> Table {
    let push = engine::Settings::new().push;
    let keys = vec![
        key(
            "subscribe",
            "boolean",
            "true",
            "Ask the hubs that feeds name to push them, where there is a `public_url`.",
            "true",
        ),
        key(
            "safety_net",
            "duration",
            written(push.safety_net),
            "While pushes come, a feed is polled this often to check on them.",
            "\"1d\"",
        ),
        key(
            "lease",
            "duration",
            written(push.lease),
            "For how long hubs are asked to push; it is renewed before it ends.",
            "\"10d\"",
        ),
    ];
    Table { name: "push", about: "Feeds that are pushed to us (WebSub).", keys }
}

fn limits() -> Table {
    let engine = engine::Settings::new();
    let fetch = fetch::Settings::new(super::CONTACT);
    let keys = vec![
        key(
            "body_bytes",
            "number",
            fetch.body_bytes_max.to_string(),
            "Bytes of a document after decompression; a longer one is a failed poll.",
            "4000000",
        ),
        key(
            "items",
            "number",
            engine.parse.items_max.to_string(),
            "Items read of one document.",
            "10000",
        ),
        key(
            "entry_age",
            "duration",
            "kept for ever",
            "Entries seen longer ago are dropped. Their keys are kept, so that none comes back \
             as new.",
            "\"365d\"",
        ),
        key(
            "entries_per_feed",
            "number",
            "no limit",
            "The newest so many entries of a feed are kept.",
            "5000",
        ),
        key(
            "entries",
            "number",
            "no limit",
            "The newest so many entries in all are kept.",
            "10000000",
        ),
        key(
            "key_age",
            "duration",
            "kept for ever",
            "Keys of dropped entries are forgotten so long after the entry left its feed, and \
             not before 400 days: one that comes back later is new.",
            "\"800d\"",
        ),
    ];
    let about = "What is read at most, and how long it is kept. Nothing is dropped unless set.";
    Table { name: "limits", about, keys }
}

fn resolve() -> Table {
    let meaning = "A name, and the address or the addresses that it leads to instead of what \
        DNS says. Needs `allow_private`.";
    let keys = vec![key("\"NAME\"", "address, or list", "DNS", meaning, "[\"192.0.2.7\"]")];
    Table { name: "resolve", about: "For tests and split DNS.", keys }
}

fn keys() -> Table {
    let meaning = "A key that queries name by `SIGNED BY`; 16 letters at least.";
    let example = "\"a long random text of your own\"";
    let keys = vec![key("NAME", "text", "none", meaning, example)];
    Table { name: "keys", about: "What deliveries are signed with.", keys }
}

fn mail() -> Table {
    let keys = vec![
        key(
            "server",
            "host name",
            "needed",
            "The server that takes digests.",
            "\"mail.example.org\"",
        )
        .needed(),
        key("port", "number", "587, 465 or 25, by `security`", "Its port.", "587"),
        key(
            "security",
            "`starttls`, `tls` or `none`",
            "starttls",
            "How the connection is secured; without TLS no password is sent.",
            "\"starttls\"",
        ),
        key("user", "text", "no login", "Who logs in.", "\"tidings\""),
        key("password", "text", "no login", "With what.", "\"secret\""),
        key("from", "address", "needed", "The sender of digests.", "\"tidings@example.org\"")
            .needed(),
    ];
    Table { name: "mail", about: "Without this table no digest is sent.", keys }
}

/// The whole reference as Markdown.
pub fn markdown() -> String {
    let mut text = String::from(
        "# Configuration\n\n\
         *Printed by `tidings config reference`; a test holds this file to it.*\n\n\
         `tidings run --config FILE` reads one TOML file. Nothing in it is needed. A flag goes \
         before what was set with `tidings feed set` and `tidings budget`, that before the file, \
         the file before what is built in. An unknown key is an error, named with its line; \
         `tidings config check --config FILE` reads a file and starts nothing. Durations are \
         `90s`, `15m`, `1h`, `7d`.\n",
    );
    for table in tables() {
        let title = match table.name {
            "" => "## Where and how it runs".to_owned(),
            name => format!("## `[{name}]`"),
        };
        text.push_str(&format!("\n{title}\n{}\n\n", table.about));
        text.push_str("| key | value | default | meaning | example |\n|---|---|---|---|---|\n");
        for Key { name, kind, default, meaning, example, .. } in table.keys {
            let default = default.replace('|', "\\|");
            text.push_str(&format!(
                "| `{name}` | {kind} | {default} | {meaning} | `{name} = {example}` |\n"
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests;
