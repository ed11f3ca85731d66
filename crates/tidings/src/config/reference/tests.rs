//! Tests that the reference names exactly the keys that the structs read.

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};

use super::*;
use crate::config::{
    BudgetTable, ConfigFile, Defaults, DomainTable, LimitsTable, PushTable, bus, delivery, login,
    place, recording,
};

/// Reads only the names of a struct's fields.
struct Names<'a>(&'a mut Vec<&'static str>);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.extend(fields);
        Err(Error::custom("only the names were asked for"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("not a struct"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn fields<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    let mut names = Vec::new();
    assert!(T::deserialize(Names(&mut names)).is_err() && !names.is_empty());
    names.sort_unstable();
    names
}

fn described(table: &str) -> Vec<&'static str> {
    let tables = tables();
    let table = tables.iter().find(|t| t.name == table).expect("it is described");
    let mut names: Vec<_> = table.keys.iter().map(|key| key.name).collect();
    names.sort_unstable();
    names
}

#[test]
fn every_key_that_is_read_is_described_and_no_other() {
    assert_eq!(described("domain.\"example.org\""), fields::<DomainTable>());
    assert_eq!(described("defaults"), fields::<Defaults>());
    assert_eq!(described("budget"), fields::<BudgetTable>());
    assert_eq!(described("limits"), fields::<LimitsTable>());
    assert_eq!(described("push"), fields::<PushTable>());
    assert_eq!(described("mail"), fields::<delivery::MailTable>());
    assert_eq!(described("delivery"), fields::<delivery::DeliveryTable>());
    assert_eq!(described("recording"), fields::<recording::RecordingTable>());
    assert_eq!(described("store"), fields::<place::StoreTable>());
    assert_eq!(described("machine"), fields::<place::MachineTable>());
    assert_eq!(described("login"), fields::<login::LoginTable>());
    assert_eq!(described("bus"), fields::<bus::BusTable>());
    assert_eq!(described("terminal"), fields::<bus::TerminalTable>());
    let mut top = described("");
    let tables = tables();
    // In `[resolve]` and `[keys]` the operator chooses the names.
    top.extend(tables.iter().map(|t| t.name.split('.').next().expect("a name")));
    top.retain(|name| !name.is_empty());
    top.sort_unstable();
    assert_eq!(top, fields::<ConfigFile>());
}

#[test]
fn every_example_is_read() {
    let mut text = String::new();
    for table in tables() {
        if !table.name.is_empty() {
            text.push_str(&format!("[{}]\n", table.name));
        }
        for key in table.keys {
            text.push_str(&format!("{} = {}\n", key.name, key.example));
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tidings.toml");
    // The only file that is read with the configuration.
    let topics = folder.path().join("topics.txt");
    std::fs::write(&topics, "").expect("written");
    let text = text.replace("/etc/tidings/topics.txt", topics.to_str().expect("a text"));
    std::fs::write(&path, &text).expect("written");
    let place = crate::args::InstanceArgs { data: None, database: None, config: Some(path) };
    let config = crate::config::read_offline(&place).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(config.has_contact && config.engine.budget.is_some());
    assert_eq!(config.engine.gaps.by_domain["example.org"].as_secs(), 30);
    let keys_age_max = config.engine.retention.keys_age_max.map(|age| age.as_secs() / 86_400);
    assert_eq!(keys_age_max, Some(800));
}

#[test]
fn the_written_reference_is_the_printed_one() {
    let written = include_str!("../../../../../docs/reference/configuration.md");
    assert!(
        written == markdown(),
        "docs/reference/configuration.md is outdated; write it again: \
         `cargo run -p tidings -- config reference > docs/reference/configuration.md`"
    );
}
