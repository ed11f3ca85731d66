//! Signals between the processes on one database (`NOTIFY` and `LISTEN`): something new is there to
//! look at. A signal carries no data and may be lost, so its receivers look at intervals too.
//!
//! Channels belong to a database and a store to a schema. So the payload names the schema.

use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_postgres::{AsyncMessage, Client, SimpleQueryMessage};

use super::{PgAddress, connect, runtime};
use crate::db::sql::Connection;

/// The subject of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Entries were recorded.
    Entries,
    /// A command waits for the process that records.
    Requests,
    /// A command was answered.
    Answers,
}

const ALL: [Signal; 3] = [Signal::Entries, Signal::Requests, Signal::Answers];

/// The pause between two looks, also if signals come all the time.
const PAUSE: Duration = Duration::from_millis(50);
/// The pause before a lost connection is opened again.
const CONNECT_AGAIN_AFTER: Duration = Duration::from_secs(1);

impl Signal {
    const fn channel(self) -> &'static str {
        match self {
            Signal::Entries => "tidings_entries",
            Signal::Requests => "tidings_requests",
            Signal::Answers => "tidings_answers",
        }
    }
}

/// Sends a signal when the open transaction commits. SQLite has no signals.
pub(crate) fn announce(conn: &Connection, signal: Signal) -> crate::db::sql::Result<()> {
    if !conn.is_postgres() {
        return Ok(());
    }
    conn.control(&format!("select {}", notify(signal)))
}

/// SQL expression that sends a signal when the transaction commits.
pub(super) fn notify(signal: Signal) -> String {
    format!("pg_notify('{}', current_schema())", signal.channel())
}

/// The signals that have come so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heard {
    is_listening: bool,
    counts: [u64; ALL.len()],
}

impl Heard {
    fn count(&self, signal: Signal) -> u64 {
        self.counts[signal as usize]
    }

    fn note(&mut self, channel: &str) {
        for signal in ALL.into_iter().filter(|signal| signal.channel() == channel) {
            self.counts[signal as usize] += 1;
        }
    }

    /// Signals may have been lost meanwhile, so every receiver looks.
    fn note_all(&mut self, is_listening: bool) {
        self.is_listening = is_listening;
        self.counts = self.counts.map(|n| n + 1);
    }
}

/// Waits for signals of one subject.
#[derive(Clone, Debug)]
pub struct SignalReceiver {
    /// `None` for SQLite.
    heard: Option<watch::Receiver<Heard>>,
    signal: Signal,
    seen: u64,
}

impl SignalReceiver {
    pub(crate) fn new(heard: Option<watch::Receiver<Heard>>, signal: Signal) -> SignalReceiver {
        let seen = heard.as_ref().map_or(0, |heard| heard.borrow().count(signal));
        SignalReceiver { heard, signal, seen }
    }

    /// Waits for the next signal, `at_most` so long. Without signals it waits `otherwise`.
    pub async fn wait(&mut self, otherwise: Duration, at_most: Duration) {
        let heard = self.heard.as_mut().filter(|heard| heard.borrow().is_listening);
        let Some(heard) = heard else { return tokio::time::sleep(otherwise).await };
        tokio::time::sleep(PAUSE).await;
        let (signal, seen) = (self.signal, self.seen);
        let next = heard.wait_for(|heard| heard.count(signal) != seen);
        let next = async { next.await.map(|heard| heard.count(signal)) };
        match tokio::time::timeout(at_most, next).await {
            Ok(Ok(seen)) => self.seen = seen,
            // The connection has ended for good, which happens at the end of the process.
            Ok(Err(_)) => tokio::time::sleep(otherwise).await,
            Err(_) => {}
        }
    }
}

/// Begins to listen, until every receiver is dropped.
pub(crate) fn listen(address: &PgAddress) -> watch::Receiver<Heard> {
    let (sender, receiver) = watch::channel(Heard::default());
    let address = address.clone();
    runtime::start(async move {
        while !sender.is_closed() {
            // An error is a lost connection, which the next turn replaces.
            let _ = connect::listening(&address, &sender).await;
            if sender.borrow().is_listening {
                sender.send_modify(|heard| heard.note_all(false));
            }
            tokio::time::sleep(CONNECT_AGAIN_AFTER).await;
        }
    });
    receiver
}

/// Forwards the signals of one connection until it is lost or nobody wants them.
pub(super) async fn follow<S, T>(
    client: Client,
    mut connection: tokio_postgres::Connection<S, T>,
    sender: &watch::Sender<Heard>,
) -> Result<(), tokio_postgres::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    let begin = async {
        let schema = client.simple_query("select current_schema()").await?;
        let text = ALL.map(|signal| format!("listen {}", signal.channel())).join("; ");
        client.batch_execute(&text).await?;
        Ok::<_, tokio_postgres::Error>(first_text(&schema))
    };
    tokio::pin!(begin);
    let schema = loop {
        tokio::select! {
            schema = &mut begin => break schema?,
            message = messages.next() => if !matches!(message, Some(Ok(_))) { return Ok(()) },
        }
    };
    sender.send_modify(|heard| heard.note_all(true));
    loop {
        tokio::select! {
            () = sender.closed() => return Ok(()),
            message = messages.next() => match message {
                Some(Ok(AsyncMessage::Notification(note))) if note.payload() == schema => {
                    sender.send_modify(|heard| heard.note(note.channel()));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            },
        }
    }
}

fn first_text(answer: &[SimpleQueryMessage]) -> String {
    let rows = answer.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    rows.take(1).collect()
}
