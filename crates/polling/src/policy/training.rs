//! What the policies that need training are trained on, in the lab; live they learn daily.

use feed::Time;

/// What a policy that needs training is trained on.
#[derive(Clone, Copy, Debug)]
pub struct Training<'a> {
    /// Publication times of the feed, oldest first; those from `end` on are not looked at.
    pub history: &'a [Time],
    /// The training phase. Histograms use all of the history before `end`, also what is older
    /// than `start`; `lihz` polls daily from `start` on.
    pub start: Time,
    pub end: Time,
    /// Hours and weekdays are those of this zone: seconds east of UTC.
    pub zone_secs: i32,
}
