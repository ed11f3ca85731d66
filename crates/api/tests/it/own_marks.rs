//! Entries that rules have hidden or labelled, and ratings: each account changes only what it sees.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use feed::EntryId;
use serde_json::json;
use store::{NewRule, RuleAct, RuleEffect, RuleStep};

use crate::fixture::T0;
use crate::subscriptions::{NAMES, OWN, named, two};

#[tokio::test]
async fn labels_and_hidden_entries_show_only_the_own_feeds() {
    let two = two();
    // Acts on entries that one of them does not see, as if a rule had acted before.
    let act = async |effect: RuleEffect| {
        let mut acts = Vec::new();
        for account in two.accounts {
            let text = "CREATE RULE r ON ALL FEEDS DO HIDE".to_owned();
            let rule = NewRule { name: "r".to_owned(), text, is_on: true, replaces: None };
            let known = two.store.rule(account, "r").unwrap();
            let rule = match known {
                Some(row) => row.id,
                None => two.store.put_rule(account, &rule, T0).unwrap().unwrap().id,
            };
            let effects: Arc<[RuleEffect]> = [effect.clone()].into();
            acts.extend((1..=4).map(|n| RuleAct {
                rule,
                account,
                entry: EntryId(n),
                effects: Arc::clone(&effects),
            }));
        }
        let (from, version) = two.store.rule_progress().unwrap();
        let step = RuleStep { version, from, to: from, acts };
        assert!(two.store.act_by_rules(step, T0).await.unwrap());
    };
    act(RuleEffect::Label("x".to_owned())).await;
    for (who, own) in OWN.into_iter().enumerate() {
        for path in ["/?label=x&show=all", "/reader/api/0/stream/contents/user/-/label/x"] {
            let (status, text) = two.get(who, path).await;
            assert_eq!((status, &named(&text)[..]), (200, own), "{} at {path}", NAMES[who]);
        }
    }
    act(RuleEffect::Hide).await;
    for (who, own) in OWN.into_iter().enumerate() {
        let (status, text) = two.get(who, "/?show=hidden").await;
        assert_eq!((status, &named(&text)[..]), (200, own), "{}", NAMES[who]);
        let text = two.get(who, "/offline/entries").await.1;
        assert_eq!(named(&text), [0_u32; 0], "hidden entries are read");
    }
    for (who, own) in OWN.into_iter().enumerate() {
        for path in ["/api/v1/entries", "/api/v1/entries?feed=4"] {
            let page = two.json(who, path).await;
            assert_eq!(page["entries"], json!([]), "{path}");
            assert_eq!(page["next"], "e4", "the cursor moves over hidden entries");
        }
        let list = two.get(who, "/api/v1/reading?hidden=true").await.1;
        assert_eq!(named(&list), own);
        let token = format!("Bearer {}-token", NAMES[who]);
        let request = Request::delete("/api/v1/reading/hidden").header("authorization", token);
        assert_eq!(two.ask(request.body(Body::empty()).unwrap()).await.0, 204);
        assert_eq!(named(&two.get(who, "/api/v1/entries").await.1), own);
        assert_eq!(two.json(who, "/api/v1/reading?hidden=true").await["entries"], json!([]));
    }
}

#[tokio::test]
async fn ratings_are_for_admins_and_owners_of_queries_that_match() {
    let two = two();
    let [anna, bert] = two.accounts;
    two.store.set_role(bert, store::AccountRole::Reader).unwrap().unwrap();
    let rate = async |who: usize| {
        let token = format!("Bearer {}-token", NAMES[who]);
        let request = Request::post("/api/v1/entries/4/relevance")
            .header("authorization", token)
            .header("content-type", "application/json");
        two.ask(request.body(Body::from(r#"{"relevant": true}"#)).unwrap()).await.0
    };
    assert_eq!((rate(0).await, rate(1).await), (204, 403), "anna is an admin");
    for (owner, expect) in [(anna, 403), (bert, 204)] {
        let new = store::NewQuery {
            name: format!("Q{owner}"),
            text: format!("CREATE FEED Q{owner} AS RETURN ALL FEEDS"),
            urls: Vec::new(),
            receivers: Vec::new(),
            scope: store::QueryScope { owner: Some(owner), shared: true },
            link_key: "k".to_owned(),
            signing_key: "k".to_owned(),
        };
        two.store.change_queries(vec![store::QueryChange::Put(new)], None, T0).unwrap();
        let query = two.store.query(&format!("Q{owner}")).unwrap().unwrap().id;
        let sql =
            format!("insert into query_entries (query, position, entry) values ({query}, 1, 4)");
        store::testing::execute(two.store.location(), &sql);
        assert_eq!(rate(1).await, expect);
    }
}
