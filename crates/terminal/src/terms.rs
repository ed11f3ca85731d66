//! The settings of exchanges and of the parser, as they travel to terminals. All terminals read
//! alike because the controller gives these values to each.

use std::sync::Arc;

use dispatch::{FetchTerms, LookTerms, ParseTerms};
use fetch::{Fetcher, SetupError};

/// The rule by which this program gives entries their keys.
pub fn same_rule(rule: u8) -> bool {
    rule == feed::IDENTITY_RULE
}

/// Returns the terms of these settings.
pub fn look_terms(fetch: &fetch::Settings, parse: &parse::Limits, keeps_bodies: bool) -> LookTerms {
    let mut resolve: Vec<_> =
        fetch.resolve.iter().map(|(name, to)| (name.clone(), to.clone())).collect();
    resolve.sort();
    LookTerms {
        fetch: FetchTerms {
            user_agent: fetch.user_agent.clone(),
            allow_private: fetch.allow_private,
            loopback_only: fetch.loopback_only,
            no_cache: fetch.no_cache,
            connect_timeout: fetch.connect_timeout,
            header_timeout: fetch.header_timeout,
            body_timeout: fetch.body_timeout,
            body_bytes_max: fetch.body_bytes_max,
            resolve,
            keep_heads: fetch.keep_heads,
            authorities_pem: fetch.authorities_pem.clone(),
        },
        parse: ParseTerms {
            items_max: parse.items_max,
            depth_max: parse.depth_max,
            field_bytes_max: parse.field_bytes_max,
            list_max: parse.list_max,
        },
        keeps_bodies,
    }
}

/// Sets up a fetcher by these terms. The operator of the terminal vouches for its proxies.
pub fn fetcher(terms: &FetchTerms, proxies: &[String]) -> Result<Arc<Fetcher>, SetupError> {
    let mut settings = fetch::Settings::new("");
    settings.user_agent.clone_from(&terms.user_agent);
    settings.allow_private = terms.allow_private;
    settings.loopback_only = terms.loopback_only;
    settings.no_cache = terms.no_cache;
    settings.connect_timeout = terms.connect_timeout;
    settings.header_timeout = terms.header_timeout;
    settings.body_timeout = terms.body_timeout;
    settings.body_bytes_max = terms.body_bytes_max;
    settings.resolve = terms.resolve.iter().cloned().collect();
    settings.keep_heads = terms.keep_heads;
    settings.authorities_pem.clone_from(&terms.authorities_pem);
    settings.outgoing_proxies = proxies.to_vec();
    Fetcher::new(settings).map(Arc::new)
}

/// The limits of the parser by these terms.
pub fn limits(terms: &ParseTerms) -> parse::Limits {
    parse::Limits {
        items_max: terms.items_max,
        depth_max: terms.depth_max,
        field_bytes_max: terms.field_bytes_max,
        list_max: terms.list_max,
    }
}

#[cfg(test)]
mod tests {
    use feed::{RequestSettings, Validators};
    use fetch::Fetched;

    use super::*;

    #[test]
    fn a_terminal_reads_by_the_settings_of_the_controller() {
        let mut fetch = fetch::Settings::new("https://example.org/about");
        fetch.resolve.insert("a.test".to_owned(), vec![[127, 0, 0, 1].into()]);
        fetch.body_bytes_max = 17;
        let parse = parse::Limits { items_max: 3, ..parse::Limits::default() };
        let terms = look_terms(&fetch, &parse, true);
        let sent = serde_json::to_vec(&terms).expect("written");
        let arrived: LookTerms = serde_json::from_slice(&sent).expect("read");
        assert_eq!(arrived, terms);
        assert!(fetcher(&arrived.fetch, &[]).is_ok());
        assert_eq!(limits(&arrived.parse).items_max, 3);
    }

    #[tokio::test]
    async fn a_terminal_uses_the_private_proxies_of_its_own_settings() {
        let settings = fetch::Settings::new("https://example.org/about");
        let terms = look_terms(&settings, &parse::Limits::default(), false).fetch;
        // Nobody listens there.
        let proxy = "http://127.0.0.1:1".to_owned();
        let own = RequestSettings { proxy: Some(proxy.clone()), ..RequestSettings::default() };
        let url = url::Url::parse("http://8.8.8.8/feed").expect("a URL");
        for (proxies, is_blocked) in [(Vec::new(), true), (vec![proxy], false)] {
            let fetcher = fetcher(&terms, &proxies).expect("a fetcher");
            let place = fetcher.place().await;
            let exchange = place.fetch(&url, &Validators::default(), Some(&own)).await;
            let blocked = matches!(exchange.fetched, Fetched::Blocked { .. });
            assert_eq!(blocked, is_blocked, "{:?}", exchange.fetched);
        }
    }
}
