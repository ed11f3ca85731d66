//! Titles that somebody else wrote, in the form in which they are stored.

/// Returns a title without spaces around it and cut to a number of bytes; `None` if it is empty.
pub fn shortened(title: &str, bytes_max: usize) -> Option<String> {
    let title = title.trim();
    let title = title[..title.floor_char_boundary(bytes_max)].trim_end();
    (!title.is_empty()).then(|| title.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_cut_between_two_characters() {
        assert_eq!(shortened("  News ", 100).as_deref(), Some("News"));
        assert_eq!(shortened("Käse", 2).as_deref(), Some("K"));
        assert_eq!(shortened("a b", 2).as_deref(), Some("a"));
        assert_eq!(shortened(" \n", 100), None);
    }
}
