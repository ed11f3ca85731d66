//! A token that only reads gets no secrets and makes none.

use store::TokenScope;

use super::{add_token, pair};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_only_reads_gets_no_keys_and_no_secrets() {
    let pair = pair().await;
    let queries = "CREATE OR REPLACE FEED zephyr AS RETURN \"https://q.example/?token=tok\"";
    let put = pair.store.query("zephyr").unwrap().unwrap();
    let new = store::NewQuery {
        name: put.name,
        text: queries.to_owned(),
        urls: Vec::new(),
        receivers: Vec::new(),
        scope: put.scope,
        link_key: String::new(),
        signing_key: String::new(),
    };
    let change = vec![store::QueryChange::Put(new)];
    pair.store.change_queries(change, None, crate::fixture::T0).unwrap();
    let text = "CREATE RULE zephyr ON \"https://r.example/?token=tok\" DO STAR".to_owned();
    let replaces = Some("zephyr".to_owned());
    let rule = store::NewRule { name: "zephyr".to_owned(), text, is_on: true, replaces };
    pair.store.put_rule(pair.anna, &rule, crate::fixture::T0).unwrap().unwrap();
    add_token(&pair.store, pair.anna, "eye", TokenScope::Read);
    let secrets = ["whsec_", "token=zephyr", "token=tok", "me:pass", "key of zephyr"];
    for path in [
        "/account",
        "/account/export.json",
        "/export.opml?secrets=1",
        "/query/zephyr",
        "/queries",
        "/rule/zephyr",
        "/feed/1",
        "/entry/1",
        "/api/v1/me/services",
        "/api/v1/queries",
        "/api/v1/queries/zephyr",
        "/api/v1/rules",
        "/api/v1/rules/zephyr",
        "/api/v1/opml",
        "/api/v1/feeds/1",
    ] {
        let answer = pair.send("eye", "GET", path, "").await;
        assert_eq!(answer.status, 200, "{path}");
        let shown: Vec<&&str> = secrets.iter().filter(|one| answer.text.contains(**one)).collect();
        assert!(shown.is_empty(), "{path} shows {shown:?}");
    }
    let account = pair.send("eye", "GET", "/account", "").await.text;
    assert!(!account.contains("zephyr anna"), "the tokens of the account");
    for path in ["/api/v1/me/tokens", "/api/v1/me/sessions"] {
        assert_eq!(pair.send("eye", "GET", path, "").await.status, 403, "{path}");
    }
    for (path, body) in [
        ("/api/v1/me/tokens", r#"{"name": "x", "scope": "read"}"#),
        (
            "/api/v1/me/services",
            r#"{"name": "x", "kind": "webhook", "template": "https://x.test/"}"#,
        ),
        ("/account/tokens", "name=x&scope=read"),
        ("/account/sharing", "name=x&kind=webhook&template=https%3A%2F%2Fx.test%2F"),
    ] {
        assert_eq!(pair.send("eye", "POST", path, body).await.status, 403, "{path}");
    }
    // Their owner sees the keys with a token that may write.
    let services = pair.send("anna", "GET", "/api/v1/me/services", "").await.text;
    assert!(services.contains("whsec_zephyr") && services.contains("token=zephyr"), "{services}");
    let export = pair.send("anna", "GET", "/account/export.json", "").await.text;
    assert!(export.contains("token=tok"), "{export}");
    pair.engine.stop().await;
}
