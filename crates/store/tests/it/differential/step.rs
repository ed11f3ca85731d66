//! One random call: its kind, and numbers and a word that the kind interprets.

use feed::{EntryId, FeedId, FeedUrl, Time};
use proptest::prelude::*;

use crate::sample::{at, url};

macro_rules! acts {
    ($($area:ident: $($act:ident)*;)*) => {
        /// The kind of a call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Act { $($($act,)*)* }

        impl Act {
            /// The kinds of calls by area.
            pub const AREAS: &'static [&'static [Act]] = &[$(&[$(Act::$act),*]),*];
        }
    };
}

acts! {
    feeds: AddFeed AddFeeds RemoveFeed TitleFeed TagFeed RenameTag MoveFeed SetFeed SetTag MakeTag
        SetSetting StorePace StoreKnownPace Replan Forgive SetBack ExpectPolls SetFetchSettings
        SetFeedRegion SetTagRegion SetOwnSetting SharedSetting TryWriting;
    polls: Poll PollTogether PollDeciding Unchanged Fail Gone StalePoll Redirect Retain Index
        BeginRecording PollRecorded EndRecording StoreGrants EndGrants;
    pushes: BeginPush AskHub ConfirmPush DenyPush ReceivePush RecordPush DropPush DetachPushes
        EndPush BeginCloud AskCloud HearCloud TakeCloudNotices EndClouds NoteHubRefused
        TakeRefusedPushes;
    people: MarkRead Star MarkListRead UndoMarks MarkScope Choose AddAccount RemoveAccount
        SetPassword BeginSession EndSession UseSession SetRole LeaveAccount ConnectIdentity
        LogInElsewhere AddToken UseToken RevokeToken LeaveRequest TakeRequests AnswerRequest
        RefuseRequests;
    accounts: AddAccountAs ChangePassword BeginSessionAt EndSessionNumbered EndOtherSessions
        DisconnectIdentity AddShareTarget RemoveShareTarget PutPosition CountAccount BringMarks
        ApplyMarks;
    subscribers: Subscribe SubscribeTo SubscribePrivately Unsubscribe TakeBack RestUnwanted OwnFeed
        TitleSubscription TagSubscription OrderSubscriptions MakeTagOf RenameTagOf NoteReading
        CountReaders ForgetReaders ChangeFeeds RenameTagUndoably OrderTags UndoBulk;
    queries: PutQuery PutQueryOf DropQuery Deliver PostponeDelivery AddDeadLetter
        ReplayDeadLetters DeliverLetter RefuseLetter NoteRelevance JumpBack ShareQuery
        HandOverQueries DropAbandonedQueries RequestHub ConfirmHubRequest RetryHubRequest
        RefuseHubRequest NoteHubPush EndLeases RemoveSubscriber;
    rules: PutRule SwitchRule RuleOnPast DeleteRule ApplyRules ApplyToPast LabelEntries SetLabels
        RenameLabel DeleteLabel ShowHidden PutDevice RemoveDevice NotePushed PostponeDevice
        DropDevice DropNotifications;
    articles: AskArticle AskNewArticles AskEditedArticles RecordArticle KeepArticle FailArticle
        PassDeadlines RetainArticles BeginArticle PostponeArticles PutRobots NoteIconOrigins
        RecordIcon ForgetIcons;
    statistics: OpenEntries ForgetOpenings CountPopularity PutNeighbours NoteSites RecordSiteLook
        ForgetLinks DismissFeed ForgetDismissed TakeStaleFigures RecordStories;
}

/// Words with upper case, other scripts, wildcards, quotes, and one that begins like another. No
/// text of a feed has a null character: the parser drops it.
const WORDS: &[&str] = &[
    "",
    "a",
    "A",
    "alpha",
    "Alphabet",
    "ünï",
    "ÜNÏ",
    "Ärger",
    "ß",
    "İ",
    "вулкан",
    "火山",
    "🌋",
    "%",
    "_",
    "a_b",
    "\\",
    "'",
    "\"",
    "z z",
    "Zeta",
    "query:Q",
    "\u{301}e",
];

/// One call.
#[derive(Clone, Debug)]
pub struct Step {
    pub act: Act,
    pub feed: u32,
    pub n: u32,
    pub flag: bool,
    pub word: &'static str,
    /// Seconds since the start of the history.
    pub secs: i64,
}

/// Draws a history of so many steps at most. Each has an area from which it takes more calls, so
/// that calls of one area meet often.
pub fn history(steps_max: usize) -> impl Strategy<Value = Vec<Step>> {
    let area = prop::sample::select(Act::AREAS);
    area.prop_flat_map(move |area| prop::collection::vec(step(area), steps_max / 2..=steps_max))
}

fn step(area: &'static [Act]) -> impl Strategy<Value = Step> {
    let all: Vec<Act> = Act::AREAS.concat();
    let (usual, of_area) = (prop::sample::select(all), prop::sample::select(area));
    // A history without feeds, polls and people says little.
    let often = [
        Act::AddFeed,
        Act::AddFeed,
        Act::Poll,
        Act::Poll,
        Act::PollTogether,
        Act::PollTogether,
        Act::PutQuery,
        Act::AddAccount,
        Act::Subscribe,
        Act::MarkRead,
    ];
    let often = prop::sample::select(often.to_vec());
    let word = prop::sample::select(WORDS);
    let act = prop_oneof![4 => usual, 5 => of_area, 5 => often];
    (act, 0..6_u32, any::<u32>(), any::<bool>(), word, 0..40_i64 * 86_400)
        .prop_map(|(act, feed, n, flag, word, secs)| Step { act, feed, n, flag, word, secs })
}

impl Step {
    pub fn feed(&self) -> FeedId {
        FeedId(self.feed + 1)
    }

    pub fn now(&self) -> Time {
        at(self.secs)
    }

    /// One of a few addresses, in three domains.
    pub fn url(&self, n: u32) -> FeedUrl {
        let n = n % 8;
        url(&format!("https://d{}.example/F{n}?q={n}", n % 3))
    }

    /// Some numbers of entries. A few of these entries do not exist.
    pub fn entries(&self) -> Vec<EntryId> {
        (0..32).filter(|n| self.n >> n & 1 == 1).map(|n| EntryId(n + 1)).collect()
    }

    pub fn entry(&self) -> EntryId {
        EntryId(i64::from(self.n % 40))
    }

    /// A small number, for rows that a database has numbered.
    pub fn small(&self) -> i64 {
        i64::from(self.n % 5) + 1
    }

    pub fn word(&self) -> String {
        self.word.to_owned()
    }

    pub fn some_word(&self) -> Option<&str> {
        self.flag.then_some(self.word)
    }

    /// Returns one bit of the number.
    pub fn bit(&self, bit: u32) -> bool {
        self.n >> bit & 1 == 1
    }

    /// One of three short names.
    pub fn name(&self) -> String {
        ["n1", "N1", "ñ"][(self.n % 3) as usize].to_owned()
    }

    /// A digest that few others are.
    pub fn digest(&self) -> [u8; 32] {
        [u8::try_from(self.n % 3).unwrap_or(0); 32]
    }
}
