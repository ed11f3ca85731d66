//! Polls as servers see them: pace, redirects, failures, outages, budgets.

mod budget;
mod faulty;
mod guard;
mod moves;
mod outage;
mod polite;
mod replay;
