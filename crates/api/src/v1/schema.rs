//! JSON types of the API, each declared once. The declaration gives the JSON format and its schema,
//! so that neither can miss a field or a sentence.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The named schemas of a description.
pub type SchemaParts = BTreeMap<&'static str, Value>;

/// A type with a JSON Schema, as OpenAPI 3.1 uses it.
pub trait HasSchema {
    /// Whether a client may leave it out of a request.
    const OPTIONAL: bool = false;
    /// Whether some answers leave it out.
    const OMITTABLE: bool = false;

    fn schema(parts: &mut SchemaParts) -> Value;

    /// Whether this answer leaves it out.
    fn is_omitted(&self) -> bool {
        false
    }
}

macro_rules! plain {
    ($($type:ty => $schema:expr),+ $(,)?) => {
        $(impl HasSchema for $type {
            fn schema(_: &mut SchemaParts) -> Value {
                $schema
            }
        })+
    };
}

plain! {
    bool => json!({"type": "boolean"}),
    f64 => json!({"type": "number"}),
    i64 => json!({"type": "integer", "format": "int64"}),
    u16 => json!({"type": "integer", "minimum": 0, "maximum": u16::MAX}),
    u32 => json!({"type": "integer", "minimum": 0, "maximum": u32::MAX}),
    u64 => json!({"type": "integer", "minimum": 0}),
    usize => json!({"type": "integer", "minimum": 0}),
    String => json!({"type": "string"}),
    &'static str => json!({"type": "string"}),
    // A value that another module made; its own schema describes it.
    Value => json!({}),
}

impl<T: HasSchema> HasSchema for Vec<T> {
    fn schema(parts: &mut SchemaParts) -> Value {
        json!({"type": "array", "items": T::schema(parts)})
    }
}

impl<T: HasSchema> HasSchema for Option<T> {
    const OPTIONAL: bool = true;

    fn schema(parts: &mut SchemaParts) -> Value {
        nullable(T::schema(parts))
    }
}

fn nullable(mut schema: Value) -> Value {
    match schema.get("type").and_then(Value::as_str) {
        Some(kind) => {
            schema["type"] = json!([kind, "null"]);
            schema
        }
        None => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

/// A field that is left out of some answers.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Omittable<T> {
    #[default]
    Omitted,
    Present(T),
}

impl<T: HasSchema> HasSchema for Omittable<T> {
    const OMITTABLE: bool = true;

    fn schema(parts: &mut SchemaParts) -> Value {
        T::schema(parts)
    }

    fn is_omitted(&self) -> bool {
        matches!(self, Omittable::Omitted)
    }
}

/// A change of one setting: a missing field keeps it, and null clears it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Edit<T> {
    #[default]
    Keep,
    Clear,
    To(T),
}

impl<T> Edit<T> {
    /// Returns `None` to keep the setting and `Some(None)` to clear it.
    pub fn into_change(self) -> Option<Option<T>> {
        match self {
            Edit::Keep => None,
            Edit::Clear => Some(None),
            Edit::To(value) => Some(Some(value)),
        }
    }
}

impl<T: HasSchema> HasSchema for Edit<T> {
    const OPTIONAL: bool = true;

    fn schema(parts: &mut SchemaParts) -> Value {
        nullable(T::schema(parts))
    }
}

/// A request body that is read field by field.
pub trait FromJson: Sized {
    fn read(fields: &mut JsonFields) -> Result<Self, String>;
}

/// The fields of a request body.
pub struct JsonFields(Map<String, Value>);

impl JsonFields {
    pub fn of(sent: Value) -> Result<JsonFields, String> {
        match sent {
            Value::Object(fields) => Ok(JsonFields(fields)),
            _ => Err("it must be an object".to_owned()),
        }
    }

    pub fn take<T: FromField>(&mut self, name: &str) -> Result<T, String> {
        T::of(self.0.remove(name)).map_err(|why| format!("`{name}`: {why}"))
    }

    /// Returns an error if any field is left.
    pub fn end(self) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => {
                let name: String = name.chars().take(40).collect();
                Err(format!("unknown field `{name}`"))
            }
        }
    }
}

/// The value of a field that may be missing.
pub trait FromField: Sized {
    fn of(value: Option<Value>) -> Result<Self, String>;
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|why| why.to_string())
}

impl FromField for String {
    fn of(value: Option<Value>) -> Result<String, String> {
        read(value.ok_or("is missing")?)
    }
}

impl FromField for f64 {
    fn of(value: Option<Value>) -> Result<f64, String> {
        read(value.ok_or("is missing")?)
    }
}

impl FromField for i64 {
    fn of(value: Option<Value>) -> Result<i64, String> {
        read(value.ok_or("is missing")?)
    }
}

impl FromField for bool {
    fn of(value: Option<Value>) -> Result<bool, String> {
        read(value.ok_or("is missing")?)
    }
}

impl<T: DeserializeOwned> FromField for Vec<T> {
    fn of(value: Option<Value>) -> Result<Vec<T>, String> {
        read(value.ok_or("is missing")?)
    }
}

impl<T: DeserializeOwned> FromField for Option<T> {
    fn of(value: Option<Value>) -> Result<Option<T>, String> {
        value.map_or(Ok(None), read)
    }
}

impl<T: DeserializeOwned> FromField for Edit<T> {
    fn of(value: Option<Value>) -> Result<Edit<T>, String> {
        match value {
            None => Ok(Edit::Keep),
            Some(Value::Null) => Ok(Edit::Clear),
            Some(value) => read(value).map(Edit::To),
        }
    }
}

/// Joins the doc lines of a field or a type to its description.
pub fn about(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// Declares types of answers. All fields are present, except [`Omittable`] ones.
macro_rules! answer {
    ($($(#[doc = $about:literal])+ $name:ident {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty,)+
    })+) => {
        $($(#[doc = $about])+
        #[derive(Clone, Debug, serde::Serialize)]
        pub struct $name {
            $($(#[doc = $doc])+
            #[serde(skip_serializing_if = "crate::v1::schema::HasSchema::is_omitted")]
            pub $field: $type,)+
        }

        impl $crate::v1::schema::HasSchema for $name {
            fn schema(parts: &mut $crate::v1::schema::SchemaParts) -> serde_json::Value {
                $crate::v1::schema::form(parts, stringify!($name), &[$($about),+], |parts| {
                    let mut fields = Vec::new();
                    $(let schema = <$type as $crate::v1::schema::HasSchema>::schema(parts);
                    let always = !<$type as $crate::v1::schema::HasSchema>::OMITTABLE;
                    fields.push((stringify!($field), [$($doc),+].as_slice(), schema, always));)+
                    fields
                })
            }
        })+
    };
}

/// Declares types of requests. Unknown fields are refused.
macro_rules! request {
    ($($(#[doc = $about:literal])+ $name:ident {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty,)+
    })+) => {
        $($(#[doc = $about])+
        #[derive(Clone, Debug)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl $crate::v1::schema::FromJson for $name {
            fn read(fields: &mut $crate::v1::schema::JsonFields) -> Result<$name, String> {
                Ok($name { $($field: fields.take(stringify!($field))?,)+ })
            }
        }

        impl $crate::v1::schema::HasSchema for $name {
            fn schema(parts: &mut $crate::v1::schema::SchemaParts) -> serde_json::Value {
                $crate::v1::schema::form(parts, stringify!($name), &[$($about),+], |parts| {
                    let mut fields = Vec::new();
                    $(let schema = <$type as $crate::v1::schema::HasSchema>::schema(parts);
                    let needed = !<$type as $crate::v1::schema::HasSchema>::OPTIONAL;
                    fields.push((stringify!($field), [$($doc),+].as_slice(), schema, needed));)+
                    fields
                })
            }
        })+
    };
}

pub(crate) use {answer, request};

/// A field: its name, its doc lines, its schema, and whether it is required.
type FieldSchema<'a> = (&'a str, &'a [&'a str], Value, bool);

/// Adds a named schema once, and returns a reference to it.
pub fn form<'a>(
    parts: &mut SchemaParts,
    name: &'static str,
    lines: &[&str],
    fields: impl FnOnce(&mut SchemaParts) -> Vec<FieldSchema<'a>>,
) -> Value {
    if !parts.contains_key(name) {
        // A recursive type finds this entry.
        parts.insert(name, Value::Null);
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (field, lines, mut schema, needed) in fields(parts) {
            // OpenAPI 3.1 allows a description next to a reference.
            schema["description"] = about(lines).into();
            // Rust keywords are written with this prefix.
            let field = field.trim_start_matches("r#");
            properties.insert(field.to_owned(), schema);
            if needed {
                required.push(field);
            }
        }
        let schema = json!({
            "type": "object",
            "description": about(lines),
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        parts.insert(name, schema);
    }
    json!({"$ref": format!("#/components/schemas/{name}")})
}
