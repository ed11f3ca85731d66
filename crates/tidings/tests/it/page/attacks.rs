//! Attacks that need the whole program: strangers name addresses of our own network.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::program::{Instance, eventually, finish, path_text};
use crate::wire::{self, Next, Response, Server, addresses};

/// Somebody asks our hub to push to an address of our own network. The hub would have to verify the
/// callback first, and must not do even that.
#[test]
fn a_callback_in_our_own_network_is_not_asked() {
    let n_asked = Arc::new(AtomicUsize::new(0));
    let (noted, inside) = (Arc::clone(&n_asked), addresses(1));
    let server = Server::start(&inside, move |_, stream| {
        noted.fetch_add(1, Ordering::SeqCst);
        Response::new(200).body("inside").send(stream)?;
        Ok(Next::Close)
    });
    let instance = Instance::new();
    let file = instance.write("w.query", "CREATE FEED News AS RETURN ALL FEEDS PUBLISH");
    instance.run(&["query", "apply", path_text(&file)]).ok();
    let daemon = instance.daemon(&[]).ready();
    let topic = format!("http://{}/feeds/News.atom", daemon.listen);
    let callback = server.url(inside[0], "/callback");
    let form = format!("hub.mode=subscribe&hub.topic={topic}&hub.callback={callback}");
    let status = wire::post(daemon.listen, "/websub/hub", &form).unwrap();
    assert!(status == 202 || (400..500).contains(&status), "{status}");
    eventually("the hub tries the callback and is held back", || {
        daemon.log().contains("callback is refused").then_some(())
    });
    assert_eq!(n_asked.load(Ordering::SeqCst), 0);
    // The same listener is reached if the operator allows it. So the silence above is meaningful.
    assert_eq!(wire::get((inside[0], server.port).into(), "/").unwrap().0, 200);
}

/// Each password check needs 19 MB for a moment. This memory must not add up.
#[test]
fn guesses_do_not_make_the_program_grow() {
    let instance = Instance::new();
    let mut add = instance.command(&["user", "add", "ann", "--password-stdin"]);
    add.stdin(std::fs::File::open(instance.write("password", "correct horse battery")).unwrap());
    finish(add, "user add").ok();
    let daemon = instance.daemon(&[]).ready();
    for guess in 0..30 {
        let form = format!("name=guess{guess}&password=wrong");
        assert_eq!(wire::post(daemon.listen, "/login", &form).unwrap(), 401);
    }
    let bytes = daemon.memory_peak();
    assert!(bytes < 200_000_000, "{bytes} bytes after thirty guesses");
}
