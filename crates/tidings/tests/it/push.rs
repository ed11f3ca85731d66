//! Pushes in both directions: WebSub, webhooks and files, instances that read each other.

mod deliveries;
mod hub_attacks;
mod pushed;
mod ring;
mod ring_pushed;
mod rsscloud;
mod web_push;
mod websub;
mod websub_subscriber;
