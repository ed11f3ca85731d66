//! The arguments of `tidings user`.

use clap::Subcommand;

use super::InstanceArgs;

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Create an account; asks for its password
    Add {
        #[arg(value_name = "NAME")]
        name: String,
        /// admin: change everything; reader: change own subscriptions, tags, marks and queries
        /// [default: admin for the first account, reader for others]
        #[arg(long, value_parser = ["admin", "reader"])]
        role: Option<String>,
        /// Read the password from the first line of standard input
        #[arg(long)]
        password_stdin: bool,
        /// Create the account without a password, for a login at the identity provider or by the
        /// proxy
        #[arg(long, conflicts_with = "password_stdin")]
        no_password: bool,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Change the password of an account and end its sessions
    Password {
        #[arg(value_name = "NAME")]
        name: String,
        /// Read the password from the first line of standard input
        #[arg(long)]
        password_stdin: bool,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Give an account another role
    Role {
        #[arg(value_name = "NAME")]
        name: String,
        /// admin: change everything; reader: change own subscriptions, tags, marks and queries
        #[arg(value_parser = ["admin", "reader"])]
        role: String,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Connect an account with a person at the identity provider, or list and remove connections
    Connect {
        #[arg(value_name = "NAME")]
        name: String,
        /// The person's `sub` at the provider; without it, list the connections
        subject: Option<String>,
        /// Remove the connection
        #[arg(long, requires = "subject")]
        remove: bool,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Create a token for a program or a reader app, and print it once
    Token {
        #[arg(value_name = "NAME")]
        name: String,
        /// Purpose of the token, e.g. the name of the app [default: the time]
        #[arg(long, value_name = "TEXT")]
        label: Option<String>,
        /// read: only read; write: also change own subscriptions, tags, marks and queries; admin:
        /// also manage the account and, with the role admin, settings of the instance
        #[arg(long, value_parser = ["read", "write", "admin"], default_value = "admin")]
        scope: String,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// List accounts and their tokens
    List {
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Revoke a token
    Revoke {
        #[arg(value_name = "NAME")]
        name: String,
        /// The token's label
        label: String,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Remove an account with its subscriptions, private feeds, queries, marks and stars
    Remove {
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        place: InstanceArgs,
    },
}
