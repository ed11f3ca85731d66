//! The server around the routes: it takes its socket and its end as arguments. It binds nothing
//! and logs no request: there is no secret-free way to do so.

use std::io;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long answers under way may take after the end was asked for; pages take milliseconds, and
/// a reader that stalls must not keep the program from ending.
const GRACE: Duration = Duration::from_secs(3);

/// Serves until `shutdown`.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (tell, mut told) = watch::channel(false);
    let ending = async move {
        shutdown.await;
        // The server is gone already if nobody listens.
        let _ = tell.send(true);
    };
    let serving = axum::serve(listener, router).with_graceful_shutdown(ending);
    tokio::select! {
        ended = async { serving.await } => ended,
        () = async {
            // An error means that the end was told and the sender dropped.
            let _ = told.wait_for(|ending| *ending).await;
            tokio::time::sleep(GRACE).await;
        } => Ok(()),
    }
}
