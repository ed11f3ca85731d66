//! Polls as servers see them: pace, redirects, failures, outages, budgets.

mod articles;
mod budget;
mod faulty;
mod fetch_settings;
mod guard;
mod kept_pages;
mod moves;
mod outage;
mod polite;
pub mod replay;
