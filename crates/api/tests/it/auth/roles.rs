//! Roles, sessions and the end of an account.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use store::{AccountRole, NewToken, TokenScope};

use super::{House, T0, cookie, house};
use api::api_routes;
use api::auth::{fever_digest, fresh, hash_password};

impl House {
    fn reader(&self) {
        let hashed = hash_password("battery staple").unwrap();
        self.store.add_account("bert", &hashed, T0).unwrap().unwrap();
    }

    async fn session_of(&self, name: &str, password: &str) -> String {
        let body = format!("name={name}&password={password}");
        let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
        cookie(&self.post("/login", &body, &[("user-agent", agent)]).await)
    }

    async fn key(&self, session: &str) -> String {
        let page = self.get("/account", &[("cookie", session)]).await.text;
        let rest = page.split("name=\"form_key\" value=\"").nth(1).unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    async fn form(&self, session: &str, path: &str, fields: &str) -> super::Answered {
        let body = format!("form_key={}&{fields}", self.key(session).await);
        self.post(path, &body, &[("cookie", session)]).await
    }
}

/// Forms and pages that change the instance.
const ADMIN_FORMS: [&str; 7] = [
    "/feed/1/pause",
    "/feed/1/settings",
    "/feed/1/remove-for-all",
    "/budget",
    "/what-if",
    "/people/1/role",
    "/people/1/remove",
];
const ADMIN_PAGES: [&str; 2] = ["/people", "/people/1/remove"];
/// Forms that change only what belongs to the person.
const OWN_FORMS: [&str; 7] = [
    "/feeds",
    "/feed/1/remove",
    "/feed/1/title",
    "/feed/1/requests",
    "/queries",
    "/query/q/drop",
    "/query/q/share",
];

#[tokio::test]
async fn a_reader_changes_only_what_is_their_own() {
    let house = house(None);
    house.reader();
    let anna = house.store.account("anna").unwrap().unwrap();
    assert_eq!(anna.role, AccountRole::Admin, "the first account");
    let bert = house.session_of("bert", "battery+staple").await;
    for path in ["/", "/feeds", "/queries", "/budget", "/health", "/account", "/account/delete"] {
        let answered = house.get(path, &[("cookie", &bert)]).await;
        assert_eq!(answered.status, StatusCode::OK, "{path}");
        let form = "action=\"/budget\"";
        assert!(!answered.text.contains(form), "{path} shows a form that would be refused");
    }
    for path in ADMIN_PAGES {
        let answered = house.get(path, &[("cookie", &bert)]).await;
        assert_eq!(answered.status, StatusCode::FORBIDDEN, "{path}");
        assert!(answered.text.contains("Only administrators"), "{path}");
    }
    for path in ADMIN_FORMS {
        let answered = house.form(&bert, path, "url=https://x.test/&role=admin").await;
        assert_eq!(answered.status, StatusCode::FORBIDDEN, "{path}");
        assert!(answered.text.contains("Only administrators"), "{path}: {}", answered.text);
    }
    for path in OWN_FORMS {
        let answered = house.form(&bert, path, "url=https://x.test/&title=x&text=").await;
        assert_ne!(answered.status, StatusCode::FORBIDDEN, "{path}");
    }
    let answered = house.form(&bert, "/marks", "entry=1&act=read").await;
    assert_ne!(answered.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_role_limits_tokens_on_every_route_of_the_api() {
    let house = house(None);
    house.reader();
    let bert = house.store.account("bert").unwrap().unwrap();
    let fresh = fresh().unwrap();
    let token = NewToken {
        account: bert.id,
        name: "all".to_owned(),
        scope: TokenScope::Admin,
        digest: fresh.digest,
        fever_digest: fever_digest("bert", &fresh.secret),
    };
    house.store.add_token(&token, T0).unwrap().unwrap();
    let bearer = format!("Bearer {}", fresh.secret);
    for (method, path, scope) in api_routes() {
        let url = path.replace("{id}", "99").replace("{name}", "red").replace("{tag}", "x");
        let method = if method == "GET" { "HEAD" } else { method.as_str() };
        let request = Request::builder().method(method).uri(format!("/api/v1{url}"));
        let request = request.header(header::AUTHORIZATION, &bearer);
        let answered = house.ask(request.body(Body::empty()).unwrap()).await;
        let is_own = path.starts_with("/me");
        let expect = scope == TokenScope::Admin && !is_own;
        let is_refused = answered.status == StatusCode::FORBIDDEN;
        assert_eq!(is_refused, expect, "{method} {path}: {}", answered.text);
        if is_refused && method != "HEAD" {
            assert!(answered.text.contains("role reader"), "{}", answered.text);
        }
    }
    // The APIs of reader apps.
    let auth = format!("GoogleLogin auth={}", fresh.secret);
    let with = [("authorization", auth.as_str())];
    let answered =
        house.post("/reader/api/0/subscription/edit", "ac=subscribe&s=feed/x", &with).await;
    assert_ne!(answered.status, StatusCode::FORBIDDEN, "{}", answered.text);
    let token = [("x-auth-token", fresh.secret.as_str()), ("content-type", "application/json")];
    let request = Request::post("/v1/feeds").header("x-auth-token", token[0].1);
    let request = request.header("content-type", "application/json");
    let body = "{\"feed_url\":\"https://x.test/\"}";
    let answered = house.ask(request.body(Body::from(body)).unwrap()).await;
    assert_ne!(answered.status, StatusCode::FORBIDDEN, "{}", answered.text);
    let me = house.get("/v1/me", &[("x-auth-token", &fresh.secret)]).await;
    assert!(me.text.contains("\"is_admin\":false"), "{}", me.text);
}

#[tokio::test]
async fn an_admin_changes_roles_and_one_admin_always_remains() {
    let house = house(None);
    house.reader();
    let anna = house.session_of("anna", "correct+horse").await;
    let bert = house.session_of("bert", "battery+staple").await;
    let page = house.get("/people", &[("cookie", &anna)]).await;
    assert!(page.text.contains("bert") && page.text.contains("Make admin"), "{}", page.text);
    let (anna_id, bert_id) = (house.anna, house.store.account("bert").unwrap().unwrap().id);
    let role = |id| format!("/people/{id}/role");
    let answered = house.form(&anna, &role(anna_id), "role=reader").await;
    assert_eq!(answered.status, StatusCode::CONFLICT, "the last admin");
    let answered = house.form(&anna, "/account/delete", "password=correct+horse").await;
    assert_eq!(answered.status, StatusCode::CONFLICT, "the last admin");
    let answered = house.form(&anna, &role(bert_id), "role=admin").await;
    assert_eq!(answered.status, StatusCode::SEE_OTHER);
    // The role counts at once, in sessions that are open.
    assert_eq!(house.get("/people", &[("cookie", &bert)]).await.status, StatusCode::OK);
    let answered = house.form(&bert, &role(anna_id), "role=reader").await;
    assert_eq!(answered.status, StatusCode::SEE_OTHER);
    assert_eq!(house.get("/people", &[("cookie", &anna)]).await.status, StatusCode::FORBIDDEN);
    let answered = house.form(&bert, &format!("/people/{anna_id}/remove"), "").await;
    assert_eq!(answered.status, StatusCode::SEE_OTHER);
    assert!(house.store.account("anna").unwrap().is_none());
    let answered = house.get("/account", &[("cookie", &anna)]).await;
    assert_eq!(answered.status, StatusCode::SEE_OTHER, "the session ended with the account");
    let own = house.form(&bert, &format!("/people/{bert_id}/remove"), "").await;
    assert_eq!(own.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn ten_thousand_accounts_are_listed_in_pages_and_found_by_name() {
    let house = house(None);
    let rows = (0..10_000).map(|n| format!("('person {n:05}', '!', 0, 'reader')"));
    let sql = "insert into accounts (name, password, created_at, role) values";
    let sql = format!("{sql} {}", rows.collect::<Vec<_>>().join(", "));
    store::testing::execute(&store::testing::location(house.folder.path()), &sql);
    let anna = house.session_of("anna", "correct+horse").await;
    let with = [("cookie", anna.as_str())];
    let page = house.get("/people", &with).await.text;
    assert_eq!(page.matches("/role\"").count(), 100);
    assert!(page.contains(">anna <small>you") && page.contains("1–100 of 10,001"), "{page}");
    assert!(!page.contains("rel=\"prev\""));
    let next = page.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let next = next.replace("&#38;", "&");
    let page = house.get(&next, &with).await.text;
    assert!(page.contains("101–200 of 10,001") && page.contains("person 00198"), "{page}");
    assert!(page.contains("rel=\"prev\""));
    let found = house.get("/people?q=0999", &with).await.text;
    assert!(found.contains("1–11 of 11") && found.contains("person 09990"), "{found}");
    // The list of a changed role is the same as before.
    let id = house.store.account("person 09990").unwrap().unwrap().id;
    let fields = "role=admin&list=q%3D0999";
    let answered = house.form(&anna, &format!("/people/{id}/role"), fields).await;
    assert_eq!(answered.headers[header::LOCATION], "/people?q=0999");
    let page = house.get(&format!("/people/{id}/remove"), &with).await;
    assert!(page.text.contains("person 09990"), "{}", page.text);
    let none = house.get("/people?q=%3Cb%3E", &with).await.text;
    assert!(none.contains("No account has “&#60;b&#62;” in its name"), "{none}");
    // The API continues by cursor.
    let (mut names, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/v1/accounts?limit=500{after}");
        let answer = house.get(&path, &with).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let answer: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
        let rows = answer["accounts"].as_array().unwrap();
        names.extend(rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()));
        let Some(next) = answer["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(names.len(), 10_001);
    assert!(names.is_sorted());
    let answer = house.get("/api/v1/accounts?q=PERSON+0000&limit=3", &with).await.text;
    assert!(answer.contains("person 00002") && !answer.contains("person 00003"), "{answer}");
    let answer = house.get("/api/v1/accounts?after=x", &with).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn forms_of_accounts_need_the_key_of_the_session() {
    let house = house(None);
    house.reader();
    let anna = house.session_of("anna", "correct+horse").await;
    let bert_key = house.key(&house.session_of("bert", "battery+staple").await).await;
    for path in [
        "/people/2/role",
        "/people/2/remove",
        "/account/sessions/end",
        "/account/sessions/end-others",
        "/account/delete",
        "/account/password",
        "/account/tokens",
        "/account/connect",
        "/account/disconnect",
    ] {
        for key in ["", bert_key.as_str()] {
            let body = format!("form_key={key}&role=admin&password=correct+horse");
            let answered = house.post(path, &body, &[("cookie", &anna)]).await;
            assert_eq!(answered.status, StatusCode::FORBIDDEN, "{path}");
        }
        let foreign = [("cookie", anna.as_str()), ("sec-fetch-site", "cross-site")];
        let body = format!("form_key={}", house.key(&anna).await);
        let answered = house.post(path, &body, &foreign).await;
        assert_eq!(answered.status, StatusCode::FORBIDDEN, "{path} from another site");
    }
    let roles = |name| house.store.account(name).unwrap().unwrap().role;
    assert_eq!((roles("anna"), roles("bert")), (AccountRole::Admin, AccountRole::Reader));
}

#[tokio::test]
async fn sessions_are_listed_and_ended_by_their_owner_only() {
    let house = house(None);
    house.reader();
    let first = house.session_of("anna", "correct+horse").await;
    let second = house.session_of("anna", "correct+horse").await;
    let bert = house.session_of("bert", "battery+staple").await;
    let page = house.get("/account", &[("cookie", &first)]).await.text;
    assert!(page.contains("Firefox on Linux") && page.contains("this device"), "{page}");
    let numbers = |page: &str| -> Vec<String> {
        let parts = page.split("name=\"session\" value=\"").skip(1);
        parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
    };
    assert_eq!(numbers(&page).len(), 2);
    let theirs = numbers(&house.get("/account", &[("cookie", &bert)]).await.text);
    // Somebody else's session stays.
    house.form(&first, "/account/sessions/end", &format!("session={}", theirs[0])).await;
    assert_eq!(house.get("/account", &[("cookie", &bert)]).await.status, StatusCode::OK);
    house.form(&first, "/account/sessions/end-others", "").await;
    assert_eq!(house.get("/account", &[("cookie", &first)]).await.status, StatusCode::OK);
    assert_eq!(house.get("/account", &[("cookie", &second)]).await.status, StatusCode::SEE_OTHER);
    let own = numbers(&house.get("/account", &[("cookie", &first)]).await.text);
    let ended = house.form(&first, "/account/sessions/end", &format!("session={}", own[0])).await;
    assert_eq!(ended.headers[header::LOCATION], "/login");
    assert_eq!(house.get("/account", &[("cookie", &first)]).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_new_password_needs_the_old_one_and_ends_the_other_sessions() {
    let house = house(None);
    let here = house.session_of("anna", "correct+horse").await;
    let there = house.session_of("anna", "correct+horse").await;
    let change = |old: &str| format!("old={old}&new=another+password");
    let answered = house.form(&here, "/account/password", &change("wrong+one")).await;
    assert_eq!(answered.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(house.get("/account", &[("cookie", &there)]).await.status, StatusCode::OK);
    let answered = house.form(&here, "/account/password", &change("correct+horse")).await;
    assert_eq!(answered.status, StatusCode::OK, "{}", answered.text);
    assert_eq!(house.get("/account", &[("cookie", &here)]).await.status, StatusCode::OK);
    assert_eq!(house.get("/account", &[("cookie", &there)]).await.status, StatusCode::SEE_OTHER);
    let answered = house.post("/login", "name=anna&password=another+password", &[]).await;
    assert_eq!(answered.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn an_account_exports_what_is_its_own_and_is_deleted_with_its_password() {
    let house = house(None);
    house.reader();
    let bert = house.session_of("bert", "battery+staple").await;
    house.query("annas", house.anna);
    house.query("berts", house.store.account("bert").unwrap().unwrap().id);
    let export = house.get("/account/export.json", &[("cookie", &bert)]).await;
    assert_eq!(export.status, StatusCode::OK);
    let value: serde_json::Value = serde_json::from_str(&export.text).unwrap();
    assert_eq!(value["name"], "bert");
    let query = |index: usize, field: &str| value["queries"][index][field].clone();
    let shown = (query(0, "name"), query(0, "text"), query(0, "shared"), query(1, "name"));
    let text = "CREATE FEED berts AS RETURN ALL FEEDS";
    assert_eq!(shown, ("berts".into(), text.into(), false.into(), serde_json::Value::Null));
    assert!(!export.text.contains("secret"), "{}", export.text);
    assert_eq!((&value["stars"], &value["feeds"]), (&serde_json::json!([]), &value["stars"]));
    let lists = ["tags", "positions", "dismissed_feeds", "tokens", "devices"];
    assert!(lists.iter().all(|name| value[name] == serde_json::json!([])), "{}", export.text);
    assert_eq!(value["logins"].as_array().map(Vec::len), Some(1), "this one");
    let answered = house.form(&bert, "/account/delete", "password=guess").await;
    assert_eq!(answered.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(house.store.account("bert").unwrap().is_some());
    let answered = house.form(&bert, "/account/delete", "password=battery+staple").await;
    assert_eq!(answered.status, StatusCode::SEE_OTHER, "{}", answered.text);
    assert!(house.store.account("bert").unwrap().is_none());
    assert_eq!(house.get("/account", &[("cookie", &bert)]).await.status, StatusCode::SEE_OTHER);
}

impl House {
    /// Makes a query of an account.
    fn query(&self, name: &str, owner: store::AccountId) {
        let new = store::NewQuery {
            name: name.to_owned(),
            text: format!("CREATE FEED {name} AS RETURN ALL FEEDS"),
            urls: Vec::new(),
            receivers: Vec::new(),
            scope: store::QueryScope { owner: Some(owner), shared: false },
            link_key: "secret-link".to_owned(),
            signing_key: "secret-signature".to_owned(),
        };
        self.store.change_queries(vec![store::QueryChange::Put(new)], None, T0).unwrap();
    }
}

#[tokio::test]
async fn an_account_without_a_password_is_deleted_over_the_api_by_its_name() {
    let house = house(None);
    let reader = Some(AccountRole::Reader);
    let carla = house.store.add_account_as("carla", store::NO_PASSWORD, reader, T0);
    let fresh = fresh().unwrap();
    let token = NewToken {
        account: carla.unwrap().unwrap(),
        name: "all".to_owned(),
        scope: TokenScope::Admin,
        digest: fresh.digest,
        fever_digest: fever_digest("carla", &fresh.secret),
    };
    house.store.add_token(&token, T0).unwrap().unwrap();
    let delete = async |body: &str| {
        let request = Request::delete("/api/v1/me")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {}", fresh.secret));
        house.ask(request.body(Body::from(body.to_owned())).unwrap()).await
    };
    for wrong in ["{}", "{\"password\": \"x\"}", "{\"name\": \"anna\"}"] {
        let answered = delete(wrong).await;
        assert_eq!(answered.status, StatusCode::BAD_REQUEST, "{wrong}: {}", answered.text);
        assert!(answered.text.contains("send its name"), "{}", answered.text);
    }
    let answered = delete("{\"name\": \"carla\"}").await;
    assert_eq!(answered.status, StatusCode::NO_CONTENT, "{}", answered.text);
    assert!(house.store.account("carla").unwrap().is_none());
    // A name is not enough for an account with a password.
    house.token(TokenScope::Admin, "a token of anna");
    let request = Request::delete("/api/v1/me")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, "Bearer a token of anna")
        .body(Body::from("{\"name\": \"anna\"}"));
    assert_eq!(house.ask(request.unwrap()).await.status, StatusCode::BAD_REQUEST);
    assert!(house.store.account("anna").unwrap().is_some());
}
