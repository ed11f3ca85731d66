//! The description of the API: it lists every route, and answers match their schemas.

use api::api_routes;
use axum::http::StatusCode;
use serde_json::Value;

use super::{acting, get, read, send, shelf};

#[tokio::test]
async fn every_route_is_described_and_every_description_has_a_route() {
    let shelf = shelf();
    let description = get(&shelf.router, "/api/openapi.json").await;
    assert_eq!(description["openapi"], "3.1.0");
    let mut described = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, said) in methods.as_object().unwrap() {
            described.push((method.to_uppercase(), path.clone()));
            assert!(said["summary"].as_str().is_some_and(|what| !what.is_empty()), "{path}");
            assert!(said["responses"]["default"]["$ref"].is_string(), "{path}");
            // Any answer shows that the route exists with this method.
            let filled = path.replace("{id}", "1").replace("{name}", "red").replace("{tag}", "x");
            let head = if method == "get" { "HEAD" } else { method.as_str() };
            let answer = send(&shelf.router, &head.to_uppercase(), &filled, &[], Value::Null).await;
            assert_ne!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert!(!answer.text.contains("there is nothing here"), "{method} {path}");
        }
    }
    let mut listed: Vec<(String, String)> = api_routes()
        .into_iter()
        .map(|(method, path, _)| (method, format!("/api/v1{path}")))
        .collect();
    listed.sort();
    described.sort();
    assert_eq!(listed, described);
    assert!(listed.len() >= 30, "{}", listed.len());
    let text = description.to_string();
    for reference in text.split("#/components/").skip(1) {
        let name = reference.split('"').next().unwrap();
        let mut part = &description["components"];
        for step in name.split('/') {
            part = &part[step];
        }
        assert!(part.is_object(), "{name} is referred to and not described");
    }
}

/// Whether a value matches a schema.
fn fits(value: &Value, schema: &Value, whole: &Value) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        return fits(value, &whole["components"]["schemas"][name], whole);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let fit = any.iter().any(|one| fits(value, one, whole).is_ok());
        return if fit { Ok(()) } else { Err(format!("{value} is none of {any:?}")) };
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allowed = |said: &Value| said == kind || (said == "number" && kind == "integer");
    let fit = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(allowed),
        one => allowed(one),
    };
    if !fit {
        return Err(format!("{value} is not {}", schema["type"]));
    }
    if let (Value::Array(items), true) = (value, schema["items"].is_object()) {
        return items.iter().try_for_each(|item| fits(item, &schema["items"], whole));
    }
    if let (Value::Object(fields), Some(said)) = (value, schema["properties"].as_object()) {
        for name in schema["required"].as_array().unwrap() {
            if !fields.contains_key(name.as_str().unwrap()) {
                return Err(format!("{name} is missing"));
            }
        }
        for (name, value) in fields {
            let schema = said.get(name).ok_or(format!("{name} is not described"))?;
            fits(value, schema, whole).map_err(|why| format!("{name}: {why}"))?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_is_answered_is_what_is_described() {
    let shelf = shelf();
    let (router, _) = acting(&shelf);
    let description = get(&router, "/api/openapi.json").await;
    for (template, path) in [
        ("/feeds", "/feeds?limit=1"),
        ("/feeds/{id}", "/feeds/1"),
        ("/feeds/{id}/polls", "/feeds/1/polls"),
        ("/tags", "/tags"),
        ("/reading", "/reading?content=true"),
        ("/reading/unread", "/reading/unread"),
        ("/entries/{id}", "/entries/1"),
        ("/entries/{id}/article", "/entries/1/article"),
        ("/entries/{id}/position", "/entries/1/position"),
        ("/entries", "/entries?query=red"),
        ("/queries", "/queries"),
        ("/queries/{name}", "/queries/red"),
        ("/queries/{name}/deliveries", "/queries/red/deliveries"),
        ("/queries/{name}/dead-letters", "/queries/red/dead-letters"),
        ("/budget", "/budget"),
        ("/what-if", "/what-if"),
        ("/health", "/health"),
        ("/me", "/me"),
        ("/me/tokens", "/me/tokens"),
    ] {
        let value = get(&router, &format!("/api/v1{path}")).await;
        let said = &description["paths"][format!("/api/v1{template}")]["get"]["responses"]["200"];
        let schema = &said["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{template} says nothing of its answer");
        assert_eq!(fits(&value, schema, &description), Ok(()), "{path}");
        assert!(!value.to_string().contains("secret"), "{path}: {value}");
    }
    let missing = send(&router, "GET", "/api/v1/feeds/99", &[], Value::Null).await;
    let schema = &description["components"]["schemas"]["Problem"];
    assert_eq!(fits(&read(&missing), schema, &description), Ok(()));
}
