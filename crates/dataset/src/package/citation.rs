//! How a data set is cited: `datacite.json` for a DOI, and `CITATION.cff`.

use serde_json::{Value, json};

use super::{LICENCE, PackageFacts, pretty};

/// Returns `datacite.json`: the properties of DataCite 4 that a DOI needs, without the DOI itself.
pub fn datacite(facts: &PackageFacts) -> String {
    let (licence, address, title) = LICENCE;
    let dates: Vec<Value> = match (facts.first_poll, facts.last_poll) {
        (Some(first), Some(last)) => {
            vec![json!({ "date": format!("{first}/{last}"), "dateType": "Collected" })]
        }
        _ => Vec::new(),
    };
    pretty(&json!({
        "creators": [{ "name": facts.creator }],
        "titles": [{ "title": facts.title }],
        "publisher": { "name": facts.creator },
        "publicationYear": year(facts),
        "types": { "resourceTypeGeneral": "Dataset", "resourceType": "Recorded web feeds" },
        "version": facts.version,
        "language": "en",
        "dates": dates,
        "sizes": [format!("{} feeds", facts.feeds), format!("{} polls", facts.polls),
            format!("{} entries", facts.entries)],
        "formats": if facts.has_documents { FORMATS.as_slice() } else { &FORMATS[..1] },
        "rightsList": [{ "rights": title, "rightsIdentifier": licence, "rightsUri": address }],
        "descriptions": [{
            "descriptionType": "Abstract",
            "description": facts.summary(),
        }],
        "schemaVersion": "http://datacite.org/schema/kernel-4",
    }))
}

const FORMATS: [&str; 2] = ["text/csv", "application/warc"];

/// Returns `CITATION.cff` (version 1.2.0).
pub fn citation_cff(facts: &PackageFacts) -> String {
    let released = facts.last_poll.map(|at| at.to_string()[..10].to_owned());
    let released = released.map_or(String::new(), |day| format!("date-released: \"{day}\"\n"));
    format!(
        "cff-version: 1.2.0\nmessage: \"If you use this data set, please cite it as below.\"\n\
         type: dataset\ntitle: {}\nversion: {}\nauthors:\n  - name: {}\n{released}license: {}\n",
        quoted(&facts.title),
        quoted(&facts.version),
        quoted(&facts.creator),
        LICENCE.0,
    )
}

/// Writes a text as JSON, which is valid YAML too.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns the year of the last poll; 1970 for a data set without polls.
fn year(facts: &PackageFacts) -> i64 {
    let text = facts.last_poll.unwrap_or_default().to_string();
    text.split('-').next().and_then(|year| year.parse().ok()).unwrap_or(1970)
}
