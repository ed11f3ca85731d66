//! Finds active content and links of a page with the standard tokeniser. It shares no code with the
//! templates or the sanitiser.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts, states,
};

#[derive(Default)]
struct Finds {
    dangers: RefCell<Vec<String>>,
    links: RefCell<Vec<String>>,
}

impl TokenSink for Finds {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(tag) = token
            && tag.kind == TagKind::StartTag
        {
            self.judge(&tag);
            // Browsers read the content of these elements as text.
            return match &*tag.name {
                "script" => TokenSinkResult::RawData(states::ScriptData),
                "style" => TokenSinkResult::RawData(states::Rawtext),
                "title" | "textarea" => TokenSinkResult::RawData(states::Rcdata),
                _ => TokenSinkResult::Continue,
            };
        }
        TokenSinkResult::Continue
    }
}

impl Finds {
    fn say(&self, what: String) {
        self.dangers.borrow_mut().push(what);
    }

    fn judge(&self, tag: &Tag) {
        const NEVER: [&str; 11] = [
            "applet",
            "base",
            "embed",
            "frame",
            "frameset",
            "iframe",
            "math",
            "noscript",
            "object",
            "style",
            "foreignobject",
        ];
        let name = &*tag.name;
        if NEVER.contains(&name) || name.contains("pwn") {
            self.say(format!("the element {name}"));
        }
        let value = |wanted: &str| {
            let attribute = tag.attrs.iter().find(|a| &*a.name.local == wanted)?;
            Some(attribute.value.to_string())
        };
        let own = ["/script.js?v=", "/app.js?v=", "/player.js?v="];
        let is_own = |src: String| own.iter().any(|file| src.starts_with(file));
        if name == "script" && !value("src").is_some_and(is_own) {
            self.say("a script that is not ours".to_owned());
        }
        if name == "meta" && value("http-equiv").is_some() {
            self.say("a meta element that acts".to_owned());
        }
        for attribute in &tag.attrs {
            let (key, value) = (&*attribute.name.local, &*attribute.value);
            if key.starts_with("on") || key == "srcdoc" || key == "style" || key.contains("pwn") {
                self.say(format!("{key}={value} on {name}"));
            }
            // Browsers drop white space and control characters before they look for a scheme.
            let plain: String =
                value.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
            let plain = plain.to_ascii_lowercase();
            let acts = ["javascript:", "vbscript:", "data:"].iter().any(|s| plain.starts_with(s));
            let address =
                ["href", "src", "action", "formaction", "data", "poster", "srcset", "xlink:href"];
            if acts && address.contains(&key) {
                self.say(format!("{key}={value} on {name}"));
            }
            let leaves = plain.starts_with("//") || plain.starts_with("http");
            if leaves && (key == "src" || key == "action" || key == "formaction") {
                self.say(format!("{key}={value} on {name} leads elsewhere"));
            }
            if name == "a" && key == "href" {
                self.links.borrow_mut().push(value.to_owned());
            }
        }
    }
}

fn read(html: &str) -> Finds {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let tokenizer = Tokenizer::new(Finds::default(), TokenizerOpts::default());
    // Scripts are not run, so the tokeniser reads to the end.
    let _ = tokenizer.feed(&input);
    assert!(input.is_empty(), "the page was not read to its end");
    tokenizer.end();
    tokenizer.sink
}

/// Returns active content of this page that is not ours.
pub fn dangers(html: &str) -> Vec<String> {
    read(html).dangers.into_inner()
}

/// Returns the targets of its links.
pub fn links(html: &str) -> Vec<String> {
    read(html).links.into_inner()
}

#[test]
fn what_acts_is_found() {
    for bad in [
        "<script>x</script>",
        "<script src=//evil.test></script>",
        "<a href=' java\tscript:x'>",
        "<b onclick=x>",
        "<p style=x>",
        "<img src=//evil.test>",
        "<form action=https://evil.test>",
        "<meta http-equiv=refresh>",
        "<iframe>",
        "<title></title><base href=/>",
    ] {
        assert!(!dangers(bad).is_empty(), "{bad}");
    }
    let good = "<title><script></title><script src=/script.js?v=1></script>\
                <a href='https://x'>b</a><form action=/login>";
    assert_eq!(dangers(good), Vec::<String>::new());
    assert_eq!(links(good), ["https://x"]);
}
