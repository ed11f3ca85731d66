//! A TCP relay for any protocol, between two parts of an instance. It closes its connections, or
//! forwards nothing while they stay open, as a network without a word does.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::wire::addresses;

/// The state of the road.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Road {
    Open,
    /// Nothing is forwarded; connections stay open.
    Silent,
    /// Connections are closed, and new ones end at once.
    Cut,
}

/// A running relay; it is cut when it is dropped.
pub struct CutRelay {
    pub address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    road: Road,
    streams: Vec<TcpStream>,
}

impl CutRelay {
    pub fn start(to: SocketAddr) -> CutRelay {
        let listener = TcpListener::bind((addresses(1)[0], 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Mutex::new(Shared { road: Road::Open, streams: Vec::new() }));
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // A server that is down refuses the connection, and so does the relay.
                let _ = connect(client, to, &state);
            }
        });
        CutRelay { address, shared }
    }

    pub fn set(&self, road: Road) {
        let mut shared = lock(&self.shared);
        shared.road = road;
        if road == Road::Cut {
            for stream in shared.streams.drain(..) {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}

impl Drop for CutRelay {
    fn drop(&mut self) {
        self.set(Road::Cut);
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connect(client: TcpStream, to: SocketAddr, shared: &Arc<Mutex<Shared>>) -> io::Result<()> {
    let server = TcpStream::connect(to)?;
    let (client_end, server_end) = (client.try_clone()?, server.try_clone()?);
    {
        let mut shared = lock(shared);
        if shared.road == Road::Cut {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        shared.streams.extend([client.try_clone()?, server.try_clone()?]);
    }
    for (from, to) in [(client, server), (server_end, client_end)] {
        from.set_nodelay(true)?;
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            let _ = forward(&from, &to, &shared);
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        });
    }
    Ok(())
}

fn forward(mut from: &TcpStream, mut to: &TcpStream, shared: &Mutex<Shared>) -> io::Result<()> {
    let mut bytes = vec![0; 65_536];
    loop {
        let n = from.read(&mut bytes)?;
        if n == 0 {
            return Ok(());
        }
        while lock(shared).road == Road::Silent {
            thread::sleep(Duration::from_millis(5));
        }
        to.write_all(&bytes[..n])?;
    }
}
