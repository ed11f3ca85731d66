//! Certificates for the bus of a test.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Makes an authority and a certificate for an address, as the manual does: `ca.crt`, `bus.crt` and
/// `bus.key` in a folder.
pub fn certify(folder: &Path, address: Ipv4Addr) {
    let curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    let script = format!(
        "openssl req -x509 {curve} -days 2 -subj /CN=ca -keyout ca.key -out ca.crt && \
         openssl req {curve} -subj /CN=bus -addext subjectAltName=IP:{address} -keyout bus.key \
         -out bus.csr && openssl x509 -req -in bus.csr -CA ca.crt -CAkey ca.key -CAcreateserial \
         -days 2 -copy_extensions copy -out bus.crt"
    );
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-ec", &script]);
    let made = shell.stdin(Stdio::null()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
}
