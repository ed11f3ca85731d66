//! A small server on loopback that records every request head and its connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub struct Server {
    pub port: u16,
    pub score: Arc<Score>,
}

#[derive(Default)]
pub struct Score {
    pub heads: Mutex<Vec<Vec<u8>>>,
    pub n_accepted: AtomicUsize,
    pub n_open: AtomicUsize,
}

impl Server {
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn heads(&self) -> Vec<String> {
        let heads = self.score.heads.lock().unwrap();
        heads.iter().map(|h| String::from_utf8_lossy(h).into_owned()).collect()
    }

    pub fn n_accepted(&self) -> usize {
        self.score.n_accepted.load(Ordering::SeqCst)
    }

    pub fn n_open(&self) -> usize {
        self.score.n_open.load(Ordering::SeqCst)
    }
}

/// Passes every connection to `behave`, with the records.
pub async fn raw<F, Fut>(behave: F) -> Server
where
    F: Fn(TcpStream, Arc<Score>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let score = Arc::new(Score::default());
    let server = Server { port, score: Arc::clone(&score) };
    let behave = Arc::new(behave);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (score, behave) = (Arc::clone(&score), Arc::clone(&behave));
            tokio::spawn(async move {
                score.n_accepted.fetch_add(1, Ordering::SeqCst);
                score.n_open.fetch_add(1, Ordering::SeqCst);
                behave(stream, Arc::clone(&score)).await;
                score.n_open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    server
}

/// Answers each request on a connection with the result of `reply`, until the client leaves or the
/// reply says `Connection: close`.
pub async fn replies(reply: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Server {
    let reply = Arc::new(reply);
    raw(move |mut stream, score| {
        let reply = Arc::clone(&reply);
        async move {
            while let Some(head) = read_head(&mut stream).await {
                let answer = reply(&String::from_utf8_lossy(&head));
                score.heads.lock().unwrap().push(head);
                if stream.write_all(&answer).await.is_err() {
                    return;
                }
                if String::from_utf8_lossy(&answer).contains("Connection: close") {
                    return;
                }
            }
        }
    })
    .await
}

/// Sends always the same answer, then closes the connection.
pub async fn always(answer: impl AsRef<[u8]>) -> Server {
    let answer = answer.as_ref().to_vec();
    raw(move |mut stream, score| {
        let answer = answer.clone();
        async move {
            if let Some(head) = read_head(&mut stream).await {
                score.heads.lock().unwrap().push(head);
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
                // Read until the client leaves, so that a reset does not overtake the answer.
                let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
            }
        }
    })
    .await
}

/// Returns a whole answer with the length of its body.
pub fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

pub async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(head)
}
