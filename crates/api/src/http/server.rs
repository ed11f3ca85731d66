//! The server around the routes: it takes its socket and its end as arguments, and gives nobody
//! more time or more connections than a browser on a bad line needs. It binds nothing and logs no
//! request: there is no secret-free way to do so.

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

/// How long answers under way may take after the end was asked for; pages take milliseconds, and
/// a reader that stalls must not keep the program from ending.
const GRACE: Duration = Duration::from_secs(3);
/// Time for the head of a request, and between two requests of one connection. A head is one
/// packet; who sends it letter by letter wants to keep the connection, not an answer.
const HEAD_WITHIN: Duration = Duration::from_secs(15);
/// Time for the body: a list of ten thousand feeds over a telephone.
const BODY_WITHIN: Duration = Duration::from_secs(60);
/// Time in which a client takes some of its answer, be it a byte: who takes nothing wants to keep
/// the connection.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// Connections at once. A browser opens six; each costs some kilobytes and a descriptor, of which
/// the polls need most.
const CONNECTIONS_MAX: usize = 1000;
/// Bytes of a head, and of a body that are read ahead. The longest address that an app sends has
/// some thousand; times the connections this is what strangers can make us hold.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// After trouble with the listening socket, mostly too many open files.
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
    // Nobody may be connected.
    let _ = tell.send(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    // What still goes on after that is cut when the set is dropped.
    let _ = tokio::time::timeout(GRACE, ended).await;
    Ok(())
}

/// Waits for a place, then for somebody who takes it.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
    // Closed never.
    let place = Arc::clone(room).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, place),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
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
    // How a connection ends is its own affair: clients leave, and the slow ones are left.
    tokio::select! {
        _ = serving.as_mut() => return,
        _ = told.wait_for(|ending| *ending) => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

/// Whether a body could not be read because it did not come to its end, and not for its length.
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

/// Ends the body of a request that takes too long; whoever reads it is told so ([`is_cut`]).
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
