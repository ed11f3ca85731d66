//! A real browser, driven by Chromium's DevTools protocol over two pipes. It needs no port and no
//! extra crate. It clicks and types like a person.

// The tests of another crate include this file by its path.
#[path = "chromium/input.rs"]
mod input;
#[path = "chromium/workers.rs"]
mod workers;

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Far above what a loaded machine needs.
const PATIENCE: Duration = Duration::from_secs(120);
/// A page loads itself again once or twice.
const NAVIGATIONS_MAX: usize = 20;
/// The pause between two checks of a page.
const PAUSE: Duration = Duration::from_millis(30);
const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync \
    --disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe";

/// A browser with one window.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    number: u64,
    session: Option<String>,
    site: SocketAddr,
    /// Exceptions of the page, and violations of its content security policy.
    faults: Vec<String>,
    /// Every address that the page requested.
    asked: Vec<String>,
    /// The main frame, and the documents that it has shown, by their loaders.
    frame: Value,
    seen: Vec<Value>,
    /// How many documents it has requested.
    n_requested: usize,
    /// The documents that are loaded, by their loaders.
    loads: Vec<Value>,
    /// The sessions of service workers whose network is cut. Only they can restore it.
    cut_workers: Vec<String>,
    /// The number of the service worker's registration, once it is known.
    registration: Option<String>,
    home: TempDir,
}

impl Browser {
    /// Starts a browser for this site only.
    pub fn start(site: SocketAddr) -> Browser {
        Browser::start_in(tempfile::tempdir().unwrap(), site)
    }

    /// Ends the browser and starts it again, with everything that it keeps on its disk.
    pub fn restart(&mut self) {
        self.session = None;
        // A browser that ends may not answer any more.
        self.send("Browser.close", &json!({}));
        self.child.wait().unwrap();
        let home = std::mem::replace(&mut self.home, tempfile::tempdir().unwrap());
        *self = Browser::start_in(home, self.site);
    }

    fn start_in(home: TempDir, site: SocketAddr) -> Browser {
        // The protocol uses the descriptors 3 and 4. A shell connects our pipes to them.
        let line = format!(
            "exec chromium {FLAGS} --user-data-dir='{}' about:blank 3<&0 4>&1 0</dev/null \
             1>/dev/null 2>/dev/null",
            home.path().display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &line])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell is there");
        let (to, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(out).split(0).map_while(Result::ok) {
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        let (faults, asked, seen, loads) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut browser = Browser {
            child,
            to,
            from,
            number: 0,
            session: None,
            site,
            faults,
            asked,
            frame: Value::Null,
            seen,
            n_requested: 0,
            loads,
            cut_workers: Vec::new(),
            registration: None,
            home,
        };
        let made = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        // The main frame of a page has the number of the page.
        browser.frame = made["targetId"].clone();
        let target = json!({"targetId": made["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", target);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log", "DOM"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.call("Page.setLifecycleEventsEnabled", json!({"enabled": true}));
        browser
    }

    /// Calls a method of the protocol and waits for its result.
    pub fn call(&mut self, method: &str, params: impl Into<Value>) -> Value {
        let answer = self.ask(method, &params.into());
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    /// Calls a method and waits for the answer: a result or an error.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let number = self.send(method, params);
        loop {
            let answer = self.next(method);
            if answer["id"] == json!(number) {
                return answer;
            }
        }
    }

    /// Calls a method. Returns the number that its answer will have.
    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.number += 1;
        let number = self.number;
        let mut message = json!({"id": number, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let sent = self.to.write_all(format!("{message}\0").as_bytes());
        sent.and_then(|()| self.to.flush()).expect("chromium listens; `make packages` installs it");
        number
    }

    /// Returns the next message and records faults and requests of the page.
    fn next(&mut self, what: &str) -> Value {
        let message = self.hear(what, PATIENCE);
        message.unwrap_or_else(|| panic!("chromium does not answer: {what}"))
    }

    /// The same; `None` if no message comes in time.
    fn hear(&mut self, what: &str, within: Duration) -> Option<Value> {
        let message = match self.from.recv_timeout(within) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => {
                panic!("chromium ended, or is not installed (`make packages`): {what}")
            }
        };
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Page.lifecycleEvent") if params["frameId"] == self.frame => {
                let loader = &params["loaderId"];
                if !self.seen.contains(loader) {
                    self.seen.push(loader.clone());
                }
                if params["name"] == "load" {
                    self.loads.push(loader.clone());
                }
            }
            Some("ServiceWorker.workerRegistrationUpdated") => {
                let id = &params["registrations"][0]["registrationId"];
                self.registration = id.as_str().map(str::to_owned);
            }
            Some("Runtime.exceptionThrown") => self.faults.push(params.to_string()),
            Some("Runtime.bindingCalled") => self.faults.push(format!("called: {params}")),
            // A dialog would block all following steps.
            Some("Page.javascriptDialogOpening") => panic!("the page opened a dialog: {params}"),
            // A refusal by the server is not a fault of the page.
            Some("Log.entryAdded")
                if params["entry"]["source"] != "network"
                    && params["entry"]["level"] == "error" =>
            {
                self.faults.push(params["entry"].to_string());
            }
            Some("Network.responseReceived") => {
                let response = &params["response"];
                if response["status"].as_u64() >= Some(500) {
                    self.faults.push(format!("{} {}", response["status"], response["url"]));
                }
            }
            Some("Network.requestWillBeSent") => {
                self.asked.extend(params["request"]["url"].as_str().map(str::to_owned));
                let is_document = params["type"] == "Document" && params["frameId"] == self.frame;
                self.n_requested += usize::from(is_document);
            }
            _ => {}
        }
        Some(message)
    }

    /// Goes to a page of the site.
    pub fn open(&mut self, path: &str) {
        let before = self.seen.clone();
        let url = format!("http://{}{path}", self.site);
        self.call("Page.navigate", json!({"url": url}));
        self.await_load(&before, path);
    }

    /// Waits until a document is loaded that is not one of those before. A page that is left may
    /// still finish to load.
    fn await_load(&mut self, before: &[Value], what: &str) {
        while !self.loads.iter().any(|loader| !before.contains(loader)) {
            self.next(what);
        }
        self.loads.clear();
    }

    /// Evaluates an expression in the page. A page that loads itself again meanwhile gives an error
    /// instead of an answer, and the next page is asked.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true,
            "userGesture": true,
        });
        for _ in 0..NAVIGATIONS_MAX {
            let answer = self.ask("Runtime.evaluate", &params);
            if answer["error"].is_null() {
                let answer = &answer["result"];
                assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
                return answer["result"]["value"].clone();
            }
            self.wait("document.readyState === 'complete'");
        }
        panic!("the page loads itself again and again: {expression}");
    }

    /// Returns whether an expression is true now. It is not on a page that is being loaded or
    /// unloaded.
    pub fn holds(&mut self, expression: &str) -> bool {
        let params = json!({"expression": format!("!!({expression})"), "returnByValue": true});
        let answer = self.ask("Runtime.evaluate", &params);
        answer["result"]["result"]["value"] == json!(true)
    }

    /// Opens a page until an expression is true there.
    #[track_caller]
    pub fn open_until(&mut self, path: &str, expression: &str) {
        let mut tries = PATIENCE.as_millis() / PAUSE.as_millis();
        self.open(path);
        while !self.holds(expression) {
            tries -= 1;
            assert!(tries > 0, "waited in vain for {expression} at {path}");
            std::thread::sleep(PAUSE);
            self.open(path);
        }
    }

    /// Waits until an expression is true. A page that is being unloaded gives no answer yet, or an
    /// error.
    #[track_caller]
    pub fn wait(&mut self, expression: &str) {
        let mut tries = PATIENCE.as_millis() / PAUSE.as_millis();
        loop {
            if self.holds(expression) {
                return;
            }
            tries -= 1;
            if tries == 0 {
                let text = self.eval("location.href + '\\n' + document.body.innerText");
                panic!("waited in vain for {expression} at {}", text.as_str().unwrap_or(""));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until the page is loaded, with its script, and shows a text.
    #[track_caller]
    pub fn sees(&mut self, text: &str) {
        let text = json!(text);
        self.wait(&format!(
            "document.readyState === 'complete' && document.body.innerText.includes({text})"
        ));
    }

    /// Allows or forbids scripts from now on.
    pub fn scripts(&mut self, on: bool) {
        self.call("Emulation.setScriptExecutionDisabled", json!({"value": !on}));
    }

    /// Returns the origin of the site.
    pub fn origin(&self) -> String {
        format!("http://{}", self.site)
    }

    /// Adds a function of this name to every page that is opened from now on. A call of it counts
    /// as a fault.
    pub fn trap(&mut self, name: &str) {
        let binding = format!("{name}_was_called");
        self.call("Runtime.addBinding", json!({"name": binding}));
        let source = format!("window.{name} = () => {binding}(location.href)");
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": source}));
    }

    /// Returns and clears the faults since the last call.
    pub fn take_faults(&mut self) -> Vec<String> {
        std::mem::take(&mut self.faults)
    }

    pub fn size(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
    }

    /// Sets the theme of the system: `light` or `dark`.
    pub fn light(&mut self, light: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": light});
        self.call("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    /// Returns the window as a PNG in base64.
    pub fn picture(&mut self) -> String {
        let shot = self.call("Page.captureScreenshot", json!({"format": "png"}));
        shot["data"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the whole page as a PNG in base64, also what is below the window.
    pub fn whole_picture(&mut self) -> String {
        let size = self.call("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
        let clip = json!({
            "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1,
        });
        let wish = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let shot = self.call("Page.captureScreenshot", wish);
        shot["data"].as_str().unwrap_or_default().to_owned()
    }

    /// Fails if a page had a fault or requested another site.
    #[track_caller]
    pub fn was_clean(&self) {
        self.was_clean_but_for("about:blank");
    }

    /// The same, with one address that the page may request.
    #[track_caller]
    pub fn was_clean_but_for(&self, allowed: &str) {
        assert_eq!(self.faults, Vec::<String>::new());
        let own = format!("http://{}/", self.site);
        // Chromium draws the controls of its player from data addresses, which ask nobody. The
        // policy forbids them to the page itself.
        let is_own = |url: &&String| url.starts_with(&own) || url.starts_with("data:image/svg");
        let foreign: Vec<&String> = self.asked.iter().filter(|url| !is_own(url)).collect();
        let is_allowed = |url: &&String| *url == "about:blank" || *url == allowed;
        assert!(foreign.iter().all(is_allowed), "{foreign:?}");
        assert!(!self.asked.is_empty(), "requests are noted");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // `exec` replaced the shell by Chromium, whose children end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
