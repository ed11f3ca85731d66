//! Name servers for tests.

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use tokio::net::UdpSocket;

use super::*;

/// Names that a server on loopback looks up.
pub(super) fn names_by(port: u16) -> Names {
    let mut connection = ConnectionConfig::udp();
    connection.port = port;
    let server = NameServerConfig::new([127, 0, 0, 1].into(), true, vec![connection]);
    let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    limit(builder.options_mut());
    Names::with_dns(HashMap::new(), false, Ok(builder.build().expect("a resolver")))
}

/// Names whose server never answers.
pub(crate) async fn silent_names() -> Names {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
    let port = socket.local_addr().expect("a port").port();
    tokio::spawn(async move {
        let mut query = [0; 512];
        while socket.recv_from(&mut query).await.is_ok() {}
    });
    names_by(port)
}
