//! One random call: its kind, and numbers and a word that the kind interprets.

use feed::{EntryId, FeedId, FeedUrl, Time};
use proptest::prelude::*;

use crate::sample::{at, url};

macro_rules! acts {
    ($($act:ident),* $(,)?) => {
        /// The kind of a call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Act { $($act),* }

        impl Act {
            pub const ALL: &'static [Act] = &[$(Act::$act),*];
        }
    };
}

acts!(
    AddFeed,
    AddFeeds,
    RemoveFeed,
    TitleFeed,
    TagFeed,
    RenameTag,
    MoveFeed,
    SetFeed,
    SetTag,
    MakeTag,
    SetSetting,
    StorePace,
    Replan,
    Forgive,
    SetBack,
    ExpectPolls, //
    Poll,
    PollTogether,
    PollDeciding,
    Unchanged,
    Fail,
    Gone,
    StalePoll,
    Redirect,
    Retain,
    Index, //
    BeginPush,
    AskHub,
    ConfirmPush,
    DenyPush,
    ReceivePush,
    RecordPush,
    DropPush,
    DetachPushes,
    EndPush,
    BeginCloud,
    AskCloud,
    HearCloud,
    TakeCloudNotices,
    EndClouds, //
    MarkRead,
    Star,
    MarkListRead,
    UndoMarks,
    MarkScope,
    Choose,
    AddAccount,
    RemoveAccount,
    SetPassword,
    BeginSession,
    EndSession,
    UseSession,
    SetRole,
    LeaveAccount,
    ConnectIdentity,
    LogInElsewhere,
    AddToken,
    UseToken,
    RevokeToken,
    LeaveRequest,
    TakeRequests,
    AnswerRequest,
    RefuseRequests, //
    PutQuery,
    DropQuery,
    Deliver,
    PostponeDelivery,
    AddDeadLetter,
    ReplayDeadLetters,
    NoteRelevance,
    JumpBack,
    RequestHub,
    ConfirmHubRequest,
    RetryHubRequest,
    RefuseHubRequest,
    NoteHubPush,
    EndLeases,
    RemoveSubscriber,
);

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

pub fn step() -> impl Strategy<Value = Step> {
    let usual = prop::sample::select(Act::ALL);
    // A history without feeds and polls says little.
    let often =
        prop::sample::select(&[Act::AddFeed, Act::Poll, Act::PollTogether, Act::PutQuery][..]);
    let word = prop::sample::select(WORDS);
    let act = prop_oneof![3 => usual, 1 => often];
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
}
