//! Clicks, keys and files, as a person gives them to a page.

use serde_json::json;

use super::Browser;

impl Browser {
    /// Clicks in the middle of an element, or of its first line, as a person does.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        self.wait(&format!("document.querySelector({})", json!(selector)));
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({}); \
             e.scrollIntoView({{block: 'center'}}); const r = e.getClientRects()[0]; \
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()",
            json!(selector)
        ));
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

    /// Clicks a link or a button, and waits until the next page is loaded.
    #[track_caller]
    pub fn follow(&mut self, selector: &str) {
        self.wait("document.readyState === 'complete'");
        let before = self.seen.clone();
        self.click(selector);
        self.await_load(&before, selector);
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
