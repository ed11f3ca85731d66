//! `README.md` of a data set: method, period, settings, limits and licence, for people.

use std::fmt::Write;

use super::{LICENCE, PackageFacts, PackagedTable};

/// Returns `README.md`.
pub fn readme(facts: &PackageFacts, tables: &[PackagedTable]) -> String {
    let time = |at: Option<feed::Time>| at.map_or("–".to_owned(), |at| at.to_string());
    let mut text = format!(
        "# {}\n\n{}\n\n\
         | | |\n|---|---|\n| first poll | {} |\n| last poll | {} |\n| polls | {} |\n\
         | entries | {} |\n| polling rule | `{}` |\n| user agent | `{}` |\n\
         | requests | conditional{} |\n\n",
        facts.title,
        facts.summary(),
        time(facts.first_poll),
        time(facts.last_poll),
        facts.polls,
        facts.entries,
        facts.policy,
        facts.user_agent,
        facts
            .cache_control
            .as_ref()
            .map_or(String::new(), |value| format!(", with `Cache-Control: {value}`")),
    );
    text.push_str(METHOD);
    if facts.is_pseudonymised {
        text.push_str(PSEUDONYMISED);
    }
    text.push_str("\n## Tables\n\n");
    for packaged in tables {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "### {}\n\n`{}`, {} rows.\n\n",
            packaged.table.title, packaged.file.path, packaged.rows
        );
        text.push_str("| column | type | meaning |\n|---|---|---|\n");
        for column in packaged.table.columns {
            let (name, kind, meaning) = (column.name, column.kind.word(), column.meaning);
            let _ = writeln!(text, "| `{name}` | {kind} | {meaning} |");
        }
        text.push('\n');
    }
    text.push_str(if facts.has_documents { WITH_DOCUMENTS } else { WITHOUT_DOCUMENTS });
    if !facts.remarks.is_empty() {
        text.push_str("\n## Settings and known faults\n\n");
        for remark in &facts.remarks {
            let _ = writeln!(text, "- {remark}");
        }
    }
    let _ = write!(
        text,
        "\n## Licence\n\nTimes, digests, headers and counts are facts: {} \
        (<{}>). Titles, links and documents belong to their publishers.\n",
        LICENCE.2, LICENCE.1
    );
    text
}

const METHOD: &str = "## Method\n\n\
    Every poll is one conditional request and leaves one row, also if it fails. An entry is known \
    by its publisher's id, else by its link, else by its title and content; never by a date. \
    `hash` is the identity that the dissertation *Effizientes Abrufen von Feeds* used. If two \
    successive documents share no entry, some entries may be missing between them: a suspected \
    miss. An entry without a usable date gets the time of the poll that found it.\n\n\
    Times are UTC. An absent value is empty. `sha256sum --check SHA256SUMS` checks all files. \
    `tidings lab run --trace entries.csv.gz …` replays the data set. DuckDB reads the tables as \
    they are: `select * from 'entries.csv.gz'`.\n";

const PSEUDONYMISED: &str =
    "\nTitles are left out. Links, addresses and keys are salted digests.\n";

const WITH_DOCUMENTS: &str = "## Documents\n\n`warc/` holds every document that changed (WARC \
    1.1), also those that cannot be read, and the pages of errors up to 64 kB. A cut body is \
    marked `WARC-Truncated`. Polls that brought nothing new are `revisit` records. Bodies are \
    decompressed; the headers of the transfer have the prefix `X-Crawler-`. Names of headers are \
    in lower case, because our HTTP library does not keep their spelling.\n";

const WITHOUT_DOCUMENTS: &str = "## Documents\n\nThe documents themselves are not part of this \
    data set.\n";
