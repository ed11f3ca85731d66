//! Trust over TLS: the machine's certificate authorities and those that an operator adds.
//! Certificates are ignored only for a feed whose settings say so.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;

use crate::SetupError;

/// A TLS configuration, and whether any authority is trusted at all. All connections share it, so
/// that sessions are resumed.
pub(crate) struct TlsSetup {
    pub config: ClientConfig,
    pub has_authorities: bool,
}

pub(crate) fn trust(authorities_pem: &[u8]) -> Result<TlsSetup, SetupError> {
    let extra: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(authorities_pem)
        .collect::<Result<_, _>>()
        .map_err(|e| SetupError::Authorities(e.to_string()))?;
    if extra.is_empty() && !authorities_pem.is_empty() {
        return Err(SetupError::Authorities("there is no certificate in it".to_owned()));
    }
    let has_extra = !extra.is_empty();
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra, Arc::clone(&provider));
    let builder = configure(provider)?;
    let (mut config, has_authorities) = match verifier {
        Ok(verifier) => {
            let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
            (builder.with_no_client_auth(), true)
        }
        Err(e) if has_extra => return Err(SetupError::Authorities(e.to_string())),
        Err(e) => {
            tracing::warn!(
                cause = %e,
                "no certificate authorities on this machine: https feeds will fail; install the \
                 package ca-certificates"
            );
            let nobody = builder.with_root_certificates(RootCertStore::empty());
            (nobody.with_no_client_auth(), false)
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsSetup { config, has_authorities })
}

/// Returns the same configuration without any check of certificates.
pub(crate) fn unchecked(checked: &ClientConfig) -> ClientConfig {
    let mut config = checked.clone();
    let provider = Arc::clone(config.crypto_provider());
    config.dangerous().set_certificate_verifier(Arc::new(AcceptsAll(provider)));
    // A session with a server that was not checked must not be resumed as a checked one.
    config.resumption = Resumption::disabled();
    config
}

/// Accepts every certificate. The signature of the handshake is checked all the same.
#[derive(Debug)]
struct AcceptsAll(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptsAll {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn configure(
    provider: Arc<CryptoProvider>,
) -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, SetupError> {
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| SetupError::Authorities(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_that_cannot_be_read_are_refused_with_the_remedy() {
        let error = trust(b"not a certificate").err().unwrap().to_string();
        assert!(error.contains("must be PEM"), "{error}");
        let broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(trust(broken).is_err());
    }
}
