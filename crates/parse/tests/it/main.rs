//! Real documents, and what must come out of them.

mod corpus;
mod difference;
mod documents;
mod expect;
mod facts;
mod feedparser;
mod lists;
mod model;
mod robustness;
mod written;
