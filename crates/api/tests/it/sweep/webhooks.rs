//! Webhooks of people reach no private address unless the operator allows it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use feed::EntryId;
use store::{ShareKind, ShareTarget};
use tokio::net::TcpListener;

use super::pair;

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_of_a_reader_does_not_reach_this_machine() {
    let pair = pair().await;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let n_reached = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&n_reached);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"] {
        let target = ShareTarget {
            position: 0,
            name: host.to_owned(),
            kind: ShareKind::Webhook,
            template: format!("http://{host}:{port}/hook"),
            signing_key: "whsec_AAAA".to_owned(),
        };
        let service = pair.store.add_share_target(pair.bert, &target).unwrap().unwrap();
        let body = format!("{{\"service\": {service}}}");
        let path = format!("/api/v1/entries/{}/share", EntryId(2));
        let answer = pair.send("bert", "POST", &path, &body).await;
        assert_eq!(answer.status, 400, "{host}: {}", answer.text);
        assert!(answer.text.contains("did not take the entry"), "{host}: {}", answer.text);
    }
    assert_eq!(n_reached.load(Ordering::SeqCst), 0);
    pair.engine.stop().await;
}
