//! The server around the routes. It takes a socket and a shutdown signal, and limits time and
//! connections of each client to what a browser on a slow connection needs. It opens no socket and
//! does not log requests, because their addresses may hold secrets.

mod write_timeout;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::{Extension, Router};
use futures_util::{StreamExt, stream};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use write_timeout::WriteTimeout;

/// The other end of a connection. The server adds it to each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub IpAddr);

/// How long answers may take after shutdown was requested. Pages take milliseconds, and a stalled
/// client must not keep the program from ending.
const GRACE: Duration = Duration::from_secs(3);
/// Time for the head of a request, and between two requests of one connection. A head is one
/// packet; a client that sends it byte by byte only wants to hold the connection.
const HEAD_WITHIN: Duration = Duration::from_secs(15);
/// Time for the body: a list of ten thousand feeds over a mobile network.
const BODY_WITHIN: Duration = Duration::from_secs(60);
/// Time in which a client must read at least one byte of its answer. A client that reads nothing
/// only wants to hold the connection.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// Connections at once. A browser opens six. Each costs a few kilobytes and a file descriptor, and
/// polls need most descriptors.
const CONNECTIONS_MAX: usize = 1000;
/// Bytes of a head, and of a body that is read ahead. The longest address that an app sends has a
/// few thousand bytes. This limit times the connections bounds the memory that strangers can use.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// The pause after an error of the listening socket, mostly too many open files.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Serves until `shutdown`.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let router = router.layer(from_fn(body_in_time));
    let (tell, told) = watch::channel(false);
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &room) => accepted,
            () = &mut shutdown => break,
        };
        let (stream, peer, place) = accepted;
        let router = router.clone().layer(Extension(PeerAddress(peer.ip())));
        connections.spawn(connection(stream, router, told.clone(), place));
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    // Fails if no client is connected.
    let _ = tell.send(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    // Dropping the set cuts the connections that are left.
    let _ = tokio::time::timeout(GRACE, ended).await;
    Ok(())
}

/// Waits for a free connection slot, then for a client.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed.
    let place = Arc::clone(room).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, place),
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

async fn connection(
    stream: TcpStream,
    router: Router,
    mut told: watch::Receiver<bool>,
    _place: Option<OwnedSemaphorePermit>,
) {
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(
            TokioIo::new(WriteTimeout::new(stream, TAKEN_WITHIN)),
            TowerToHyperService::new(router),
        );
    tokio::pin!(serving);
    // Errors of a connection are ignored: clients leave, and slow ones are cut off.
    tokio::select! {
        _ = serving.as_mut() => return,
        _ = told.wait_for(|ending| *ending) => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

/// Whether reading a body failed because the body was incomplete, and not because of its length.
pub fn is_cut(error: &axum::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<io::Error>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Ends the body of a request that takes too long. [`is_cut`] recognises the error.
async fn body_in_time(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let request = request.map(|body| {
        let late = Box::pin(tokio::time::sleep(BODY_WITHIN));
        let parts = body.into_data_stream();
        Body::from_stream(stream::unfold(Some((parts, late)), |going| async move {
            let (mut parts, mut late) = going?;
            tokio::select! {
                part = parts.next() => match part? {
                    Ok(bytes) => Some((Ok(bytes), Some((parts, late)))),
                    Err(error) => Some((Err(io::Error::other(error)), None)),
                },
                () = &mut late => Some((Err(io::ErrorKind::TimedOut.into()), None)),
            }
        }))
    });
    next.run(request).await
}
