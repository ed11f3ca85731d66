//! Writes one HTML page: headings, prose, tables with the best values marked, drawings.

use std::fmt::Write;

use super::escaped;

/// A whole report.
#[derive(Clone, Debug)]
pub struct ReportPage {
    pub title: String,
    /// The introduction.
    pub lead: String,
    pub sections: Vec<ReportSection>,
    /// The exact command, and the program's version.
    pub command: String,
    pub version: String,
    /// The limits of the data, one sentence each.
    pub limits: Vec<String>,
}

/// A part of a page.
#[derive(Clone, Debug)]
pub enum ReportSection {
    Heading(String),
    Prose(String),
    Table(ReportTable),
    Figure(ReportFigure),
}

/// Rows of texts, with the best values marked.
#[derive(Clone, Debug)]
pub struct ReportTable {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// The row and column of the marked cells.
    pub marked: Vec<(usize, usize)>,
    /// The table as CSV with plain numbers; empty if the rows already have them.
    pub data: String,
}

/// A drawing with its caption, and its numbers.
#[derive(Clone, Debug)]
pub struct ReportFigure {
    /// The name of its files, without extension.
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
main{max-width:78rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}\
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .5rem}h2{font-size:1.25rem;margin:2.5rem 0 .5rem}\
.lead{font-size:1.1rem;color:var(--soft);margin:0 0 1.5rem;max-width:46rem}\
p{max-width:46rem}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;margin:.75rem 0;\
font-variant-numeric:tabular-nums}\
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right}\
td{white-space:nowrap}th{vertical-align:bottom}\
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--ground)}\
th{color:var(--soft);font-weight:600}\
td.best{color:var(--good);font-weight:700}td.best::after{content:\" ●\";\
font-size:.6em;vertical-align:middle}\
tbody tr:hover{background:var(--panel)}\
figure{margin:1.25rem 0;padding:1rem;border:1px solid var(--line);border-radius:10px;\
max-width:62rem}\
figure svg{width:100%;height:auto;display:block}\
figcaption{color:var(--soft);font-size:.9rem;margin-top:.5rem}\
a{color:inherit}.data{font-size:.85rem;color:var(--soft);margin:0 0 1rem}\
pre{background:var(--panel);padding:.9rem 1rem;border-radius:8px;overflow-x:auto;font-size:.85rem}\
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:1rem;\
color:var(--soft);font-size:.9rem}";

impl ReportPage {
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
        let mut n_tables = 0;
        for section in &self.sections {
            n_tables += usize::from(matches!(section, ReportSection::Table(_)));
            section.write(&mut html, n_tables);
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

    /// Returns the tables, each with the name of its file.
    pub fn tables(&self) -> impl Iterator<Item = (String, &ReportTable)> {
        let tables = self.sections.iter().filter_map(|section| match section {
            ReportSection::Table(table) => Some(table),
            _ => None,
        });
        (1..).map(table_file).zip(tables)
    }

    pub fn figures(&self) -> impl Iterator<Item = &ReportFigure> {
        self.sections.iter().filter_map(|section| match section {
            ReportSection::Figure(figure) => Some(figure),
            _ => None,
        })
    }
}

fn table_file(number: usize) -> String {
    format!("table-{number}.csv")
}

impl ReportSection {
    /// Writes the section. `n_tables` counts the tables of the page so far.
    fn write(&self, html: &mut String, n_tables: usize) {
        let _ = match self {
            ReportSection::Heading(text) => writeln!(html, "<h2>{}</h2>", escaped(text)),
            ReportSection::Prose(text) => writeln!(html, "<p>{}</p>", escaped(text)),
            ReportSection::Table(table) => {
                table.write(html);
                let file = table_file(n_tables);
                writeln!(html, "<p class=\"data\"><a href=\"{file}\">Table as CSV</a></p>")
            }
            ReportSection::Figure(figure) => {
                let name = escaped(&figure.name);
                writeln!(
                    html,
                    "<figure>{}<figcaption>{} <a href=\"{name}.csv\">Data as CSV</a>, \
                     <a href=\"{name}.svg\">drawing as SVG</a></figcaption></figure>",
                    figure.svg,
                    escaped(&figure.caption),
                )
            }
        };
    }
}

impl ReportTable {
    /// Creates a table without marks.
    pub fn plain(header: Vec<String>, rows: Vec<Vec<String>>) -> ReportTable {
        ReportTable { header, rows, marked: Vec::new(), data: String::new() }
    }

    fn write(&self, html: &mut String) {
        html.push_str("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
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

    /// Returns the table as CSV.
    pub fn csv(&self) -> String {
        if !self.data.is_empty() {
            return self.data.clone();
        }
        let line = |row: &Vec<String>| {
            row.iter().map(|cell| super::plot::field(cell)).collect::<Vec<_>>().join(",") + "\n"
        };
        std::iter::once(&self.header).chain(&self.rows).map(line).collect()
    }
}
