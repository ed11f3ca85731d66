//! A route of the API and all that is said of it, in one place: from the list of routes come the
//! router, the scope that each needs, and the description. None can be there without the others.

use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use serde_json::{Map, Value, json};
use store::TokenScope;

use super::schema::{HasSchema, SchemaParts};
use crate::auth::Person;
use crate::v1::error::{ApiError, Problem};
use crate::{Context, v1};

/// One route.
pub struct Route {
    pub method: Method,
    /// Below `/api/v1`.
    pub path: &'static str,
    pub scope: TokenScope,
    /// A sentence without its point.
    pub what: &'static str,
    params: Vec<ParamSpec>,
    sent: Option<BodySpec>,
    answered: ResponseSpec,
    handler: MethodRouter<Context>,
}

/// Makes a form known by its name, and says how it looks.
type SchemaFn = fn(&mut SchemaParts) -> Value;

struct BodySpec {
    kind: &'static str,
    form: SchemaFn,
}

struct ResponseSpec {
    status: StatusCode,
    body: Option<BodySpec>,
}

/// Something that stands in the address, or in a header.
struct ParamSpec {
    name: &'static str,
    place: &'static str,
    what: &'static str,
    form: Value,
}

impl Route {
    /// A route that reads, and answers 200 with nothing said yet.
    pub fn get<H, T>(path: &'static str, what: &'static str, handler: H) -> Route
    where
        H: axum::handler::Handler<T, Context>,
        T: 'static,
    {
        Route::new(Method::GET, MethodFilter::GET, TokenScope::Read, path, what, handler)
    }

    pub fn post<H, T>(path: &'static str, what: &'static str, handler: H) -> Route
    where
        H: axum::handler::Handler<T, Context>,
        T: 'static,
    {
        Route::new(Method::POST, MethodFilter::POST, TokenScope::Admin, path, what, handler)
    }

    pub fn put<H, T>(path: &'static str, what: &'static str, handler: H) -> Route
    where
        H: axum::handler::Handler<T, Context>,
        T: 'static,
    {
        Route::new(Method::PUT, MethodFilter::PUT, TokenScope::Admin, path, what, handler)
    }

    pub fn patch<H, T>(path: &'static str, what: &'static str, handler: H) -> Route
    where
        H: axum::handler::Handler<T, Context>,
        T: 'static,
    {
        Route::new(Method::PATCH, MethodFilter::PATCH, TokenScope::Admin, path, what, handler)
    }

    pub fn delete<H, T>(path: &'static str, what: &'static str, handler: H) -> Route
    where
        H: axum::handler::Handler<T, Context>,
        T: 'static,
    {
        Route::new(Method::DELETE, MethodFilter::DELETE, TokenScope::Admin, path, what, handler)
    }

    fn new<H, T>(
        method: Method,
        filter: MethodFilter,
        scope: TokenScope,
        path: &'static str,
        what: &'static str,
        handler: H,
    ) -> Route
    where
        H: axum::handler::Handler<T, Context>,
        T: 'static,
    {
        let status = if method == Method::GET { StatusCode::OK } else { StatusCode::NO_CONTENT };
        Route {
            method,
            path,
            scope,
            what,
            params: Vec::new(),
            sent: None,
            answered: ResponseSpec { status, body: None },
            handler: on(filter, handler),
        }
    }

    /// How far a token must reach; reading, or else administering, where nothing is said.
    pub fn needs(mut self, scope: TokenScope) -> Route {
        self.scope = scope;
        self
    }

    /// What the body holds.
    pub fn takes<T: HasSchema>(mut self) -> Route {
        self.sent = Some(BodySpec { kind: JSON, form: T::schema });
        self
    }

    pub fn takes_text(mut self, kind: &'static str) -> Route {
        self.sent = Some(BodySpec { kind, form: String::schema });
        self
    }

    /// What is answered where all goes well.
    pub fn answers<T: HasSchema>(self) -> Route {
        self.answers_with::<T>(StatusCode::OK)
    }

    pub fn answers_with<T: HasSchema>(mut self, status: StatusCode) -> Route {
        self.answered =
            ResponseSpec { status, body: Some(BodySpec { kind: JSON, form: T::schema }) };
        self
    }

    pub fn answers_text(mut self, kind: &'static str) -> Route {
        let body = Some(BodySpec { kind, form: String::schema });
        self.answered = ResponseSpec { status: StatusCode::OK, body };
        self
    }

    /// Something that stands behind the `?`.
    pub fn param(mut self, name: &'static str, what: &'static str, form: Value) -> Route {
        self.params.push(ParamSpec { name, place: "query", what, form });
        self
    }

    pub fn header(mut self, name: &'static str, what: &'static str) -> Route {
        self.params.push(ParamSpec {
            name,
            place: "header",
            what,
            form: json!({"type": "string"}),
        });
        self
    }

    /// Cursor and number of a list.
    pub fn paged(self, limit: u32, limit_max: u32) -> Route {
        let form = json!({"type": "integer", "minimum": 1, "maximum": limit_max, "default": limit});
        self.param("after", "Goes on behind a page: its `next`.", json!({"type": "string"})).param(
            "limit",
            "How many at most.",
            form,
        )
    }

    /// The handler, behind the scope that it needs.
    pub fn guarded(self) -> MethodRouter<Context> {
        let scope = self.scope;
        let allowed = move |request: Request, next: Next| async move {
            match request.extensions().get::<Person>() {
                Some(person) if person.may(scope) => next.run(request).await,
                Some(_) => ApiError::ScopeTooSmall(scope).into_response(),
                None => ApiError::Unauthenticated.into_response(),
            }
        };
        self.handler.layer(axum::middleware::from_fn(allowed))
    }

    fn described(&self, parts: &mut SchemaParts) -> Value {
        let mut params: Vec<Value> = in_path(self.path);
        params.extend(self.params.iter().map(|param| {
            json!({
                "name": param.name,
                "in": param.place,
                "description": param.what,
                "schema": param.form,
            })
        }));
        let content = |body: &BodySpec, parts: &mut SchemaParts| {
            Value::from(Map::from_iter([(
                body.kind.to_owned(),
                json!({"schema": (body.form)(parts)}),
            )]))
        };
        let mut good = json!({"description": "It was done."});
        if let Some(body) = &self.answered.body {
            good["content"] = content(body, parts);
        }
        let status = self.answered.status.as_u16().to_string();
        let mut described = json!({
            "summary": self.what,
            "description": format!("Needs the scope `{}`.", self.scope.word()),
            "parameters": params,
            "responses": {
                status: good,
                "default": {"$ref": "#/components/responses/Problem"},
            },
        });
        if self.method == Method::GET && self.answered.body.is_some() {
            described["responses"]["304"] = json!({"description": "It has not changed."});
        }
        if let Some(body) = &self.sent {
            described["requestBody"] = json!({"required": true, "content": content(body, parts)});
        }
        described
    }
}

const JSON: &str = "application/json";

/// The names in braces. Numbers are called so; the others are texts.
fn in_path(path: &str) -> Vec<Value> {
    let names = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let params = names.map(|name| {
        let form = match name {
            "id" => json!({"type": "integer", "format": "int64", "minimum": 1}),
            _ => json!({"type": "string", "minLength": 1}),
        };
        json!({"name": name, "in": "path", "required": true, "schema": form})
    });
    params.collect()
}

/// The whole description (OpenAPI 3.1).
pub fn description(version: &str) -> Value {
    let mut parts = SchemaParts::new();
    let mut paths = Map::new();
    for route in v1::routes() {
        let path = paths.entry(format!("/api/v1{}", route.path)).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = route.described(&mut parts);
    }
    let problem = Problem::schema(&mut parts);
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Tidings", "version": version, "description": ABOUT},
        "paths": paths,
        "security": [{"token": []}, {}],
        "components": {
            "schemas": parts,
            "responses": {"Problem": {
                "description": "It was not done, and why.",
                "content": {"application/problem+json": {"schema": problem}},
            }},
            "securitySchemes": {"token": {
                "type": "http",
                "scheme": "bearer",
                "description": "From `tidings user token NAME` or the page; none on an instance \
                                without accounts.",
            }},
        },
    })
}

const ABOUT: &str = "Everything the page can do. Lists are read by cursor: what a page calls \
    `next` goes behind `after`. Times are RFC 3339 in UTC. Reads carry an ETag.";

/// Where the routes below do not lead.
pub async fn missing() -> Response {
    ApiError::NotFound("no such path; /api/openapi.json lists all paths").into_response()
}

pub async fn other_method() -> Response {
    ApiError::MethodNotAllowed.into_response()
}
