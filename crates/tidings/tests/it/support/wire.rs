//! A small HTTP/1.1 server on loopback. It shows a test the raw bytes of every request and lets it
//! answer with any bytes. It is not a web server: it refuses nothing and repairs nothing.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// One request, with header values as they came.
#[derive(Clone)]
pub struct Request {
    pub target: String,
    headers: Vec<(String, Vec<u8>)>,
    /// The body, as long as `Content-Length` says; empty without it.
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_slice())
    }

    pub fn text(&self, name: &str) -> String {
        self.header(name).map(|v| String::from_utf8_lossy(v).into_owned()).unwrap_or_default()
    }

    /// Returns the requested host, without its port.
    pub fn host(&self) -> String {
        let host = self.text("host");
        host.rsplit_once(':').map_or(host.clone(), |(name, _)| name.to_owned())
    }
}

/// The end of the connection after an answer.
#[derive(PartialEq, Eq)]
pub enum Next {
    Keep,
    Close,
}

type Answer = dyn Fn(&Request, &mut TcpStream) -> io::Result<Next> + Send + Sync;

/// A running server; it stops when dropped.
pub struct Server {
    pub port: u16,
    addresses: Vec<Ipv4Addr>,
    stop: Arc<AtomicBool>,
}

impl Server {
    pub fn start<F>(addresses: &[Ipv4Addr], answer: F) -> Server
    where
        F: Fn(&Request, &mut TcpStream) -> io::Result<Next> + Send + Sync + 'static,
    {
        Server::start_on(addresses, 0, answer)
    }

    /// All addresses listen on one port, so that a name may lead to any of them.
    pub fn start_on<F>(addresses: &[Ipv4Addr], port: u16, answer: F) -> Server
    where
        F: Fn(&Request, &mut TcpStream) -> io::Result<Next> + Send + Sync + 'static,
    {
        let listeners = listen(addresses, port);
        let port = listeners[0].local_addr().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let answer: Arc<Answer> = Arc::new(answer);
        for listener in listeners {
            let (answer, stop) = (Arc::clone(&answer), Arc::clone(&stop));
            thread::spawn(move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let (answer, stop) = (Arc::clone(&answer), Arc::clone(&stop));
                    thread::spawn(move || serve(&stream, &*answer, &stop));
                }
            });
        }
        Server { port, addresses: addresses.to_vec(), stop }
    }

    pub fn url(&self, address: Ipv4Addr, path: &str) -> String {
        format!("http://{address}:{}{path}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        for address in &self.addresses {
            // Wakes the thread that waits for a connection, so that it ends and frees the port.
            drop(TcpStream::connect((*address, self.port)));
        }
    }
}

fn listen(addresses: &[Ipv4Addr], port: u16) -> Vec<TcpListener> {
    // A port that is free on the first address may be taken on another. Then the next one is tried.
    for _ in 0..20 {
        let first = TcpListener::bind((addresses[0], port)).unwrap();
        let chosen = first.local_addr().unwrap().port();
        let rest: io::Result<Vec<TcpListener>> =
            addresses[1..].iter().map(|a| TcpListener::bind((*a, chosen))).collect();
        if let Ok(rest) = rest {
            return std::iter::once(first).chain(rest).collect();
        }
    }
    panic!("no port is free on all of {} loopback addresses", addresses.len());
}

/// Returns loopback addresses that no other test and no other run uses.
pub fn addresses(n: u32) -> Vec<Ipv4Addr> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let base = 0x7f40_0000 | ((std::process::id() & 0x3ff) << 12);
    let first = NEXT.fetch_add(n, Ordering::SeqCst);
    (first..first + n).map(|i| Ipv4Addr::from(base + i)).collect()
}

fn serve(stream: &TcpStream, answer: &Answer, stop: &AtomicBool) {
    let Ok(mut writer) = stream.try_clone() else { return };
    // An idle connection must not outlive its test.
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader) {
        let done = answer(&request, &mut writer);
        if !matches!(done, Ok(Next::Keep)) || stop.load(Ordering::SeqCst) {
            break;
        }
    }
    let _ = stream.shutdown(std::net::Shutdown::Both);
}

fn read_request(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let line = read_line(reader)?;
    let line = String::from_utf8_lossy(&line).into_owned();
    let target = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            let mut request = Request { target, headers, body: Vec::new() };
            request.body = vec![0; request.text("content-length").parse().unwrap_or(0)];
            reader.read_exact(&mut request.body).ok()?;
            return Some(request);
        }
        let colon = line.iter().position(|b| *b == b':')?;
        let name = String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase();
        let value = line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..]);
        headers.push((name, value.to_vec()));
    }
}

fn read_line(reader: &mut BufReader<&TcpStream>) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).ok().filter(|n| *n > 0)?;
    while line.last().is_some_and(|b| matches!(b, b'\r' | b'\n')) {
        line.pop();
    }
    Some(line)
}

/// A well-formed response. Header values are bytes, as in real servers.
#[derive(Clone, Default)]
pub struct Response {
    status: u16,
    headers: Vec<(&'static str, Vec<u8>)>,
    body: Vec<u8>,
}

impl Response {
    pub fn new(status: u16) -> Response {
        Response { status, ..Response::default() }
    }

    pub fn rss(body: impl Into<Vec<u8>>) -> Response {
        Response::new(200).with("Content-Type", "application/rss+xml").body(body)
    }

    pub fn with(mut self, name: &'static str, value: impl Into<Vec<u8>>) -> Response {
        self.headers.push((name, value.into()));
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Response {
        self.body = body.into();
        self
    }

    pub fn send(&self, stream: &mut TcpStream) -> io::Result<Next> {
        let mut bytes = format!("HTTP/1.1 {} Status\r\n", self.status).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend(name.as_bytes());
            bytes.extend(b": ");
            bytes.extend(value);
            bytes.extend(b"\r\n");
        }
        if self.status != 304 {
            bytes.extend(format!("Content-Length: {}\r\n", self.body.len()).as_bytes());
        }
        bytes.extend(b"\r\n");
        if self.status != 304 {
            bytes.extend(&self.body);
        }
        stream.write_all(&bytes)?;
        Ok(Next::Keep)
    }
}

/// A program that answers later hangs. The limit is far longer than a busy machine needs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Sends a GET, for the program's own pages. Returns status and body.
pub fn get(address: SocketAddr, path: &str) -> io::Result<(u16, String)> {
    get_with(address, path, "")
}

/// Sends a GET. Returns the address that a redirect names.
pub fn location(address: SocketAddr, path: &str) -> io::Result<Option<String>> {
    let text = whole(address, path, "")?;
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    let named = head.lines().filter_map(|line| line.split_once(": "));
    let mut named = named.filter(|(name, _)| name.eq_ignore_ascii_case("location"));
    Ok(named.next().map(|(_, to)| to.to_owned()))
}

/// The same with more header lines, each with its line end.
pub fn get_with(address: SocketAddr, path: &str, lines: &str) -> io::Result<(u16, String)> {
    let text = whole(address, path, lines)?;
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    body.ok_or_else(|| io::Error::other("not an HTTP response"))
        .and_then(|b| Ok((status(&text)?, b)))
}

fn whole(address: SocketAddr, path: &str, lines: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{lines}\r\n")?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Posts a form. Returns the status.
pub fn post(address: SocketAddr, path: &str, form: &str) -> io::Result<u16> {
    post_as(address, path, "Content-Type: application/x-www-form-urlencoded\r\n", form)
}

/// Posts any body with these header lines. Returns the status.
pub fn post_as(address: SocketAddr, path: &str, headers: &str, body: &str) -> io::Result<u16> {
    let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\n{headers}");
    raw(address, &head, body)
}

/// Fills a form of a page as a browser does, with the key that the page has. Returns status and
/// body.
pub fn submit(
    address: SocketAddr,
    page: &str,
    action: &str,
    fields: &[(&str, &str)],
) -> io::Result<(u16, String)> {
    let (_, shown) = get(address, page)?;
    let key = shown.split("name=\"form_key\" value=\"").nth(1).and_then(|t| t.split('"').next());
    let key = key.ok_or_else(|| io::Error::other("the page has no form"))?;
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    let form = form.append_pair("form_key", key).extend_pairs(fields).finish();
    let kind = "Content-Type: application/x-www-form-urlencoded";
    let head = format!("POST {action} HTTP/1.1\r\nHost: {address}\r\n{kind}\r\n");
    let text = answered(address, &head, &form)?;
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    Ok((status(&text)?, body.unwrap_or_default()))
}

/// Sends a request with this head; only the length of the body is added. Returns the status.
pub fn raw(address: SocketAddr, head: &str, body: &str) -> io::Result<u16> {
    status(&answered(address, head, body)?)
}

fn answered(address: SocketAddr, head: &str, body: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

fn status(answer: &str) -> io::Result<u16> {
    let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok());
    status.ok_or_else(|| io::Error::other("not an HTTP response"))
}

#[expect(clippy::disallowed_methods, reason = "the other side of the wire has its own clock")]
pub fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the other side of the wire has its own clock")]
pub fn wall_clock() -> SystemTime {
    SystemTime::now()
}
