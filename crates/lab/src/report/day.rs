//! Draws one day of a feed: its entries at the top, and the polls of each policy below.

use std::fmt::Write;

use feed::Time;

use super::{STYLE, colour, escaped};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 12.0;
const ROW: f64 = 34.0;
const TOP: f64 = 14.0;
const DAY_MS: f64 = 86_400_000.0;

/// One line of the drawing: a name and moments.
#[derive(Clone, Debug)]
pub struct DayLine {
    pub name: String,
    /// The hue of its policy, as in the other figures.
    pub hue: usize,
    pub moments: Vec<Time>,
}

/// Draws the day that begins at `from`. The first line has the entries.
pub fn day(from: Time, entries: &DayLine, policies: &[DayLine]) -> String {
    let height = TOP + ROW * (policies.len() as f64 + 1.0) + 34.0;
    let mut svg = format!(
        "<svg class=\"fig\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\">{STYLE}"
    );
    let floor = height - 30.0;
    for hour in (0..=24).step_by(3) {
        let x = LEFT + f64::from(hour) / 24.0 * (WIDTH - LEFT - RIGHT);
        let anchor = if hour == 24 { "end" } else { "middle" };
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{floor:.1}\"/>\
             <text class=\"soft\" x=\"{x:.1}\" y=\"{:.1}\" \
             text-anchor=\"{anchor}\">{hour} h</text>",
            floor + 18.0
        );
    }
    let mut lane = |row: usize, lane: &DayLine, colour: &str| {
        let y = TOP + ROW * (row as f64 + 0.5);
        let _ = write!(
            svg,
            "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 10.0,
            y + 4.0,
            escaped(&lane.name),
        );
        for moment in &lane.moments {
            let share = moment.millis_since(from) as f64 / DAY_MS;
            if !(0.0..=1.0).contains(&share) {
                continue;
            }
            let x = LEFT + share * (WIDTH - LEFT - RIGHT);
            let _ = match row {
                0 => write!(
                    svg,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"var(--ink)\" \
                     fill-opacity=\".75\"><title>{moment}</title></circle>"
                ),
                _ => write!(
                    svg,
                    "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" \
                     stroke=\"{colour}\" \
                     stroke-width=\"2\"><title>{moment}</title></line>",
                    y - 10.0,
                    y + 10.0,
                ),
            };
        }
    };
    lane(0, entries, "");
    for (i, policy) in policies.iter().enumerate() {
        lane(i + 1, policy, &colour(policy.hue));
    }
    svg.push_str("</svg>");
    svg
}
