//! Reads the conditions in the comments of feedparser's test files, which are written in a small
//! part of Python.

use std::collections::BTreeMap;

/// A value of a condition, or of the document it is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    Str(String),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    Dict(BTreeMap<String, Value>),
    Date(Option<feed::Time>),
    Format(parse::Format),
    /// A value that we do not keep.
    Unknown,
}

/// Returns whether a condition holds; `None` if it concerns only values that we do not keep.
pub fn holds(condition: &str, names: &dyn Fn(&str) -> Value) -> Option<bool> {
    let mut parser = Parser { rest: condition.trim(), names };
    let result = parser.or();
    parser.skip();
    assert!(parser.rest.is_empty(), "left over in `{condition}`: `{}`", parser.rest);
    truth(&result)
}

struct Parser<'a> {
    rest: &'a str,
    names: &'a dyn Fn(&str) -> Value,
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Unknown => None,
        Value::None => Some(false),
        Value::Bool(b) => Some(*b),
        Value::Int(n) => Some(*n != 0),
        Value::Str(s) => Some(!s.is_empty()),
        Value::Tuple(v) | Value::List(v) => Some(!v.is_empty()),
        Value::Dict(d) => Some(!d.is_empty()),
        Value::Date(d) => Some(d.is_some()),
        Value::Format(_) => Some(true),
    }
}

fn logical(result: Option<bool>) -> Value {
    result.map_or(Value::Unknown, Value::Bool)
}

impl Parser<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let Some(after) = self.rest.strip_prefix(token) else { return false };
        let word = token.ends_with(|c: char| c.is_alphanumeric());
        if word && after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return false;
        }
        self.rest = after;
        true
    }

    fn or(&mut self) -> Value {
        let mut value = self.and();
        while self.eat("or") {
            let other = self.and();
            value = logical(match (truth(&value), truth(&other)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(a), Some(b)) => Some(a || b),
                _ => None,
            });
        }
        value
    }

    /// Fields that we do not keep cannot fail; the fields that we keep decide.
    fn and(&mut self) -> Value {
        let mut value = self.not();
        while self.eat("and") {
            let other = self.not();
            value = logical(match (truth(&value), truth(&other)) {
                (None, b) => b,
                (a, None) => a,
                (Some(a), Some(b)) => Some(a && b),
            });
        }
        value
    }

    fn not(&mut self) -> Value {
        if self.eat("not") {
            let value = self.not();
            return logical(truth(&value).map(|b| !b));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Value {
        let mut left = self.sum();
        let mut result = None;
        loop {
            let (right, holds) = if self.eat("==") {
                let right = self.sum();
                (right.clone(), equal(&left, &right))
            } else if self.eat("!=") {
                let right = self.sum();
                (right.clone(), equal(&left, &right).map(|b| !b))
            } else if self.eat("is not") {
                let right = self.sum();
                (right.clone(), equal(&left, &right).map(|b| !b))
            } else if self.eat("is") {
                let right = self.sum();
                (right.clone(), equal(&left, &right))
            } else if self.eat("not in") || self.eat("in") || self.eat(">=") {
                self.sum();
                return Value::Unknown;
            } else {
                return result.unwrap_or(left);
            };
            result = Some(logical(match (&result, holds) {
                (Some(Value::Bool(false)), _) => Some(false),
                (Some(Value::Unknown), _) => None,
                (_, holds) => holds,
            }));
            left = right;
        }
    }

    fn sum(&mut self) -> Value {
        let mut value = self.operand();
        while self.eat("+") {
            value = match (value, self.operand()) {
                (Value::Str(a), Value::Str(b)) => Value::Str(a + &b),
                _ => Value::Unknown,
            };
        }
        value
    }

    fn operand(&mut self) -> Value {
        self.skip();
        let mut value = match self.rest.chars().next() {
            Some('\'' | '"') => self.string(),
            Some('(') => self.sequence('(', ')'),
            Some('[') => self.sequence('[', ']'),
            Some('{') => self.dict(),
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            _ => self.name(),
        };
        loop {
            if self.rest.starts_with('[') {
                self.rest = &self.rest[1..];
                let key = self.or();
                assert!(self.eat("]"), "missing ] at `{}`", self.rest);
                value = index(&value, &key);
            } else if self.rest.starts_with('.') {
                self.rest = &self.rest[1..];
                let name = self.identifier();
                value = if self.rest.starts_with('(') {
                    self.call(&name, &value)
                } else {
                    index(&value, &Value::Str(name))
                };
            } else if self.rest.starts_with('(') {
                self.sequence('(', ')');
                value = Value::Unknown;
            } else {
                return value;
            }
        }
    }

    fn call(&mut self, method: &str, on: &Value) -> Value {
        let Value::Tuple(arguments) = self.arguments() else { return Value::Unknown };
        match (method, arguments.first()) {
            ("get", Some(key)) => index(on, key),
            ("has_key", Some(key)) => match index(on, key) {
                Value::Unknown => Value::Unknown,
                value => Value::Bool(value != Value::None),
            },
            _ => Value::Unknown,
        }
    }

    fn arguments(&mut self) -> Value {
        match self.sequence('(', ')') {
            Value::Tuple(values) => Value::Tuple(values),
            one => Value::Tuple(vec![one]),
        }
    }

    fn sequence(&mut self, open: char, close: char) -> Value {
        self.rest = self.rest.strip_prefix(open).unwrap();
        let close = close.to_string();
        let mut values = Vec::new();
        let mut comma = false;
        while !self.eat(&close) {
            values.push(self.or());
            comma |= self.eat(",");
        }
        match (open, values.len(), comma) {
            ('(', 1, false) => values.remove(0),
            ('(', ..) => Value::Tuple(values),
            _ => Value::List(values),
        }
    }

    fn dict(&mut self) -> Value {
        self.rest = &self.rest[1..];
        let mut dict = BTreeMap::new();
        while !self.eat("}") {
            let Value::Str(key) = self.or() else { panic!("a key at `{}`", self.rest) };
            assert!(self.eat(":"));
            dict.insert(key, self.or());
            self.eat(",");
        }
        Value::Dict(dict)
    }

    fn number(&mut self) -> Value {
        let end = self.rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-')));
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        digits.parse().map_or(Value::Unknown, Value::Int)
    }

    fn identifier(&mut self) -> String {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        name.to_owned()
    }

    fn name(&mut self) -> Value {
        let name = self.identifier();
        assert!(!name.is_empty(), "nothing readable at `{}`", self.rest);
        match name.as_str() {
            "u" | "b" | "r" if self.rest.starts_with(['\'', '"']) => self.string(),
            "None" => Value::None,
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "len" => {
                let Value::Tuple(arguments) = self.arguments() else { return Value::Unknown };
                match &arguments[0] {
                    Value::List(v) => Value::Int(i64::try_from(v.len()).unwrap()),
                    _ => Value::Unknown,
                }
            }
            _ => (self.names)(&name),
        }
    }

    fn string(&mut self) -> Value {
        let quote = &self.rest[..1];
        let triple = quote.repeat(3);
        let quote = if self.rest.starts_with(&triple) { triple } else { quote.to_owned() };
        let mut out = String::new();
        let mut rest = &self.rest[quote.len()..];
        loop {
            if let Some(after) = rest.strip_prefix(quote.as_str()) {
                self.rest = after;
                return Value::Str(out);
            }
            let c = rest.chars().next().expect("a closed string");
            rest = &rest[c.len_utf8()..];
            if c == '\\' {
                rest = escape(rest, &mut out);
            } else {
                out.push(c);
            }
        }
    }
}

fn escape<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let c = rest.chars().next().unwrap();
    let after = &rest[c.len_utf8()..];
    let digits = match c {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        'n' => {
            out.push('\n');
            return after;
        }
        't' => {
            out.push('\t');
            return after;
        }
        '\'' | '"' | '\\' => {
            out.push(c);
            return after;
        }
        _ => {
            out.push('\\');
            out.push(c);
            return after;
        }
    };
    let code = u32::from_str_radix(&after[..digits], 16).unwrap();
    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    &after[digits..]
}

fn index(value: &Value, key: &Value) -> Value {
    match (value, key) {
        (Value::Dict(dict), Value::Str(key)) => dict.get(key).cloned().unwrap_or(Value::Unknown),
        (Value::List(list) | Value::Tuple(list), Value::Int(n)) => {
            let n = if *n < 0 { *n + i64::try_from(list.len()).unwrap() } else { *n };
            usize::try_from(n).ok().and_then(|n| list.get(n).cloned()).unwrap_or(Value::None)
        }
        (Value::None, _) => Value::None,
        _ => Value::Unknown,
    }
}

fn equal(a: &Value, b: &Value) -> Option<bool> {
    Some(match (a, b) {
        (Value::Unknown, _) | (_, Value::Unknown) => return None,
        // An empty text and a missing one are the same for us.
        (Value::None, Value::Str(s)) | (Value::Str(s), Value::None) => s.is_empty(),
        (Value::Str(a), Value::Str(b)) => a == b || canonical(a) == canonical(b),
        (Value::Date(date), Value::Str(text)) => *date == parse::date::parse(text),
        (Value::Date(date), Value::Tuple(parts)) => *date == moment(parts),
        (Value::Date(date), Value::None) => date.is_none(),
        (Value::Format(format), Value::Str(name)) => match format {
            parse::Format::Rss20 => name == "rss20" || name == "rss",
            parse::Format::Rss10 => name == "rss10",
            parse::Format::Rss09x => name.starts_with("rss09"),
            parse::Format::Atom10 => name == "atom10" || name == "atom",
            parse::Format::Atom03 => name == "atom03" || name.starts_with("atom0"),
            parse::Format::JsonFeed1 => name.starts_with("json"),
        },
        (Value::Dict(ours), Value::Dict(theirs)) => theirs
            .iter()
            .all(|(key, value)| ours.get(key).is_none_or(|own| equal(own, value) != Some(false))),
        _ => a == b,
    })
}

fn moment(parts: &[Value]) -> Option<feed::Time> {
    let n = |i: usize| if let Value::Int(n) = parts[i] { n } else { 0 };
    let text = format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", n(0), n(1), n(2), n(3), n(4), n(5));
    text.parse().ok()
}

/// Normalises HTML: attributes in order, references resolved, empty tags written alike. A sanitiser
/// may change these without changing the meaning.
fn canonical(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('>') else { break };
        let tag = rest[open + 1..open + close].trim_end_matches('/').trim();
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        let mut pairs: Vec<String> = attributes
            .split_inclusive(['"', '\''])
            .collect::<Vec<_>>()
            .chunks(2)
            .map(|pair| pair.concat().trim().replace('\'', "\""))
            .filter(|pair| !pair.is_empty())
            .collect();
        pairs.sort();
        out.push_str(&format!("<{} {}>", name.to_ascii_lowercase(), pairs.join(" ")));
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    for (reference, text) in [("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'")] {
        out = out.replace(reference, text);
    }
    out
}
