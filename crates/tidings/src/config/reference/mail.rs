//! The keys of the table `[mail]`.

use super::{ConfigTable, key};

pub(super) fn mail() -> ConfigTable {
    let keys = vec![
        key(
            "server",
            "host name",
            "required",
            "The mail server that digests are sent to.",
            "\"mail.example.org\"",
        )
        .needed(),
        key(
            "port",
            "number",
            "587, 465 or 25, by `security`",
            "The port of the mail server.",
            "587",
        ),
        key(
            "security",
            "`starttls`, `tls` or `none`",
            "starttls",
            "The security of the connection. Without TLS no password is sent.",
            "\"starttls\"",
        ),
        key("user", "text", "no login", "The user name for the mail server.", "\"tidings\""),
        key("password", "text", "no login", "The password for the mail server.", "\"secret\""),
        key("from", "address", "required", "The sender of digests.", "\"tidings@example.org\"")
            .needed(),
    ];
    ConfigTable { name: "mail", about: "Without this table no digests are sent.", keys }
}
