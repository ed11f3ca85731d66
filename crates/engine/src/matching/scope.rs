//! Limits the sources of a query to the feeds of its owner, by the tags that the store gives to
//! feeds for this.

use query::{Access, Condition, Query, QuerySource, Test};
use store::QueryScope;

/// Replaces `ALL FEEDS` and tags by those of the owner. If others see the matches, private feeds
/// are read only where the query names their address.
pub fn scoped(query: &mut Query, scope: QueryScope) {
    let with_private = !scope.shared && query.access == Access::Private;
    let joined = query.join.iter_mut().map(|join| &mut join.sources);
    for sources in std::iter::once(&mut query.sources).chain(joined) {
        let all = std::mem::take(sources).into_iter();
        *sources = all.flat_map(|source| scoped_source(source, scope, with_private)).collect();
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

fn scoped_source(source: QuerySource, scope: QueryScope, with_private: bool) -> Vec<QuerySource> {
    let tags = |tags: Vec<String>| tags.into_iter().map(QuerySource::Tag).collect();
    match source {
        QuerySource::AllFeeds => tags(scope.all_feeds(with_private)),
        QuerySource::Tag(tag) => tags(scope.tag(&tag, with_private)),
        QuerySource::Url(url) => {
            let private = scope.private_feed(&url).map(QuerySource::Tag);
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
