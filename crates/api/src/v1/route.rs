//! A route of the API with its description. The router, the scope checks and the OpenAPI
//! description all come from one list of routes, so that none can be missing.

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
use crate::{ServerContext, v1};

/// One route.
pub struct Route {
    pub method: Method,
    /// The path below `/api/v1`.
    pub path: &'static str,
    pub scope: TokenScope,
    /// Whether it only changes the account of the caller. Then the role does not matter.
    is_own: bool,
    /// A summary without a full stop.
    pub what: &'static str,
    params: Vec<ParamSpec>,
    sent: Option<BodySpec>,
    answered: ResponseSpec,
    handler: MethodRouter<ServerContext>,
}

/// Adds a named schema to the description and returns a reference to it.
type SchemaFn = fn(&mut SchemaParts) -> Value;

struct BodySpec {
    kind: &'static str,
    form: SchemaFn,
}

struct ResponseSpec {
    status: StatusCode,
    body: Option<BodySpec>,
}

/// A parameter in the query string or a header.
struct ParamSpec {
    name: &'static str,
    place: &'static str,
    what: &'static str,
    form: Value,
}

impl Route {
    /// A route that reads. It answers 200, by default without a body.
    pub fn get<H, T>(path: &'static str, what: &'static str, handler: H) -> Route
    where
        H: axum::handler::Handler<T, ServerContext>,
        T: 'static,
    {
        Route::new(Method::GET, MethodFilter::GET, TokenScope::Read, path, what, handler)
    }

    pub fn post<H, T>(path: &'static str, what: &'static str, handler: H) -> Route
    where
        H: axum::handler::Handler<T, ServerContext>,
        T: 'static,
    {
        Route::new(Method::POST, MethodFilter::POST, TokenScope::Admin, path, what, handler)
    }

    pub fn put<H, T>(path: &'static str, what: &'static str, handler: H) -> Route
    where
        H: axum::handler::Handler<T, ServerContext>,
        T: 'static,
    {
        Route::new(Method::PUT, MethodFilter::PUT, TokenScope::Admin, path, what, handler)
    }

    pub fn patch<H, T>(path: &'static str, what: &'static str, handler: H) -> Route
    where
        H: axum::handler::Handler<T, ServerContext>,
        T: 'static,
    {
        Route::new(Method::PATCH, MethodFilter::PATCH, TokenScope::Admin, path, what, handler)
    }

    pub fn delete<H, T>(path: &'static str, what: &'static str, handler: H) -> Route
    where
        H: axum::handler::Handler<T, ServerContext>,
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
        H: axum::handler::Handler<T, ServerContext>,
        T: 'static,
    {
        let status = if method == Method::GET { StatusCode::OK } else { StatusCode::NO_CONTENT };
        Route {
            method,
            path,
            scope,
            is_own: false,
            what,
            params: Vec::new(),
            sent: None,
            answered: ResponseSpec { status, body: None },
            handler: on(filter, handler),
        }
    }

    /// Sets the scope that a token needs. The default is read for GET and admin otherwise.
    pub fn needs(mut self, scope: TokenScope) -> Route {
        self.scope = scope;
        self
    }

    /// Says that the route only reads or changes the account of the caller.
    pub fn own(mut self) -> Route {
        self.is_own = true;
        self
    }

    /// Sets the type of the request body.
    pub fn takes<T: HasSchema>(mut self) -> Route {
        self.sent = Some(BodySpec { kind: JSON, form: T::schema });
        self
    }

    pub fn takes_text(mut self, kind: &'static str) -> Route {
        self.sent = Some(BodySpec { kind, form: String::schema });
        self
    }

    /// Sets the type of a successful answer.
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

    /// Adds a query parameter.
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

    /// Adds the parameters of a paged list.
    pub fn paged(self, limit: u32, limit_max: u32) -> Route {
        let form = json!({"type": "integer", "minimum": 1, "maximum": limit_max, "default": limit});
        self.param("after", "The `next` of the page before.", json!({"type": "string"})).param(
            "limit",
            "The highest number of items.",
            form,
        )
    }

    /// Returns the handler behind a check of its scope.
    pub fn guarded(self) -> MethodRouter<ServerContext> {
        let (scope, is_own) = (self.scope, self.is_own);
        let allowed = move |request: Request, next: Next| async move {
            match request.extensions().get::<Person>() {
                Some(person) if is_own && person.own_scope >= scope => next.run(request).await,
                Some(person) if person.may(scope) => next.run(request).await,
                Some(person) => ApiError::of_scope(person, scope).into_response(),
                None => ApiError::Unauthenticated.into_response(),
            }
        };
        self.handler.layer(axum::middleware::from_fn(allowed))
    }

    fn needs_in_words(&self) -> String {
        let scope = self.scope.word();
        match (self.scope, self.is_own) {
            (TokenScope::Admin, false) => {
                format!("Needs the scope `{scope}` and an account with the role `admin`.")
            }
            _ => format!("Needs the scope `{scope}`."),
        }
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
        let mut good = json!({"description": "Success."});
        if let Some(body) = &self.answered.body {
            good["content"] = content(body, parts);
        }
        let status = self.answered.status.as_u16().to_string();
        let mut described = json!({
            "summary": self.what,
            "description": self.needs_in_words(),
            "parameters": params,
            "responses": {
                status: good,
                "default": {"$ref": "#/components/responses/Problem"},
            },
        });
        if self.method == Method::GET && self.answered.body.is_some() {
            described["responses"]["304"] = json!({"description": "Not modified."});
        }
        if let Some(body) = &self.sent {
            described["requestBody"] = json!({"required": true, "content": content(body, parts)});
        }
        described
    }
}

const JSON: &str = "application/json";

/// Returns the parameters in the path. `id` is a number, all others are texts.
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

/// Returns the whole description (OpenAPI 3.1).
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
                "description": "The request failed; the body says why.",
                "content": {"application/problem+json": {"schema": problem}},
            }},
            "securitySchemes": {"token": {
                "type": "http",
                "scheme": "bearer",
                "description": "From `tidings user token NAME` or the page. An instance without \
                                accounts needs no token.",
            }},
        },
    })
}

const ABOUT: &str = "The API can do everything that the page can do. Lists are read by cursor: \
    send the `next` of a page as `after`. Times are RFC 3339 in UTC. Answers to GET have an ETag.";

/// Answers an unknown path.
pub async fn missing() -> Response {
    ApiError::NotFound("the path does not exist; /api/openapi.json lists all paths").into_response()
}

pub async fn other_method() -> Response {
    ApiError::MethodNotAllowed.into_response()
}
