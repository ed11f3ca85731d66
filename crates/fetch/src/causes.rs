//! Sorts the errors of the libraries by kind and describes them in plain words. It never shows a
//! URL, so no password can get into a message.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError, Error as TlsError};

use crate::guard::NotPublic;
use crate::limits::ExchangeLimits;
use crate::names::LookupError;
use crate::{Failure, FailureKind, Fetched};

/// Longer error texts of libraries are cut, because they appear in tables and on pages.
const DETAIL_CHARS_MAX: usize = 300;
const CUT: &str = "the server cut the connection";

/// Returns the outcome of an exchange that failed with an error of the client.
pub(crate) fn outcome(error: &reqwest::Error, limits: &ExchangeLimits) -> Fetched {
    let mut deepest = String::new();
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(e) = cause {
        if let Some(blocked) = e.downcast_ref::<NotPublic>() {
            return Fetched::Blocked { reason: blocked.to_string() };
        }
        if let Some(failure) = known(e, error.is_connect(), limits) {
            return Fetched::Failed(failure);
        }
        deepest = e.to_string();
        cause = below(e);
    }
    Fetched::Failed(unknown(error, &deepest, limits))
}

/// Returns the cause of an error. `io::Error` hides the error that it wraps and names that error's
/// cause instead.
fn below<'a>(e: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match e.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => e.source(),
    }
}

fn known(e: &(dyn Error + 'static), connecting: bool, limits: &ExchangeLimits) -> Option<Failure> {
    if let Some(lookup) = e.downcast_ref::<LookupError>() {
        let kind = match lookup {
            LookupError::NoSuchHost(_) => FailureKind::NoSuchHost,
            LookupError::Unanswered(..) => FailureKind::Dns,
        };
        return Some(failure(kind, &lookup.to_string()));
    }
    if let Some(tls) = e.downcast_ref::<TlsError>() {
        return Some(failure(FailureKind::Tls, &tls_words(tls, limits.has_authorities)));
    }
    if e.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message) {
        return Some(failure(FailureKind::Protocol, CUT));
    }
    let io = e.downcast_ref::<io::Error>()?;
    // An error that a library made is described by the error inside it.
    if io.get_ref().is_some() && io.kind() != io::ErrorKind::UnexpectedEof {
        return None;
    }
    socket_words(io, connecting)
}

fn socket_words(io: &io::Error, connecting: bool) -> Option<Failure> {
    use io::ErrorKind as Kind;
    let (kind, words) = match io.kind() {
        Kind::ConnectionRefused => (FailureKind::Connect, "connection refused"),
        Kind::HostUnreachable => (FailureKind::Connect, "the host cannot be reached"),
        Kind::NetworkUnreachable | Kind::NetworkDown => {
            (FailureKind::Connect, "the network cannot be reached")
        }
        Kind::AddrNotAvailable => {
            (FailureKind::Connect, "this machine has no free address or port")
        }
        Kind::TimedOut if connecting => (FailureKind::Connect, "the connection attempt timed out"),
        Kind::TimedOut => (FailureKind::Timeout, "the connection timed out"),
        Kind::UnexpectedEof if connecting => {
            (FailureKind::Tls, "the server closed the connection during the TLS handshake")
        }
        Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe if connecting => {
            (FailureKind::Connect, "the server reset the connection")
        }
        Kind::ConnectionReset
        | Kind::ConnectionAborted
        | Kind::BrokenPipe
        | Kind::UnexpectedEof => (FailureKind::Protocol, CUT),
        _ if matches!(io.raw_os_error(), Some(23 | 24)) => (
            FailureKind::Connect,
            "too many open files on this machine; raise its limit (ulimit -n)",
        ),
        _ => return None,
    };
    Some(failure(kind, words))
}

fn tls_words(tls: &TlsError, has_authorities: bool) -> String {
    let words = match tls {
        TlsError::InvalidCertificate(certificate) => match certificate {
            _ if !has_authorities => {
                "this machine has no certificate authorities; install the package ca-certificates"
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the server's certificate expired"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the server's certificate is not valid yet (or this machine's clock is wrong)"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "the server's certificate is for another name"
            }
            CertificateError::UnknownIssuer => {
                "the server's certificate is not signed by a trusted authority"
            }
            CertificateError::Revoked => "the server's certificate was revoked",
            other => return format!("the server's certificate is not acceptable: {other}"),
        },
        TlsError::InvalidMessage(_) => "the server does not speak TLS on this port",
        TlsError::AlertReceived(AlertDescription::UnrecognisedName) => {
            "the server does not know a site of this name"
        }
        TlsError::AlertReceived(
            AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion,
        )
        | TlsError::PeerIncompatible(_) => {
            "the server offers no TLS version or cipher that is safe"
        }
        other => return format!("TLS failed: {other}"),
    };
    words.to_owned()
}

fn unknown(error: &reqwest::Error, deepest: &str, limits: &ExchangeLimits) -> Failure {
    if error.is_timeout() && error.is_connect() {
        let seconds = limits.connect_timeout.as_secs_f64();
        return failure(FailureKind::Connect, &format!("no connection within {seconds} s"));
    }
    if error.is_timeout() {
        return failure(FailureKind::Timeout, "the server stopped answering");
    }
    if error.is_connect() {
        return failure(FailureKind::Connect, &format!("no connection: {deepest}"));
    }
    if error.is_builder() {
        return failure(FailureKind::Protocol, &format!("the URL cannot be requested: {deepest}"));
    }
    failure(FailureKind::Protocol, &format!("the answer is not valid HTTP: {deepest}"))
}

fn failure(kind: FailureKind, detail: &str) -> Failure {
    Failure::new(kind, detail.chars().take(DETAIL_CHARS_MAX).collect::<String>())
}
