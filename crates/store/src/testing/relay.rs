//! A relay between a program and the PostgreSQL server of the tests. It can cut all connections and
//! refuse new ones, as a server does that is down.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::TempDir;
use tokio_postgres::config::Host;

use crate::db::postgres::PgAddress;

/// The socket of a server with the usual port.
const SOCKET: &str = ".s.PGSQL.5432";

/// A running relay. It is mended at first.
pub struct Relay {
    folder: TempDir,
    url: String,
    server: PathBuf,
    open: Arc<Mutex<Connections>>,
}

/// The connections that the relay has made; `None` while it is cut.
type Connections = Option<Vec<UnixStream>>;

impl Relay {
    /// Forwards to the server of the tests, which listens on a socket. `url` comes from
    /// [`super::url`].
    pub fn start(url: &str) -> Relay {
        let address = PgAddress::parse(url, &|_| None).unwrap_or_else(|e| panic!("{e}"));
        let [Host::Unix(server)] = address.hosts()[0].get_hosts() else {
            panic!("{url} is not a socket")
        };
        let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let escaped = |path: &Path| path.display().to_string().replace('/', "%2F");
        let url = url.replace(&escaped(server), &escaped(folder.path()));
        let open = Arc::new(Mutex::new(None));
        let relay = Relay { folder, url, server: server.join(SOCKET), open };
        relay.mend();
        relay
    }

    /// The address of the database behind the relay.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Cuts all connections and refuses new ones.
    pub fn cut(&self) {
        let open = lock(&self.open).take();
        // The next connection finds no socket.
        let _ = std::fs::remove_file(self.folder.path().join(SOCKET));
        for stream in open.into_iter().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Accepts connections again.
    pub fn mend(&self) {
        let listener = UnixListener::bind(self.folder.path().join(SOCKET));
        let listener = listener.unwrap_or_else(|e| panic!("{e}"));
        *lock(&self.open) = Some(Vec::new());
        let (server, open) = (self.server.clone(), Arc::clone(&self.open));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if !forward(&client, &server, &open).unwrap_or(true) {
                    return;
                }
            }
        });
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // Wakes the thread that accepts.
        let woken = UnixStream::connect(self.folder.path().join(SOCKET));
        self.cut();
        drop(woken);
    }
}

/// Forwards in both directions on threads of their own. Returns `false` if the relay is cut.
fn forward(client: &UnixStream, server: &Path, open: &Mutex<Connections>) -> io::Result<bool> {
    let mut open = lock(open);
    let Some(open) = open.as_mut() else { return Ok(false) };
    let server = UnixStream::connect(server)?;
    open.extend([client.try_clone()?, server.try_clone()?]);
    copy(client.try_clone()?, server.try_clone()?);
    copy(server, client.try_clone()?);
    Ok(true)
}

fn copy(mut from: UnixStream, mut to: UnixStream) {
    std::thread::spawn(move || {
        // One side has ended; the other one ends with it.
        let _ = io::copy(&mut from, &mut to);
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}

fn lock(open: &Mutex<Connections>) -> std::sync::MutexGuard<'_, Connections> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}
