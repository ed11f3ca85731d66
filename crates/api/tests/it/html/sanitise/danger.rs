//! Finds active, tracking or styled content in HTML. It uses the standard tokeniser and its own
//! lists, so that it shares no mistake with the sanitiser.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

#[derive(Default)]
struct Finds(RefCell<Vec<String>>);

impl TokenSink for Finds {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => self.judge(&tag),
            Token::CommentToken(text) => self.say(format!("a comment: {text}")),
            Token::DoctypeToken(_) => self.say("a doctype".to_owned()),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Finds {
    fn say(&self, what: String) {
        self.0.borrow_mut().push(what);
    }

    fn judge(&self, tag: &Tag) {
        const ACTING: [&str; 27] = [
            "applet", "audio", "base", "body", "button", "canvas", "embed", "form", "frame",
            "frameset", "head", "html", "iframe", "input", "link", "math", "meta", "noscript",
            "object", "param", "script", "select", "source", "style", "svg", "textarea", "video",
        ];
        if ACTING.contains(&&*tag.name) {
            self.say(format!("the element {}", tag.name));
        }
        for attribute in &tag.attrs {
            let (name, value) = (&*attribute.name.local, attribute.value.trim());
            let named_badly = name.starts_with("on")
                || ["style", "class", "id", "srcdoc", "formaction", "action", "background", "ping"]
                    .contains(&name);
            let address = ["href", "src", "cite", "longdesc", "data", "poster"].contains(&name);
            let safe = ["http://", "https://", "mailto:"].iter().any(|s| value.starts_with(s));
            if named_badly || (address && !safe) {
                self.say(format!("{name}={value} on {}", tag.name));
            }
        }
    }
}

/// Returns the dangerous parts of this HTML.
pub fn dangers(html: &str) -> Vec<String> {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let tokenizer = Tokenizer::new(Finds::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

#[test]
fn dangers_are_found() {
    for bad in [
        "<script>",
        "<a href=javascript:x>",
        "<b onclick=x>",
        "<p style=x>",
        "<!-- x -->",
        "<img src='data:x'>",
        "<svg>",
        "<iframe>",
    ] {
        assert!(!dangers(bad).is_empty(), "{bad}");
    }
    assert!(dangers("<p>a <a href='https://x'>b</a>").is_empty());
}
