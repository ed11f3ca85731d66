//! The connection to a server with TLS and passwords: whom the program trusts, and where it finds
//! the password. The tests start a server of their own.

use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use store::{ErrorKind, Location, ServerReport, Store, StoreError, testing};
use tempfile::TempDir;

use crate::certificate::certify;
use crate::database::Database;
use crate::program::path_text;
use crate::wire::addresses;

/// A server with a certificate, at an address of this machine. It asks for a password there.
struct SecureServer {
    database: Database,
    address: Ipv4Addr,
    /// The authority, and the files of the server.
    folder: TempDir,
}

const HBA: &str = "local all all trust\nhost all all 127.0.0.0/8 scram-sha-256\n";
const PASSWORD: &str = "a:b\\c";

impl SecureServer {
    fn start() -> Option<SecureServer> {
        let address = addresses(1)[0];
        let folder = tempfile::tempdir().unwrap();
        certify(folder.path(), address);
        std::fs::write(folder.path().join("hba"), HBA).unwrap();
        // The server may run as another user.
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let _ = Command::new("chown").arg("postgres").arg(folder.path().join("bus.key")).output();
        let file = |name: &str| path_text(&folder.path().join(name)).to_owned();
        let settings = [
            "fsync=off".to_owned(),
            format!("listen_addresses={address}"),
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", file("bus.crt")),
            format!("ssl_key_file={}", file("bus.key")),
            format!("hba_file={}", file("hba")),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let database = Database::start(&settings)?;
        let local = Location::parse(&database.url(), &|_| None).unwrap();
        let role = format!("create role reader login password '{PASSWORD}'");
        testing::execute(&local, &role);
        Some(SecureServer { database, address, folder })
    }

    /// Asks the server as the role with a password, which is in a file.
    fn ask(&self, options: &str, passwords: &Path) -> Result<ServerReport, StoreError> {
        let url = format!("postgres://reader@{}/postgres?{options}", self.address);
        let variable = |name: &str| (name == "PGPASSFILE").then(|| path_text(passwords).to_owned());
        let location = Location::parse(&url, &variable).unwrap();
        Store::inspect_server(&location).map(Option::unwrap)
    }

    /// Writes a password file.
    fn passwords(&self, name: &str, password: &str, mode: u32) -> std::path::PathBuf {
        let path = self.folder.path().join(name);
        let escaped = password.replace('\\', "\\\\").replace(':', "\\:");
        std::fs::write(&path, format!("{}:5432:*:reader:{escaped}\n", self.address)).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path
    }
}

#[test]
fn a_named_authority_is_checked() {
    let Some(server) = SecureServer::start() else { return };
    let other = tempfile::tempdir().unwrap();
    certify(other.path(), server.address);
    let (right, wrong) = (server.folder.path().join("ca.crt"), other.path().join("ca.crt"));
    let (right, wrong) = (path_text(&right), path_text(&wrong));
    let passwords = server.passwords("passwords", PASSWORD, 0o600);
    let ask = |options: &str| server.ask(options, &passwords);
    for mode in ["require", "verify-ca", "verify-full"] {
        let report = ask(&format!("sslmode={mode}&sslrootcert={right}")).unwrap();
        assert!(report.tls.is_some() && report.is_certificate_checked, "{mode}: {report:?}");
        let error = ask(&format!("sslmode={mode}&sslrootcert={wrong}")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotEncrypted, "{mode}: {error}");
    }
    let error = ask("sslmode=verify-full").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotEncrypted, "the system does not trust it: {error}");
    for (options, is_encrypted) in
        [("sslmode=require", true), ("sslmode=prefer", true), ("sslmode=disable", false)]
    {
        let report = ask(options).unwrap();
        assert_eq!(report.tls.is_some(), is_encrypted, "{options}");
        assert!(!report.is_certificate_checked, "{options}");
    }
    drop(server.database);
}

#[test]
fn a_password_comes_from_a_file_that_nobody_else_can_read() {
    let Some(server) = SecureServer::start() else { return };
    let ask = |passwords: &Path| server.ask("sslmode=require", passwords);
    assert_eq!(ask(&server.passwords("right", PASSWORD, 0o600)).unwrap().role, "reader");
    for (name, password, mode) in [("open", PASSWORD, 0o644), ("wrong", "another", 0o600)] {
        let error = ask(&server.passwords(name, password, mode)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LoginRefused, "{name}: {error}");
        assert!(!error.to_string().contains(password), "{error}");
    }
    let error = ask(&server.folder.path().join("missing")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LoginRefused, "{error}");
}
