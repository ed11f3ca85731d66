//! One HTML page: headings, prose, tables with the best of each column marked, drawings.

use std::fmt::Write;

use super::escaped;

/// A whole report.
#[derive(Clone, Debug)]
pub struct Page {
    pub title: String,
    /// What the reader is told first.
    pub lead: String,
    pub sections: Vec<Section>,
    /// The exact command, and the program's version.
    pub command: String,
    pub version: String,
    /// What the data cannot tell, one sentence each.
    pub limits: Vec<String>,
}

/// A part of a page.
#[derive(Clone, Debug)]
pub enum Section {
    Heading(String),
    Prose(String),
    Table(Table),
    Figure(Figure),
}

/// Rows of texts; the best of each column may be marked.
#[derive(Clone, Debug)]
pub struct Table {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Row and column of the cells to mark.
    pub marked: Vec<(usize, usize)>,
}

/// A drawing with its caption, and its numbers.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of its files, without ending.
    pub name: String,
    pub caption: String,
    pub svg: String,
    pub csv: String,
}

const CSS: &str = "\
:root{--ink:#1f2328;--soft:#57606a;--line:#d8dee4;--ground:#fff;--panel:#f6f8fa;--good:#0a6640}\
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;\
--line:#30363d;--ground:#0d1117;\
--panel:#161b22;--good:#56d364}}\
*{box-sizing:border-box}\
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,sans-serif}\
main{max-width:62rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}\
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .5rem}h2{font-size:1.25rem;margin:2.5rem 0 .5rem}\
.lead{font-size:1.1rem;color:var(--soft);margin:0 0 1.5rem;max-width:46rem}\
p{max-width:46rem}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;margin:.75rem 0;\
font-variant-numeric:tabular-nums;white-space:nowrap}\
th,td{padding:.35rem .8rem;border-bottom:1px solid var(--line);text-align:right}\
th:first-child,td:first-child{text-align:left}th{color:var(--soft);font-weight:600}\
td.best{color:var(--good);font-weight:700}td.best::after{content:\" ●\";\
font-size:.6em;vertical-align:middle}\
tbody tr:hover{background:var(--panel)}\
figure{margin:1.25rem 0;padding:1rem;border:1px solid var(--line);border-radius:10px}\
figure svg{width:100%;height:auto;display:block}\
figcaption{color:var(--soft);font-size:.9rem;margin-top:.5rem}\
pre{background:var(--panel);padding:.9rem 1rem;border-radius:8px;overflow-x:auto;font-size:.85rem}\
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:1rem;\
color:var(--soft);font-size:.9rem}";

impl Page {
    pub fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut html = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\">\
             <title>{title}</title><style>{CSS}</style></head><body><main>\n\
             <h1>{title}</h1>\n<p class=\"lead\">{}</p>\n",
            escaped(&self.lead),
        );
        for section in &self.sections {
            section.write(&mut html);
        }
        html.push_str("<h2>How it was made</h2>\n");
        let _ = write!(
            html,
            "<pre>{}</pre>\n<p>Tidings {}. The same command gives the same page.</p>\n",
            escaped(&self.command),
            escaped(&self.version),
        );
        html.push_str("<footer><strong>What these data cannot tell</strong><ul>");
        for limit in &self.limits {
            let _ = write!(html, "<li>{}</li>", escaped(limit));
        }
        html.push_str("</ul></footer>\n</main></body></html>\n");
        html
    }

    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().filter_map(|section| match section {
            Section::Figure(figure) => Some(figure),
            _ => None,
        })
    }
}

impl Section {
    fn write(&self, html: &mut String) {
        let _ = match self {
            Section::Heading(text) => writeln!(html, "<h2>{}</h2>", escaped(text)),
            Section::Prose(text) => writeln!(html, "<p>{}</p>", escaped(text)),
            Section::Table(table) => {
                table.write(html);
                Ok(())
            }
            Section::Figure(figure) => writeln!(
                html,
                "<figure>{}<figcaption>{}</figcaption></figure>",
                figure.svg,
                escaped(&figure.caption),
            ),
        };
    }
}

impl Table {
    fn write(&self, html: &mut String) {
        html.push_str("<div class=\"scroll\"><table><thead><tr>");
        for name in &self.header {
            let _ = write!(html, "<th>{}</th>", escaped(name));
        }
        html.push_str("</tr></thead><tbody>");
        for (i, row) in self.rows.iter().enumerate() {
            html.push_str("<tr>");
            for (j, cell) in row.iter().enumerate() {
                let class = if self.marked.contains(&(i, j)) { " class=\"best\"" } else { "" };
                let _ = write!(html, "<td{class}>{}</td>", escaped(cell));
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody></table></div>\n");
    }

    /// The table as CSV.
    pub fn csv(&self) -> String {
        let line = |row: &Vec<String>| {
            row.iter().map(|cell| super::plot::field(cell)).collect::<Vec<_>>().join(",") + "\n"
        };
        std::iter::once(&self.header).chain(&self.rows).map(line).collect()
    }
}
