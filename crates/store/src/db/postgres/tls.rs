//! TLS to PostgreSQL. As with libpq, `require` encrypts without checking who answers, unless the
//! address names an authority. `verify-full` checks the certificate.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::PgAddress;
use super::address::TlsCheck;
use crate::ErrorKind;
use crate::db::sql::{Result, SqlError};

/// Returns what makes TLS connections; `None` if the address does not want them.
pub(super) fn connector(address: &PgAddress) -> Result<Option<MakeRustlsConnect>> {
    if address.hosts().iter().all(|host| host.get_ssl_mode() == SslMode::Disable) {
        return Ok(None);
    }
    let fail = |what: String| SqlError::of_kind(ErrorKind::NotEncrypted, what);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| fail(e.to_string()))?;
    let config = match (address.tls_check(), address.tls_authority()) {
        (TlsCheck::None, _) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyServer(provider)))
            .with_no_client_auth(),
        (TlsCheck::Full, None) => {
            builder.with_platform_verifier().map_err(|e| fail(e.to_string()))?.with_no_client_auth()
        }
        (TlsCheck::Full, Some(path)) => {
            let cannot = |why: String| {
                fail(format!("cannot read certificates from {}: {why}", path.display()))
            };
            let mut roots = RootCertStore::empty();
            let found = CertificateDer::pem_file_iter(path).map_err(|e| cannot(e.to_string()))?;
            for certificate in found {
                let certificate = certificate.map_err(|e| cannot(e.to_string()))?;
                roots.add(certificate).map_err(|e| cannot(e.to_string()))?;
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    Ok(Some(MakeRustlsConnect::new(config)))
}

/// Accepts any certificate, because the address asks for encryption only. It still checks that the
/// server owns the key of the certificate that it shows.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
