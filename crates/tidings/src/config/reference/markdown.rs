//! The reference of the configuration as a page.

use super::{ConfigKey, tables};

/// Returns the whole reference as Markdown.
pub fn markdown() -> String {
    let mut text = String::from(
        "# Configuration\n\n\
         *Printed by `tidings config reference`; a test compares this file with the output.*\n\n\
         `tidings run --config FILE` reads one TOML file. No key is required. The order of \
         precedence is: a flag, then a setting made with `tidings feed set` or `tidings budget`, \
         then the file, then the built-in default. An unknown key is an error with its line. \
         `tidings config check --config FILE` checks a file and starts nothing. Durations are \
         `90s`, `15m`, `1h`, `7d`.\n",
    );
    for table in tables() {
        let title = match table.name {
            "" => "## General".to_owned(),
            name => format!("## `[{name}]`"),
        };
        text.push_str(&format!("\n{title}\n{}\n\n", table.about));
        text.push_str("| key | value | default | meaning | example |\n|---|---|---|---|---|\n");
        for ConfigKey { name, kind, default, meaning, example, .. } in table.keys {
            let default = default.replace('|', "\\|");
            text.push_str(&format!(
                "| `{name}` | {kind} | {default} | {meaning} | `{name} = {example}` |\n"
            ));
        }
    }
    text
}
