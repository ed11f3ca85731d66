//! The one place that follows the redirects of errands. It sends nothing itself: the caller's
//! function waits for a turn and sends the request of each hop.

use fetch::{Fetched, PartOutcome, Posted};
use url::Url;

/// An answer that may lead to another address.
pub trait MayRedirect {
    fn redirect(&self) -> Option<&Url>;
}

impl MayRedirect for Fetched {
    fn redirect(&self) -> Option<&Url> {
        match self {
            Fetched::Moved { to, .. } => Some(to),
            _ => None,
        }
    }
}

impl MayRedirect for PartOutcome {
    fn redirect(&self) -> Option<&Url> {
        match self {
            PartOutcome::Other(fetched) => fetched.redirect(),
            PartOutcome::Part(_) => None,
        }
    }
}

impl MayRedirect for Posted {
    fn redirect(&self) -> Option<&Url> {
        match self {
            Posted::Refused { to, .. } => to.as_ref(),
            _ => None,
        }
    }
}

/// Sends a request, and again to each address that an answer redirects to. Returns the last
/// address and its answer; after `hops_max` redirects that answer may be another redirect.
pub async fn follow<A: MayRedirect, E, F: Future<Output = Result<A, E>>>(
    mut url: Url,
    hops_max: usize,
    mut send: impl FnMut(Url) -> F,
) -> Result<(Url, A), E> {
    for _ in 0..hops_max {
        let answer = send(url.clone()).await?;
        match answer.redirect() {
            Some(to) => url = to.clone(),
            None => return Ok((url, answer)),
        }
    }
    let answer = send(url.clone()).await?;
    Ok((url, answer))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[tokio::test]
    async fn redirects_come_to_an_end() {
        let url = |text: &str| Url::parse(text).expect("a URL");
        let mut n_sent = 0;
        let send = |_| {
            n_sent += 1;
            let to = url("http://pictures.example/again");
            std::future::ready(Ok::<_, Infallible>(Fetched::Moved { to, permanent: false }))
        };
        let Ok((last, answer)) = follow(url("http://pictures.example/"), 3, send).await;
        assert_eq!(n_sent, 4);
        assert_eq!(last.path(), "/again");
        assert!(matches!(answer, Fetched::Moved { .. }));
    }
}
