//! A TCP relay between the program and its database. It cuts connections in the middle of a commit,
//! or forwards nothing for a while. It reads just enough of PostgreSQL's protocol to see a commit.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::wire::addresses;

/// The place of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutAt {
    /// The server does not get the commit.
    Request,
    /// The server commits, and the program does not get the answer.
    Answer,
}

/// A running relay; it stops when dropped.
pub struct Relay {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    socket: PathBuf,
    /// Nothing is forwarded while this is set.
    is_held: AtomicBool,
    is_over: AtomicBool,
    n_commits: AtomicUsize,
    /// Every so many commits, one is cut; 0: none.
    cut_every: AtomicUsize,
    n_cut: AtomicUsize,
}

impl Relay {
    /// Forwards to the server whose socket is in this folder.
    pub fn start(folder: &Path) -> Relay {
        Relay::start_at(addresses(1)[0], folder)
    }

    /// The same at an address of this machine.
    pub fn start_at(address: Ipv4Addr, folder: &Path) -> Relay {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let socket = folder.join(".s.PGSQL.5432");
        let shared = Arc::new(Shared { socket, ..Shared::default() });
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if state.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let state = Arc::clone(&state);
                // A server that is down refuses the connection, and so does the relay.
                thread::spawn(move || {
                    let _ = forward(&client, &state);
                });
            }
        });
        Relay { address, shared }
    }

    pub fn url(&self) -> String {
        format!("postgres://tidings@{}/postgres?sslmode=disable", self.address)
    }

    /// Cuts one of so many commits, at the request and at the answer in turn.
    pub fn cut_every(&self, n: usize) {
        self.shared.cut_every.store(n, Ordering::SeqCst);
    }

    pub fn n_cut(&self) -> usize {
        self.shared.n_cut.load(Ordering::SeqCst)
    }

    /// Forwards nothing until it is called with `false`.
    pub fn hold(&self, is_held: bool) {
        self.shared.is_held.store(is_held, Ordering::SeqCst);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.is_held.store(false, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn wait_while_held(&self) {
        while self.is_held.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Decides about the commit that has just come.
    fn next_cut(&self) -> Option<CutAt> {
        let n = self.n_commits.fetch_add(1, Ordering::SeqCst) + 1;
        let every = self.cut_every.load(Ordering::SeqCst);
        if every == 0 || !n.is_multiple_of(every) {
            return None;
        }
        let n_before = self.n_cut.fetch_add(1, Ordering::SeqCst);
        Some(if n_before.is_multiple_of(2) { CutAt::Request } else { CutAt::Answer })
    }
}

fn forward(client: &TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    client.set_nodelay(true)?;
    shared.wait_while_held();
    let server = UnixStream::connect(&shared.socket)?;
    let is_answer_lost = Arc::new(AtomicBool::new(false));
    let (answers, to) = (server.try_clone()?, client.try_clone()?);
    let (state, lost) = (Arc::clone(shared), Arc::clone(&is_answer_lost));
    let back = thread::spawn(move || {
        let _ = forward_answers(&answers, &to, &state, &lost);
        let _ = (answers.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
    let _ = forward_requests(client, &server, shared, &is_answer_lost);
    if is_answer_lost.load(Ordering::SeqCst) {
        // The other thread ends the connection after the server has answered.
        let _ = back.join();
    }
    let _ = (server.shutdown(Shutdown::Both), client.shutdown(Shutdown::Both));
    Ok(())
}

fn forward_answers(
    mut from: &UnixStream,
    mut to: &TcpStream,
    shared: &Shared,
    is_lost: &AtomicBool,
) -> io::Result<()> {
    let mut bytes = vec![0; 65_536];
    loop {
        let n = from.read(&mut bytes)?;
        shared.wait_while_held();
        if n == 0 || is_lost.load(Ordering::SeqCst) {
            return Ok(());
        }
        to.write_all(&bytes[..n])?;
    }
}

fn forward_requests(
    mut from: &TcpStream,
    mut to: &UnixStream,
    shared: &Shared,
    is_answer_lost: &AtomicBool,
) -> io::Result<()> {
    // The first message has no kind.
    let mut message = Vec::new();
    read_sized(&mut from, &mut message)?;
    to.write_all(&message)?;
    let mut commits: HashSet<Vec<u8>> = HashSet::new();
    let mut loses_answer = false;
    loop {
        let mut kind = [0];
        from.read_exact(&mut kind)?;
        message.clear();
        message.push(kind[0]);
        read_sized(&mut from, &mut message)?;
        shared.wait_while_held();
        let mut texts = message[5..].split(|byte| *byte == 0);
        let (first, second) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
        match kind[0] {
            // Parse: the name of a statement and its text.
            b'P' if second == b"commit" => drop(commits.insert(first.to_vec())),
            // Bind: the name of a portal and that of a statement.
            b'B' if commits.contains(second) => match shared.next_cut() {
                Some(CutAt::Request) => return Ok(()),
                Some(CutAt::Answer) => loses_answer = true,
                None => {}
            },
            // Sync: the server answers now.
            b'S' if loses_answer => is_answer_lost.store(true, Ordering::SeqCst),
            _ => {}
        }
        to.write_all(&message)?;
    }
}

/// Reads a length and as many bytes as it says. The length counts itself.
fn read_sized(from: &mut impl Read, message: &mut Vec<u8>) -> io::Result<()> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    message.extend(length);
    let rest = u64::from(u32::from_be_bytes(length)).saturating_sub(4);
    let n = from.take(rest).read_to_end(message)?;
    if n as u64 == rest { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
