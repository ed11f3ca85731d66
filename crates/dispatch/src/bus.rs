//! NATS as the road between machines. It publishes, listens and asks. It keeps nothing: a message
//! that is lost is sent again by the end that needs its answer.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, ClientError, ConnectErrorKind, ConnectOptions, Event, Subscriber};
use futures_util::StreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Stopwatch;
use crate::frame::{self, Unpacker};
use crate::wire::{self, WireError};

/// With the client's default of 60 s a terminal would not notice that it is cut off.
const PING_EVERY: Duration = Duration::from_secs(2);
/// The longest wait between two attempts to connect again.
const RECONNECT_MAX: Duration = Duration::from_secs(2);
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// The settings of the bus.
#[derive(Clone, Debug)]
pub struct BusSettings {
    /// The addresses of the servers: `nats://host:4222` or `tls://host:4222`.
    pub servers: Vec<String>,
    /// The beginning of all subjects.
    pub name: String,
    /// The seed of an NKey.
    pub seed: Option<String>,
    /// A file with certificate authorities in PEM.
    pub authorities: Option<PathBuf>,
    /// The name of this process, for the server and for its inboxes.
    pub process: String,
    /// The highest version of the wire form that this process speaks.
    pub wire: u32,
}

/// An error of the bus.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    #[error("cannot connect to the bus at {servers}: {detail}")]
    Connect { servers: String, detail: String },
    #[error("the bus did not take the message: {0}")]
    Publish(String),
    #[error("nobody answered on the bus: {0}")]
    NoAnswer(String),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("the operating system gives no random numbers")]
    Random,
}

/// Messages and bytes that this process sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusCounts {
    pub messages: u64,
    pub bytes: u64,
}

/// A connection to the bus. Clones share it.
#[derive(Clone)]
pub struct Bus {
    client: Client,
    name: Arc<str>,
    wire: u32,
    inbox: Arc<str>,
    stopwatch: Stopwatch,
    counts: Arc<(AtomicU64, AtomicU64)>,
}

/// A message that arrived, without its frame.
#[derive(Debug)]
pub struct BusMessage {
    /// The subject on which the sender expects the answer.
    pub reply: Option<String>,
    bytes: Vec<u8>,
    wire: u32,
}

impl BusMessage {
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, WireError> {
        wire::decode_up_to(self.wire, &self.bytes)
    }

    /// Decodes a message whose form is the same in every version. Its sender may have written a
    /// version that this process does not know.
    pub fn decode_any<T: DeserializeOwned>(&self) -> Result<T, WireError> {
        wire::decode_any(&self.bytes)
    }
}

/// The messages of one subject.
pub struct BusReceiver {
    subscriber: Subscriber,
    unpacker: Unpacker,
    bus: Bus,
}

impl BusReceiver {
    /// Waits for the next message; `None` after the connection was closed. Frames that cannot be
    /// read are dropped.
    pub async fn next(&mut self) -> Option<BusMessage> {
        loop {
            let message = self.subscriber.next().await?;
            self.bus.count(message.payload.len());
            // The server reports here that nobody listens to a subject.
            if message.status.is_some_and(|status| !status.is_success()) {
                continue;
            }
            let (sender, now) = (message.reply.as_deref(), self.bus.stopwatch.elapsed());
            match self.unpacker.take(&message.payload, sender.unwrap_or_default(), now) {
                Ok(Some(bytes)) => {
                    let reply = message.reply.map(|subject| subject.to_string());
                    return Some(BusMessage { reply, bytes, wire: self.bus.wire });
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, subject = %message.subject, "frame dropped"),
            }
        }
    }
}

impl Bus {
    /// Connects. If the server is away, the connection is tried again and again in the background.
    pub async fn connect(settings: BusSettings) -> Result<Bus, BusError> {
        let BusSettings { servers, name, seed, authorities, process, wire } = settings;
        let inbox = format!("_INBOX_{process}");
        let events = BusEvents::default();
        let mut options = ConnectOptions::new()
            .name(&process)
            .custom_inbox_prefix(&inbox)
            .ping_interval(PING_EVERY)
            .connection_timeout(CONNECT_WITHIN)
            .reconnect_delay_callback(|attempt| {
                Duration::from_millis(100 * attempt as u64).min(RECONNECT_MAX)
            })
            .retry_on_initial_connect()
            .event_callback(move |event| {
                events.log(event);
                std::future::ready(())
            });
        if let Some(seed) = seed {
            options = options.nkey(seed);
        }
        if let Some(file) = authorities {
            options = options.add_root_certificates(file).require_tls(true);
        }
        let connected = options.connect(servers.clone()).await;
        let client = connected.map_err(|error| BusError::Connect {
            servers: servers.join(", "),
            detail: error.to_string(),
        })?;
        Ok(Bus {
            client,
            name: name.into(),
            wire,
            inbox: inbox.into(),
            stopwatch: Stopwatch::start(),
            counts: Arc::default(),
        })
    }

    /// The highest version of the wire form that this process speaks.
    pub fn wire(&self) -> u32 {
        self.wire
    }

    /// The version in messages whose form is the same in every version.
    pub fn wire_of_any(&self) -> u32 {
        wire::oldest(self.wire)
    }

    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Listens to a subject of this instance.
    pub async fn listen(&self, subject: &str) -> Result<BusReceiver, BusError> {
        self.subscribe(format!("{}.{subject}", self.name)).await
    }

    /// Listens to an inbox of this process. Returns also its subject, for replies.
    pub async fn listen_inbox(&self, word: &str) -> Result<(String, BusReceiver), BusError> {
        let subject = format!("{}.{word}", self.inbox);
        Ok((subject.clone(), self.subscribe(subject).await?))
    }

    async fn subscribe(&self, subject: String) -> Result<BusReceiver, BusError> {
        let subscriber = self.client.subscribe(subject).await;
        let subscriber = subscriber.map_err(|error| BusError::Publish(error.to_string()))?;
        Ok(BusReceiver { subscriber, unpacker: Unpacker::default(), bus: self.clone() })
    }

    /// Publishes a message to a subject of this instance, in the form of a version.
    pub async fn publish<T: Serialize>(
        &self,
        subject: &str,
        wire: u32,
        body: &T,
        reply: Option<&str>,
    ) -> Result<(), BusError> {
        self.send(format!("{}.{subject}", self.name), wire, body, reply).await
    }

    /// Answers a message at the place that it names. Answers have the same form in every version.
    pub async fn answer<T: Serialize>(&self, reply: &str, body: &T) -> Result<(), BusError> {
        self.send(reply.to_owned(), self.wire_of_any(), body, None).await
    }

    async fn send<T: Serialize>(
        &self,
        subject: String,
        wire: u32,
        body: &T,
        reply: Option<&str>,
    ) -> Result<(), BusError> {
        for frame in self.frames(wire, body)? {
            self.count(frame.len());
            let sent = match reply {
                Some(reply) => {
                    let (subject, reply) = (subject.clone(), reply.to_owned());
                    self.client.publish_with_reply(subject, reply, frame.into()).await
                }
                None => self.client.publish(subject.clone(), frame.into()).await,
            };
            sent.map_err(|error| BusError::Publish(error.to_string()))?;
        }
        Ok(())
    }

    /// Asks a question and waits for its one answer. Fails at once if nobody listens. Questions
    /// have the same form in every version.
    pub async fn ask<T: Serialize>(
        &self,
        subject: &str,
        body: &T,
        within: Duration,
    ) -> Result<BusMessage, BusError> {
        let mut frames = self.frames(self.wire_of_any(), body)?;
        let (Some(frame), true) = (frames.pop(), frames.is_empty()) else {
            return Err(BusError::NoAnswer("the question is too long".to_owned()));
        };
        self.count(frame.len());
        let asked = self.client.request(format!("{}.{subject}", self.name), frame.into());
        let no_answer = |why: String| BusError::NoAnswer(why);
        let answer = tokio::time::timeout(within, asked).await;
        let answer = answer.map_err(|_| no_answer("it took too long".to_owned()))?;
        let answer = answer.map_err(|error| no_answer(error.to_string()))?;
        self.count(answer.payload.len());
        let bytes = Unpacker::default().take(&answer.payload, "", Duration::ZERO)?;
        let bytes = bytes.ok_or_else(|| no_answer("the answer is too long".to_owned()))?;
        Ok(BusMessage { reply: None, bytes, wire: self.wire })
    }

    /// Waits until everything published so far is on its way.
    pub async fn flush(&self) {
        // Without a connection there is nothing that could be waited for.
        let _ = tokio::time::timeout(CONNECT_WITHIN, self.client.flush()).await;
    }

    pub fn counts(&self) -> BusCounts {
        let (messages, bytes) = &*self.counts;
        let [messages, bytes] = [messages, bytes].map(|n| n.load(Ordering::Relaxed));
        BusCounts { messages, bytes }
    }

    fn count(&self, n_bytes: usize) {
        self.counts.0.fetch_add(1, Ordering::Relaxed);
        self.counts.1.fetch_add(n_bytes as u64, Ordering::Relaxed);
    }

    fn frames<T: Serialize>(&self, wire: u32, body: &T) -> Result<Vec<Vec<u8>>, BusError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|_| BusError::Random)?;
        Ok(frame::pack(&wire::encode_as(wire, body)?, id)?)
    }
}

/// The log of a connection. The same trouble twice in a row is one line.
#[derive(Default)]
struct BusEvents {
    trouble: Mutex<Option<String>>,
}

impl BusEvents {
    fn log(&self, event: Event) {
        match event {
            Event::Connected => {
                *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
                tracing::info!("connected to the bus");
            }
            Event::Disconnected => tracing::warn!("not connected to the bus; trying again"),
            Event::ServerError(error) => self.log_trouble(refusal(&error.to_string())),
            Event::ClientError(error) => self.log_trouble(trouble(&error)),
            Event::SlowConsumer(_) => tracing::warn!("messages of the bus were dropped: too many"),
            Event::LameDuckMode | Event::Draining | Event::Closed => {}
        }
    }

    fn log_trouble(&self, text: String) {
        let mut last = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref() != Some(&text) {
            tracing::error!("{text}");
            *last = Some(text);
        }
    }
}

/// Says what the server refuses, and what helps. A machine that may not listen has the key of
/// another name.
fn refusal(error: &str) -> String {
    if error.contains("Permissions Violation for Subscription") {
        "the bus does not let this machine listen: the key of `[bus] key` belongs to another name. \
         Write the name that the configuration of the NATS server gives it into `[machine] name`"
            .to_owned()
    } else {
        format!("the bus refuses something: {error}")
    }
}

/// Says why there is no connection, and what helps. The client passes the kind of an error as text.
fn trouble(error: &ClientError) -> String {
    let is = |kind: ConnectErrorKind| *error == ClientError::Other(kind.to_string());
    if is(ConnectErrorKind::AuthorizationViolation) || is(ConnectErrorKind::Authentication) {
        "the bus refuses the key of this machine; write the public half of its key into the \
         configuration of the NATS server, or name another key in `[bus] key`; trying again"
            .to_owned()
    } else if is(ConnectErrorKind::Tls) || is(ConnectErrorKind::Io) {
        "there is no connection to the bus, or its certificate is not trusted; check the address, \
         and name the authority of the certificate in `[bus] ca`; trying again"
            .to_owned()
    } else {
        format!("the bus cannot be reached ({error}); trying again")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_names_the_remedy() {
        let said = |kind: ConnectErrorKind| trouble(&ClientError::Other(kind.to_string()));
        assert!(said(ConnectErrorKind::AuthorizationViolation).contains("[bus] key"));
        assert!(said(ConnectErrorKind::Io).contains("[bus] ca"));
        assert!(said(ConnectErrorKind::TimedOut).contains("timed out"));
        let violation = "nats: Permissions Violation for Subscription to \"tidings.job.t.1\"";
        assert!(refusal(violation).contains("[machine] name"));
        let violation = "nats: Permissions Violation for Publish to \"tidings.seat\"";
        assert!(refusal(violation).contains("tidings.seat"));
    }
}
