//! Reaches a server at one of the hosts of an address. A host that does not answer is not waited
//! for: the next one is tried meanwhile, and the first that lets this program in is taken.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{PgAddress, tls};
use crate::ErrorKind;
use crate::db::sql::{Result, SqlError};

/// After this time without an answer from the server's machine, the connection counts as lost.
/// tokio-postgres hands the number to the system in whole seconds.
const SILENCE: Duration = Duration::from_secs(5);
/// The pause between questions to a machine that does not answer, and their number.
const KEEPALIVE_PAUSE: Duration = Duration::from_secs(1);
const KEEPALIVES: u32 = 3;

/// After this time without an answer from a host, the next one is tried too. The time covers the
/// network, TLS, the login, and the question whether the server takes changes.
const NEXT_HOST_AFTER: Duration = Duration::from_secs(3);
/// How long the last host may take.
pub(super) const LAST_HOST_LIMIT: Duration = Duration::from_secs(10);

/// A connection to one of the hosts.
pub(super) struct Reached {
    /// The place of the host in the address.
    pub place: usize,
    pub stream: Stream,
}

/// The two kinds of connections.
pub(super) enum Stream {
    Plain(Client, Box<Connection<Socket, <NoTls as MakeTlsConnect<Socket>>::Stream>>),
    Encrypted(Client, Box<TlsConnection>),
}

type TlsConnection = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Returns the longest time that [`reach`] takes.
fn limit(address: &PgAddress) -> Duration {
    let others = address.hosts().len().saturating_sub(1);
    LAST_HOST_LIMIT + NEXT_HOST_AFTER * u32::try_from(others).unwrap_or(u32::MAX)
}

/// Connects to the first host that lets this program in.
pub(super) async fn reach(address: &PgAddress) -> Result<Reached> {
    let tls = tls::connector(address)?;
    let attempts = address.order().into_iter().map(|place| {
        let (config, tls) = (config(&address.hosts()[place]), tls.clone());
        async move { Ok(Reached { place, stream: to_host(&config, tls).await? }) }
    });
    let mut refusal = None;
    let reached = tokio::time::timeout(limit(address), first(attempts, &mut refusal)).await;
    match reached {
        Ok(Some(reached)) => {
            address.note_reached(reached.place);
            Ok(reached)
        }
        Ok(None) | Err(_) => Err(refusal.unwrap_or_else(|| {
            let text = format!("no answer within {} s", limit(address).as_secs());
            SqlError::of_kind(ErrorKind::Unreachable, text)
        })),
    }
}

fn config(host: &Config) -> Config {
    let mut config = host.clone();
    // A name may stand for several machines.
    config.connect_timeout(NEXT_HOST_AFTER);
    config.tcp_user_timeout(SILENCE);
    config.keepalives_idle(SILENCE);
    config.keepalives_interval(KEEPALIVE_PAUSE);
    config.keepalives_retries(KEEPALIVES);
    config
}

async fn to_host(config: &Config, tls: Option<MakeRustlsConnect>) -> Result<Stream> {
    let Some(tls) = tls else {
        let (client, connection) = config.connect(NoTls).await?;
        return Ok(Stream::Plain(client, Box::new(connection)));
    };
    let (client, connection) = config.connect(tls).await?;
    Ok(Stream::Encrypted(client, Box::new(connection)))
}

/// Returns the result of the first attempt that succeeds. Begins the next one when the one before
/// has failed or was silent for long. Keeps the last answer of a server that refused, or else the
/// last error, in `refusal`.
async fn first<T: Send + 'static>(
    attempts: impl Iterator<Item = impl Future<Output = Result<T>> + Send + 'static>,
    refusal: &mut Option<SqlError>,
) -> Option<T> {
    let (mut attempts, mut running) = (attempts, JoinSet::new());
    loop {
        match attempts.next() {
            Some(attempt) => _ = running.spawn(attempt),
            None if running.is_empty() => return None,
            None => {}
        }
        match tokio::time::timeout(NEXT_HOST_AFTER, running.join_next()).await {
            Ok(Some(Ok(Ok(reached)))) => return Some(reached),
            Ok(Some(Ok(Err(error))))
                if error.is_answer() || !refusal.as_ref().is_some_and(SqlError::is_answer) =>
            {
                *refusal = Some(error);
            }
            // An attempt that panicked says nothing; the others go on.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Attempt = std::pin::Pin<Box<dyn Future<Output = Result<u8>> + Send>>;

    fn answers(after_ms: u64, answer: Result<u8>) -> Attempt {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(after_ms)).await;
            answer
        })
    }

    fn refused(what: &str) -> Result<u8> {
        Err(SqlError::of_kind(ErrorKind::Unreachable, what))
    }

    #[tokio::test(start_paused = true)]
    #[expect(clippy::disallowed_methods, reason = "the paused clock of the test")]
    async fn a_silent_host_is_passed_and_a_slow_one_may_still_answer() {
        type Row = (Vec<Attempt>, Option<u8>, u64);
        let hour = 3_600_000;
        let table: [Row; 6] = [
            (vec![answers(hour, Ok(0)), answers(5, Ok(1))], Some(1), 3_005),
            (vec![answers(0, refused("a")), answers(5, Ok(1))], Some(1), 5),
            (vec![answers(4_000, Ok(0)), answers(hour, Ok(1))], Some(0), 4_000),
            (vec![answers(8_000, Ok(0))], Some(0), 8_000),
            (vec![answers(1, refused("a")), answers(7_000, refused("b"))], None, 7_001),
            (vec![answers(1, Ok(0)), answers(1, Ok(1))], Some(0), 1),
        ];
        for (n, (attempts, expect, ms)) in table.into_iter().enumerate() {
            let (begun, mut refusal) = (tokio::time::Instant::now(), None);
            assert_eq!(first(attempts.into_iter(), &mut refusal).await, expect, "row {n}");
            assert_eq!(begun.elapsed().as_millis(), u128::from(ms), "row {n}");
            assert!(expect.is_some() || refusal.is_some(), "row {n}");
        }
    }
}
