//! The tables `[login]` and `[notifications]`.

use super::{ConfigTable, key};
use crate::config::login::NAME;

pub fn login() -> ConfigTable {
    let keys = vec![
        key(
            "passwords",
            "true or false",
            "true",
            "Whether people can log in by name and password. Tokens always work, and `tidings \
             user token NAME` can always create one.",
            "true",
        ),
        key(
            "create_accounts",
            "true or false",
            "false",
            "Whether people whom the provider or the proxy knows get an account with the role \
             reader at their first login. The first account of an instance is never created so.",
            "false",
        ),
        key(
            "header",
            "name of a header",
            "none",
            "The header in which a proxy in front of this program names the account of the \
             visitor. The proxy must remove it from the requests of visitors.",
            "\"Remote-User\"",
        ),
        key(
            "header_from",
            "list of addresses or ranges",
            "`trusted_proxies`",
            "The proxies that may send this header. From other addresses it is ignored.",
            "[\"127.0.0.1\"]",
        ),
        key(
            "oidc_issuer",
            "address",
            "none",
            "The identity provider (OpenID Connect), exactly as it writes its own address. Needs \
             `public_url`; the address to return to is `/login/provider/back` there.",
            "\"https://login.example.org\"",
        ),
        key(
            "oidc_client_id",
            "text",
            "none",
            "The name of this program at the provider.",
            "\"tidings\"",
        ),
        key(
            "oidc_client_secret_file",
            "file",
            "none: a public client",
            "The file with the secret of this program at the provider.",
            "\"/etc/tidings/oidc-secret\"",
        ),
        key(
            "oidc_name",
            "text",
            NAME,
            "The name of the provider on the login page.",
            "\"Example Login\"",
        ),
    ];
    ConfigTable { name: "login", about: "How people log in.", keys }
}

pub fn notifications() -> ConfigTable {
    let keys = vec![
        key(
            "enabled",
            "true or false",
            "true",
            "Whether browsers can subscribe to notifications (Web Push).",
            "true",
        ),
        key(
            "allow_private",
            "true or false",
            "false",
            "Whether a push service may have a private address. Browsers name the services, so \
             set this only if you run a push service of your own.",
            "false",
        ),
    ];
    ConfigTable { name: "notifications", about: "Notifications of rules.", keys }
}
