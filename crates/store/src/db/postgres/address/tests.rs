//! The parts of an address: what a URL and the variables give, and what is refused.

use std::collections::HashMap;

use super::*;

/// Variables with their values.
type Variables<'a> = &'a [(&'a str, &'a str)];

/// An address, parsed with these variables.
fn parse(url: &str, variables: Variables<'_>) -> Result<PgAddress, String> {
    let variables: HashMap<&str, &str> = variables.iter().copied().collect();
    let variable = |name: &str| variables.get(name).map(|&value| value.to_owned());
    PgAddress::parse(url, &variable).map_err(|error| error.to_string())
}

#[test]
fn an_address_is_completed_by_the_variables() {
    let all = [
        ("PGHOST", "db.example,spare.example"),
        ("PGPORT", "6000,6001"),
        ("PGUSER", "ann"),
        ("PGDATABASE", "news"),
        ("PGPASSWORD", "secret"),
    ];
    let table: [(&str, Variables<'_>, &str, Option<&str>); 8] = [
        ("postgres://bob:pw@h/d", &all, "postgres://bob@h/d", Some("pw")),
        ("postgresql://bob@h:6432/d", &[], "postgres://bob@h:6432/d", None),
        ("postgres://", &all, "postgres://ann@db.example,spare.example/news", Some("secret")),
        ("postgres:///d", &all[2..3], "postgres://ann@/var/run/postgresql/d", None),
        ("postgres://h", &[("USER", "eve")], "postgres://eve@h/eve", None),
        ("postgres://h", &[], "postgres://postgres@h/postgres", None),
        ("postgres://u@%2Frun%2Fpg/d", &[], "postgres://u@/run/pg/d", None),
        ("postgres://u:a%20b@h/d?connect_timeout=3", &[], "postgres://u@h/d", Some("a b")),
    ];
    for (url, variables, shown, password) in table {
        let address = parse(url, variables).unwrap();
        assert_eq!(&**address.shown(), shown, "{url}");
        let given = address.hosts()[0].get_password().map(<[u8]>::to_vec);
        assert_eq!(given.as_deref(), password.map(str::as_bytes), "{url}");
        assert_eq!(format!("{address:?}"), shown, "no password in logs");
    }
    let ports = |address: &PgAddress| -> Vec<u16> {
        address.hosts().iter().flat_map(Config::get_ports).copied().collect()
    };
    assert_eq!(ports(&parse("postgres://", &all).unwrap()), [6000, 6001]);
    assert_eq!(ports(&parse("postgres://a,b:7,c/d", &[]).unwrap()), [5432, 7, 5432]);
}

#[test]
fn options_come_from_the_address_or_else_from_the_variables() {
    use tokio_postgres::config::TargetSessionAttrs::{Any, ReadWrite};
    let variables = [("PGOPTIONS", "-csearch_path=one"), ("PGTARGETSESSIONATTRS", "read-write")];
    let address = parse("postgres://h/d", &variables).unwrap();
    let [host] = address.hosts() else { panic!("one host") };
    assert_eq!(host.get_options(), Some("-csearch_path=one"));
    assert_eq!(host.get_target_session_attrs(), ReadWrite);
    let url = "postgres://h/d?options=-csearch_path%3Dtwo&target_session_attrs=any";
    let address = parse(url, &variables).unwrap();
    let [host] = address.hosts() else { panic!("one host") };
    assert_eq!(host.get_options(), Some("-csearch_path=two"));
    assert_eq!(host.get_target_session_attrs(), Any);
    let error = parse("postgres://h/d", &[("PGTARGETSESSIONATTRS", "primary")]).unwrap_err();
    assert!(error.contains("PGTARGETSESSIONATTRS is primary; it may be any"), "{error}");
}

#[test]
fn every_host_gets_its_own_password_from_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pgpass");
    std::fs::write(&file, "a:*:*:*:of a\nb:6000:*:*:of b\n192.0.2.1:*:*:*:of c\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let variables = [("PGPASSFILE", file.to_str().unwrap())];
    let passwords = |url: &str| -> Vec<String> {
        let address = parse(url, &variables).unwrap();
        let given = address.hosts().iter().map(|host| host.get_password().unwrap_or_default());
        given.map(|password| String::from_utf8_lossy(password).into_owned()).collect()
    };
    assert_eq!(passwords("postgres://u@a,b:6000,b:6001/d"), ["of a", "of b", ""]);
    assert_eq!(passwords("postgres://u@/d?hostaddr=192.0.2.1"), ["of c"]);
    let error = parse("postgres://u@a,b/d?hostaddr=192.0.2.1", &[]).unwrap_err();
    assert!(error.contains("2 hosts, but 1 hostaddr"), "{error}");
}

#[test]
fn the_host_that_was_reached_last_comes_first() {
    let address = parse("postgres://u@a,b,c/d", &[]).unwrap();
    assert_eq!(address.order(), [0, 1, 2]);
    address.note_reached(2);
    assert_eq!(address.order(), [2, 0, 1]);
}

#[test]
fn a_named_authority_is_checked_or_refused() {
    use TlsCheck::{Full, None as Unchecked};
    let file = [("PGSSLROOTCERT", "/ca.crt")];
    let mode = |mode| [("PGSSLMODE", mode)];
    let (require, verify) = (mode("require"), mode("verify-full"));
    let both = [("PGSSLMODE", "require"), file[0]];
    type Row<'a> = (&'a str, Variables<'a>, SslMode, TlsCheck, Option<&'a str>);
    let table: [Row<'_>; 14] = [
        ("h/d", &[], SslMode::Prefer, Unchecked, None),
        ("h/d?sslmode=prefer", &[], SslMode::Prefer, Unchecked, None),
        ("h/d?sslmode=disable", &file, SslMode::Disable, Unchecked, Some("/ca.crt")),
        ("h/d?sslmode=require", &[], SslMode::Require, Unchecked, None),
        ("h/d", &require, SslMode::Require, Unchecked, None),
        ("h/d?sslmode=require", &file, SslMode::Require, Full, Some("/ca.crt")),
        ("h/d", &both, SslMode::Require, Full, Some("/ca.crt")),
        ("h/d?sslrootcert=%2fown.crt", &both, SslMode::Require, Full, Some("/own.crt")),
        ("h/d?sslmode=require&sslrootcert=/a%20b", &[], SslMode::Require, Full, Some("/a b")),
        ("h/d?sslrootcert=system", &require, SslMode::Require, Full, None),
        ("h/d?sslmode=verify-ca", &[], SslMode::Require, Full, None),
        ("h/d?sslmode=verify-full&sslrootcert=a", &[], SslMode::Require, Full, Some("a")),
        ("h/d", &verify, SslMode::Require, Full, None),
        // A socket has no TLS, so a variable for other servers does no harm.
        ("%2Frun/d", &file, SslMode::Prefer, Unchecked, Some("/ca.crt")),
    ];
    for (rest, variables, ssl_mode, check, authority) in table {
        let address = parse(&format!("postgres://u@{rest}"), variables).unwrap();
        assert_eq!(address.hosts()[0].get_ssl_mode(), ssl_mode, "{rest}");
        assert_eq!(address.tls_check(), check, "{rest} {variables:?}");
        assert_eq!(address.tls_authority().and_then(|path| path.to_str()), authority, "{rest}");
    }
    for (rest, variables) in [
        ("h/d?sslrootcert=/ca.crt", &[][..]),
        ("h/d", &file),
        ("h/d?sslmode=prefer&sslrootcert=/ca.crt", &[]),
        ("h/d?sslmode=allow", &file),
    ] {
        let error = parse(&format!("postgres://u@{rest}"), variables).unwrap_err();
        assert!(error.contains("checks no certificate; use sslmode=verify-full"), "{error}");
    }
}

#[test]
fn what_is_not_an_address_is_refused_without_its_password() {
    let table: [(&str, Variables<'_>, &str); 4] = [
        ("mysql://u:secret@h/d", &[], "it does not begin with postgres://"),
        ("postgres://u:secret@h:port/d", &[], "option `port`"),
        ("postgres://u:secret@h/d?sslmode=verify", &[], "sslmode is verify; it may be"),
        ("postgres://u:secret@h/d?a=b", &[("PGPORT", "none")], ""),
    ];
    for (url, variables, why) in table {
        let error = parse(url, variables).unwrap_err();
        assert!(error.contains(why) && !error.contains("secret"), "{error}");
    }
}
