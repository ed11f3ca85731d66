//! Overrides, and a name server on loopback that knows a few names.

use tokio::net::UdpSocket;

use super::testing::names_by;
use super::*;

fn names(allow_private: bool, addresses: &[&str]) -> Names {
    let addresses = addresses.iter().map(|a| a.parse().unwrap()).collect();
    Names::new(HashMap::from([("Example.ORG".to_owned(), addresses)]), allow_private)
}

async fn resolved(names: &Names, name: &str) -> Result<Vec<String>, String> {
    match names.resolve(name.parse().unwrap()).await {
        Ok(addresses) => Ok(addresses.map(|a| a.to_string()).collect()),
        Err(e) => Err(e.to_string()),
    }
}

#[tokio::test]
async fn only_public_addresses_of_a_name_are_handed_on() {
    let mixed = names(false, &["127.0.0.1", "8.8.8.8", "::1"]);
    assert_eq!(resolved(&mixed, "example.org.").await.unwrap(), ["8.8.8.8:0"]);
    let private = names(false, &["10.0.0.1"]);
    let reason = resolved(&private, "example.org").await.unwrap_err();
    assert!(reason.contains("example.org leads to 10.0.0.1"), "{reason}");
}

#[tokio::test]
async fn an_operator_may_allow_private_addresses() {
    let private = names(true, &["10.0.0.1", "::1"]);
    assert_eq!(resolved(&private, "EXAMPLE.org").await.unwrap(), ["10.0.0.1:0", "[::1]:0"]);
}

#[tokio::test]
async fn a_name_with_a_thousand_addresses_yields_a_few() {
    let many: Vec<String> = (0..1000).map(|i| format!("8.8.{}.{}", i / 250, i % 250)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(resolved(&names(false, &many), "example.org").await.unwrap().len(), ADDRESSES_MAX);
}

const NO_ERROR: u8 = 0;
const SERVER_FAILURE: u8 = 2;
const NO_SUCH_NAME: u8 = 3;

/// Starts a name server that knows the first label of a few names. Other names do not exist.
async fn dns_on_loopback() -> Names {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = socket.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut query = [0; 512];
        while let Ok((n, from)) = socket.recv_from(&mut query).await {
            let _ = socket.send_to(&reply(&query[..n]), from).await;
        }
    });
    names_by(port)
}

/// Returns the query's id and question, then the known addresses.
fn reply(query: &[u8]) -> Vec<u8> {
    let label_end = 13 + usize::from(query[12]);
    let question_end = 12 + query[12..].iter().position(|b| *b == 0).unwrap() + 5;
    let is_v4 = query[question_end - 3] == 1;
    let (code, address): (u8, Option<[u8; 4]>) = match &query[13..label_end] {
        b"public" => (NO_ERROR, Some([9, 9, 9, 9])),
        b"inside" => (NO_ERROR, Some([192, 168, 1, 1])),
        b"mail" => (NO_ERROR, None),
        b"broken" => (SERVER_FAILURE, None),
        _ => (NO_SUCH_NAME, None),
    };
    let answer = address.filter(|_| is_v4);
    let n_answers = u8::from(answer.is_some());
    let mut bytes = query[..2].to_vec();
    bytes.extend([0x81, 0x80 | code, 0, 1, 0, n_answers, 0, 0, 0, 0]);
    bytes.extend(&query[12..question_end]);
    if let Some(address) = answer {
        bytes.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        bytes.extend(address);
    }
    bytes
}

#[tokio::test]
async fn names_are_looked_up_and_judged() {
    let names = dns_on_loopback().await;
    assert_eq!(resolved(&names, "public.example").await.unwrap(), ["9.9.9.9:0"]);
    let reason = resolved(&names, "inside.example").await.unwrap_err();
    assert!(reason.contains("inside.example leads to 192.168.1.1"), "{reason}");
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_told_from_a_lookup_that_failed() {
    let names = dns_on_loopback().await;
    for name in ["missing.example", "mail.example"] {
        assert_eq!(resolved(&names, name).await.unwrap_err(), format!("no such host: {name}"));
    }
    let reason = resolved(&names, "broken.example").await.unwrap_err();
    assert!(reason.contains("the name broken.example cannot be looked up"), "{reason}");
}

#[tokio::test]
async fn a_machine_without_dns_says_so() {
    let names = Names::with_dns(HashMap::new(), false, Err("no name server".to_owned()));
    let reason = resolved(&names, "example.org").await.unwrap_err();
    assert_eq!(reason, "the name example.org cannot be looked up: no name server");
}
