//! Clicks, keys and files, as a person gives them to a page.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Browser, PAUSE};

/// Checks of an element that moves or is covered, at intervals of [`PAUSE`].
const PLACES_MAX: usize = 100;
/// Clicks until the page requests the next one, and the time for each: `STEPS` times `STEP`.
const CLICKS_MAX: usize = 4;
const STEPS: usize = 100;
const STEP: Duration = Duration::from_millis(100);

impl Browser {
    /// Clicks in the middle of an element, or of its first line, as a person does.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let place = self.place(selector);
        for (kind, clicks) in [("mousePressed", 1), ("mouseReleased", 1)] {
            self.call(
                "Input.dispatchMouseEvent",
                json!({
                    "type": kind, "x": place[0], "y": place[1], "button": "left",
                    "clickCount": clicks,
                }),
            );
        }
    }

    /// Returns the middle of an element once it stays where it is and nothing covers it. A part of
    /// the page that opens moves the others.
    #[track_caller]
    fn place(&mut self, selector: &str) -> Value {
        self.wait(&format!("document.querySelector({})", json!(selector)));
        let expression = format!(
            "(() => {{ const e = document.querySelector({}); \
             e?.scrollIntoView({{block: 'center'}}); const r = e?.getClientRects()[0]; \
             if (!r) return null; const x = r.x + r.width / 2, y = r.y + r.height / 2; \
             return [x, y, e.contains(document.elementFromPoint(x, y))]; }})()",
            json!(selector)
        );
        let mut place = Value::Null;
        for _ in 0..PLACES_MAX {
            let before = std::mem::replace(&mut place, self.eval(&expression));
            if place[2] == true && place == before {
                return place;
            }
            std::thread::sleep(PAUSE);
        }
        assert!(!place.is_null(), "{selector} is not shown");
        place
    }

    /// Clicks a link or a button, and waits until the next page is loaded. A click that requests no
    /// page was lost, so it is repeated.
    #[track_caller]
    pub fn follow(&mut self, selector: &str) {
        self.wait("document.readyState === 'complete'");
        let (before, n_requested) = (self.seen.clone(), self.n_requested);
        for _ in 0..CLICKS_MAX {
            self.click(selector);
            if self.requests_more(n_requested, selector) {
                break;
            }
        }
        self.await_load(&before, selector);
    }

    /// Waits until more documents were requested than these.
    fn requests_more(&mut self, n_requested: usize, what: &str) -> bool {
        let mut left = STEPS;
        while self.n_requested == n_requested && left > 0 {
            left -= usize::from(self.hear(what, STEP).is_none());
        }
        self.n_requested > n_requested
    }

    /// Presses one key.
    pub fn press(&mut self, key: &str) {
        let text = match key {
            "Enter" => "\r",
            one if one.chars().count() == 1 => one,
            _ => "",
        };
        let code = if key == "Enter" {
            13
        } else if key == "Escape" {
            27
        } else {
            0
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.call(
                "Input.dispatchKeyEvent",
                json!({
                    "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code,
                }),
            );
        }
    }

    /// Types into the element with the focus.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Replaces the text of a field.
    #[track_caller]
    pub fn fill(&mut self, selector: &str, text: &str) {
        self.click(selector);
        self.eval(&format!("document.querySelector({}).select()", json!(selector)));
        match text {
            "" => self.press("Delete"),
            text => self.type_text(text),
        }
    }

    /// Chooses a file.
    pub fn choose_file(&mut self, selector: &str, file: &str) {
        let root = self.call("DOM.getDocument", json!({}))["root"]["nodeId"].clone();
        let found = json!({"nodeId": root, "selector": selector});
        let node = self.call("DOM.querySelector", found)["nodeId"].clone();
        self.call("DOM.setFileInputFiles", json!({"files": [file], "nodeId": node}));
    }
}
