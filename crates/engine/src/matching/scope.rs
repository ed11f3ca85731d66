//! Limits the sources of a query to the feeds of its owner, by the tags that the store gives to
//! feeds for this.

use query::{Access, Condition, Query, QuerySource, Test};
use store::QueryScope;

/// A tag that no feed has, in place of a query that the owner may not read.
const NO_FEED: &str = "\u{1f}";

/// Replaces `ALL FEEDS` and tags by those of the owner. If others see the matches, private feeds
/// are read only where the query names their address.
///
/// Other queries are read only if `may_read` says so. A query that was shared when this one was
/// made may have been dropped. Its name may belong to somebody else now.
pub fn scoped(query: &mut Query, scope: QueryScope, may_read: impl Fn(&str) -> bool) {
    let with_private = !scope.shared && query.access == Access::Private;
    let joined = query.join.iter_mut().map(|join| &mut join.sources);
    for sources in std::iter::once(&mut query.sources).chain(joined) {
        let all = std::mem::take(sources).into_iter();
        let readable = all.map(|source| match source {
            QuerySource::Feed(name) if !may_read(&name.text) => {
                QuerySource::Tag(NO_FEED.to_owned())
            }
            source => source,
        });
        *sources = readable.flat_map(|source| scoped_source(source, scope, with_private)).collect();
    }
    if scope.owner.is_none() {
        return;
    }
    let sides = query
        .join
        .iter_mut()
        .flat_map(|join| [&mut join.left_condition, &mut join.right_condition]);
    for condition in sides.chain([&mut query.condition]).flatten() {
        scope_condition(condition, scope, with_private);
    }
}

/// Returns the private feeds that a query may read although others see its matches: those that it
/// names. `None`: only its owner sees them.
pub fn named_private(query: &Query, scope: QueryScope) -> Option<Vec<String>> {
    if scope.shared {
        return Some(Vec::new());
    }
    let named = || query.urls().into_iter().map(|url| scope.private_feed(url)).collect();
    (query.access != Access::Private).then(named)
}

fn scoped_source(source: QuerySource, scope: QueryScope, with_private: bool) -> Vec<QuerySource> {
    let tags = |tags: Vec<String>| tags.into_iter().map(QuerySource::Tag).collect();
    match source {
        QuerySource::AllFeeds => tags(scope.all_feeds(with_private)),
        QuerySource::Tag(tag) => tags(scope.tag(&tag, with_private)),
        QuerySource::Url(url) => {
            let private = (!scope.shared).then(|| QuerySource::Tag(scope.private_feed(&url)));
            [QuerySource::Url(url)].into_iter().chain(private).collect()
        }
        QuerySource::Feed(name) => vec![QuerySource::Feed(name)],
    }
}

fn scope_condition(condition: &mut Condition, scope: QueryScope, with_private: bool) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter_mut().for_each(|part| scope_condition(part, scope, with_private));
        }
        Condition::Not(inner) => scope_condition(inner, scope, with_private),
        Condition::Test(Test::Tagged(tag)) => {
            let tags = scope.tag(tag, with_private).into_iter().map(Test::Tagged);
            *condition = Condition::Any(tags.map(Condition::Test).collect());
        }
        Condition::Test(_) => {}
    }
}
