//! Digests over TLS, to a server that wants a login: from the first byte, or after STARTTLS. A
//! password is never sent in the clear, whatever the server offers.
//!
//! Which authorities are trusted is the machine's to say, so each test runs in a process of its own
//! whose machine trusts the authority of the test.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{DeliverySettings, Mail, MailSecurity};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::deliver::House;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fetch/tests/data");
const STATEMENT: &str = "CREATE FEED News AS RETURN ALL FEEDS \
                         DELIVER TO EMAIL \"ann@example.org\" EVERY 10 MINUTES";

/// Says to a test that it runs in the process of its own.
const CHILD: &str = "ENGINE_TEST_CHILD";

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs a test once more in a process where the authority is trusted, or is not.
#[track_caller]
fn in_a_process_of_its_own(test: &str, trusted: bool) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact"]).env(CHILD, "yes");
    if trusted {
        command.env("SSL_CERT_FILE", format!("{DATA}/root.pem"));
    }
    let ended = command.output().unwrap();
    let told = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success() && told.contains("1 passed"), "{told}");
}

/// The security that a mail server offers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Offers {
    Tls,
    StartTls,
    /// Neither: as if somebody on the way had cut it out.
    Nothing,
}

#[derive(Default)]
struct Heard {
    /// Commands before TLS.
    plain: Vec<String>,
    logins: Vec<String>,
    mails: Vec<String>,
}

struct Server {
    mail: Mail,
    heard: Arc<Mutex<Heard>>,
}

impl Server {
    async fn start(offers: Offers, security: MailSecurity) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let mail = Mail {
            server: "localhost".to_owned(),
            port: listener.local_addr().unwrap().port(),
            security,
            user: Some("tidings".to_owned()),
            password: Some("open sesame".to_owned()),
            from: "Tidings <tidings@example.org>".to_owned(),
        };
        let heard: Arc<Mutex<Heard>> = Arc::default();
        let noted = Arc::clone(&heard);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let noted = Arc::clone(&noted);
                tokio::spawn(async move { serve(stream, offers, &noted).await });
            }
        });
        Server { mail, heard }
    }

    /// Lets a program deliver two entries to it, over and over for an hour: what became of it.
    async fn deliver(&self) -> store::DeliveryRow {
        let mail = Some(self.mail.clone());
        let house =
            House::new(DeliverySettings { mail, ..DeliverySettings::default() }, STATEMENT).await;
        house.see(&["one", "two"]);
        for _ in 0..6 {
            house.pass(Duration::from_secs(600)).await;
        }
        let row = house.delivery();
        house.engine.stop().await;
        row
    }
}

fn acceptor() -> TlsAcceptor {
    let chain = vec![CertificateDer::from_pem_file(format!("{DATA}/server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(format!("{DATA}/server.key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn serve(stream: TcpStream, offers: Offers, heard: &Mutex<Heard>) -> Option<()> {
    if offers == Offers::Tls {
        let mut stream = acceptor().accept(stream).await.ok()?;
        stream.write_all(b"220 here\r\n").await.ok()?;
        return talk(stream, heard).await;
    }
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 here\r\n").await.ok()?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        heard.lock().unwrap().plain.push(line.trim_end().to_owned());
        let answer: &[u8] = match line.get(..4).unwrap_or_default() {
            "EHLO" if offers == Offers::StartTls => b"250-here\r\n250 STARTTLS\r\n",
            "EHLO" => b"250-here\r\n250 AUTH PLAIN LOGIN\r\n",
            "STAR" => b"220 go on\r\n",
            _ => b"250 ok\r\n",
        };
        stream.write_all(answer).await.ok()?;
        if line.starts_with("STAR") {
            return talk(acceptor().accept(stream.into_inner()).await.ok()?, heard).await;
        }
    }
}

/// The conversation once nobody listens in.
async fn talk(stream: impl AsyncRead + AsyncWrite + Unpin, heard: &Mutex<Heard>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut text: Option<String> = None;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if let Some(mail) = &mut text {
            if line == ".\r\n" {
                heard.lock().unwrap().mails.push(text.take()?);
                stream.write_all(b"250 taken\r\n").await.ok()?;
            } else {
                mail.push_str(&line);
            }
            continue;
        }
        let answer: &[u8] = match line.get(..4).unwrap_or_default() {
            "EHLO" => b"250-here\r\n250 AUTH PLAIN\r\n",
            "AUTH" => {
                heard.lock().unwrap().logins.push(line.trim_end().to_owned());
                b"235 welcome\r\n"
            }
            "DATA" => {
                text = Some(String::new());
                b"354 go on\r\n"
            }
            "QUIT" => b"221 bye\r\n",
            _ => b"250 ok\r\n",
        };
        stream.write_all(answer).await.ok()?;
    }
}

async fn arrives(offers: Offers, security: MailSecurity) {
    let server = Server::start(offers, security).await;
    let row = server.deliver().await;
    assert_eq!((row.n_waiting, row.error), (0, None));
    let heard = server.heard.lock().unwrap();
    assert_eq!(heard.mails.len(), 1, "one digest with all that came");
    assert!(heard.mails[0].contains("one\r\n") && heard.mails[0].contains("two\r\n"));
    // base64 of NUL, user, NUL, password.
    assert_eq!(heard.logins, ["AUTH PLAIN AHRpZGluZ3MAb3BlbiBzZXNhbWU="]);
    assert!(heard.plain.iter().all(|line| line.starts_with("EHLO") || line == "STARTTLS"));
}

async fn is_refused(offers: Offers, security: MailSecurity) {
    let server = Server::start(offers, security).await;
    let row = server.deliver().await;
    assert_eq!(row.n_waiting, 2, "nothing is lost: {row:?}");
    assert!(row.error.is_some(), "{row:?}");
    let heard = server.heard.lock().unwrap();
    assert!(heard.mails.is_empty() && heard.logins.is_empty());
    assert!(!heard.plain.iter().any(|line| line.starts_with("AUTH") || line.starts_with("MAIL")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_goes_over_tls_from_the_first_byte_with_a_login() {
    if is_child() {
        return arrives(Offers::Tls, MailSecurity::Tls).await;
    }
    let test = "mail::a_digest_goes_over_tls_from_the_first_byte_with_a_login";
    in_a_process_of_its_own(test, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_goes_over_starttls_with_a_login() {
    if is_child() {
        return arrives(Offers::StartTls, MailSecurity::StartTls).await;
    }
    in_a_process_of_its_own("mail::a_digest_goes_over_starttls_with_a_login", true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_an_untrusted_certificate_gets_nothing() {
    if is_child() {
        is_refused(Offers::Tls, MailSecurity::Tls).await;
        return is_refused(Offers::StartTls, MailSecurity::StartTls).await;
    }
    let test = "mail::a_server_with_an_untrusted_certificate_gets_nothing";
    in_a_process_of_its_own(test, false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_starttls_gets_nothing_in_the_clear() {
    is_refused(Offers::Nothing, MailSecurity::StartTls).await;
}
