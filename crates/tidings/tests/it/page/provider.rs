//! Login at a real identity provider (`oidc-provider` of npm), by following its forms over HTTP,
//! and attacks on the way.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::needed::missing;
use crate::program::{Daemon, Instance, free_address, path_text};
use crate::wire::addresses;

const PACKAGE: &str = "oidc-provider@9.13.3";
const SECRET: &str = "a secret: with + signs";

/// Returns the folder with the provider, which npm installs once; `None` without npm.
fn installed() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("identity-provider");
        std::fs::create_dir_all(&folder).unwrap();
        let script = folder.join("provider.mjs");
        std::fs::write(script, include_str!("provider.mjs")).unwrap();
        std::fs::write(folder.join("package.json"), "{\"private\": true}").unwrap();
        if folder.join("node_modules/oidc-provider").exists() {
            return Some(folder);
        }
        let mut npm = Command::new("npm");
        npm.current_dir(&folder).args(["install", "--no-audit", "--no-fund", PACKAGE]);
        npm.stdin(Stdio::null()).stdout(Stdio::null());
        npm.status().is_ok_and(|status| status.success()).then_some(folder)
    });
    folder.as_deref()
}

/// A provider that is killed when it is dropped.
struct ProviderProcess {
    child: Child,
    issuer: String,
}

impl ProviderProcess {
    fn start(folder: &Path, tidings: SocketAddr, alg: &str) -> ProviderProcess {
        let (host, port) = (addresses(1)[0].to_string(), "4711");
        let back = format!("http://{tidings}/login/provider/back");
        let mut command = Command::new("node");
        command.current_dir(folder).args(["provider.mjs", &host, port, &back, alg]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        // Keeps the pipe open: the provider writes to it later.
        std::thread::spawn(move || lines.for_each(drop));
        ProviderProcess { child, issuer: format!("http://{host}:{port}") }
    }
}

impl Drop for ProviderProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A browser without script: it keeps cookies for each host.
#[derive(Clone, Default)]
struct Browser {
    cookies: BTreeMap<(String, String), String>,
}

#[derive(Debug)]
struct Answer {
    status: u16,
    location: String,
    body: String,
    url: String,
}

impl Browser {
    fn ask(&mut self, method: &str, url: &str, form: &str) -> Answer {
        let rest = url.strip_prefix("http://").unwrap_or_else(|| panic!("{url}"));
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = if path.is_empty() { "/" } else { path };
        let mut cookies: Vec<String> = Vec::new();
        for ((of, name), value) in &self.cookies {
            if of == host {
                cookies.push(format!("{name}={value}"));
            }
        }
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
            cookies.join("; "),
            form.len()
        )
        .unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut answer = Answer {
            status: head.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0),
            location: String::new(),
            body: body.to_owned(),
            url: url.to_owned(),
        };
        for line in head.lines().skip(1) {
            let Some((name, value)) = line.split_once(": ") else { continue };
            if name.eq_ignore_ascii_case("location") {
                let base = format!("http://{host}");
                let is_path = value.starts_with('/');
                answer.location = if is_path { format!("{base}{value}") } else { value.to_owned() };
            } else if name.eq_ignore_ascii_case("set-cookie") {
                let pair = value.split(';').next().unwrap();
                let (name, value) = pair.split_once('=').unwrap();
                self.cookies.insert((host.to_owned(), name.to_owned()), value.to_owned());
            }
        }
        self.cookies.retain(|_, value| !value.is_empty());
        answer
    }

    fn get(&mut self, url: &str) -> Answer {
        self.ask("GET", url, "")
    }

    /// Logs in at the provider. Returns the address to which the provider sends the browser.
    fn log_in(&mut self, start: &str, name: &str) -> String {
        let mut answer = self.get(start);
        for _ in 0..20 {
            if answer.location.contains("/login/provider/back") {
                return answer.location;
            }
            answer = if !answer.location.is_empty() {
                let to = answer.location.clone();
                self.get(&to)
            } else if answer.body.contains("name=\"login\"") {
                let url = answer.url.clone();
                self.ask("POST", &url, &format!("prompt=login&login={name}&password=x"))
            } else if answer.body.contains("value=\"consent\"") {
                let url = answer.url.clone();
                self.ask("POST", &url, "prompt=consent")
            } else {
                panic!("the provider shows an unknown page: {answer:?}");
            };
        }
        panic!("the provider redirects without end: {answer:?}");
    }
}

struct Site {
    instance: Instance,
    provider: ProviderProcess,
    daemon: Daemon,
    at: String,
}

/// Starts a provider and an instance with one account, the admin anna.
fn site(folder: &Path, alg: &str, more: &str) -> Site {
    let listen = free_address();
    let provider = ProviderProcess::start(folder, listen, alg);
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), format!("{SECRET}\n")).unwrap();
    let instance = Instance::with_config(&format!(
        "public_url = \"http://{listen}\"\n[login]\noidc_issuer = \"{}\"\n\
         oidc_client_id = \"tidings\"\noidc_client_secret_file = \"{}\"\n\
         oidc_name = \"Test Login\"\n{more}",
        provider.issuer,
        path_text(secret.path())
    ));
    instance.run(&["user", "add", "anna", "--no-password"]).ok();
    let daemon = instance.daemon_at(listen, &[]).ready();
    Site { instance, provider, daemon, at: format!("http://{listen}") }
}

impl Site {
    fn me(&self, browser: &mut Browser) -> String {
        browser.get(&format!("{}/api/v1/me", self.at)).body
    }

    fn start(&self, to: &str) -> String {
        format!("{}/login/provider?to={to}", self.at)
    }
}

#[test]
fn a_person_of_the_provider_gets_an_account_and_takes_over_none() {
    let Some(folder) = installed() else { return missing("npm and its package oidc-provider") };
    let site = site(folder, "ES256", "create_accounts = true\npasswords = false\n");
    let mut browser = Browser::default();
    let page = browser.get(&format!("{}/login?to=/feeds", site.at));
    assert!(page.body.contains("Log in with Test Login"), "{}", page.body);
    assert!(!page.body.contains("type=\"password\""), "{}", page.body);
    let planted = (site.daemon.listen.to_string(), "tidings_session".to_owned());
    browser.cookies.insert(planted.clone(), "planted".to_owned());
    let back = browser.log_in(&site.start("/feeds"), "anna");
    let before = browser.clone();
    let answer = browser.get(&back);
    assert_eq!((answer.status, answer.location), (303, format!("{}/feeds", site.at)));
    assert_ne!(browser.cookies[&planted], "planted", "a planted session is worth nothing");
    let me = site.me(&mut browser);
    assert!(me.contains("\"anna-2\"") && me.contains("\"reader\""), "{me}");
    // The same answer again, even in the same browser, logs nobody in.
    let mut replayed = before;
    let answer = replayed.get(&back);
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert!(site.me(&mut replayed).contains("401"));
    // The second login finds the same account.
    let mut again = Browser::default();
    let back = again.log_in(&site.start("/"), "anna");
    again.get(&back);
    assert!(site.me(&mut again).contains("\"anna-2\""));
    let list = site.instance.run(&["user", "list", "--json"]).ok().json();
    assert_eq!(list.as_array().unwrap().len(), 2, "{list}");
    // The command line can always make a token.
    site.instance.run(&["user", "token", "anna"]).ok();
}

#[test]
fn answers_that_do_not_belong_to_this_browser_and_provider_are_refused() {
    let Some(folder) = installed() else { return missing("npm and its package oidc-provider") };
    let site = site(folder, "RS256", "create_accounts = true\n");
    let mut browser = Browser::default();
    let back = browser.log_in(&site.start("//evil.example"), "mallory");
    let refuse = |mut browser: Browser, url: &str, why: &str| {
        let answer = browser.get(url);
        assert_eq!(answer.status, 400, "{why}: {}", answer.body);
        assert!(site.me(&mut browser).contains("401"), "{why}");
    };
    refuse(Browser::default(), &back, "another browser");
    let state = back.split("state=").nth(1).unwrap().split('&').next().unwrap();
    refuse(browser.clone(), &back.replace(state, "AAAA"), "another state");
    refuse(browser.clone(), &format!("{back}&state={state}"), "two states");
    let mut forged = browser.clone();
    let name = (site.daemon.listen.to_string(), "tidings_login".to_owned());
    let value = forged.cookies[&name].clone();
    forged.cookies.insert(name, value.replacen('e', "f", 1));
    refuse(forged, &back, "a forged cookie");
    // Each attempt ends with its first answer, so each case needs a login of its own.
    let other = |change: &dyn Fn(&str) -> String, why: &str| {
        let mut browser = Browser::default();
        let back = browser.log_in(&site.start("/"), "mallory");
        refuse(browser, &change(&back), why);
    };
    let without = |back: &str| back.split("&iss=").next().unwrap().to_owned();
    other(&|back| without(back), "no issuer, although the provider sends it");
    other(&|back| format!("{}&iss=http%3A%2F%2Fevil.example", without(back)), "another issuer");
    // The first answer is still good, and leads to a page of ours only.
    let answer = browser.get(&back);
    assert_eq!((answer.status, answer.location), (303, format!("{}/", site.at)));
    let wrong = browser.get(&format!("{}/login/provider/back?error=access_denied", site.at));
    assert_eq!(wrong.status, 400);
    assert!(site.provider.issuer.starts_with("http://127."), "a private address");
}

#[test]
fn an_account_is_connected_by_its_owner_or_at_the_machine() {
    let Some(folder) = installed() else { return missing("npm and its package oidc-provider") };
    let site = site(folder, "RS256", "");
    let mut browser = Browser::default();
    let back = browser.log_in(&site.start("/"), "anna");
    let answer = browser.get(&back);
    assert_eq!(answer.status, 403, "the same name is not enough: {}", answer.body);
    assert!(answer.body.contains("No account on this server is connected"), "{}", answer.body);
    assert!(site.instance.run(&["user", "list", "--json"]).ok().json()[1].is_null());
    site.instance.run(&["user", "connect", "anna", "anna"]).ok();
    let mut browser = Browser::default();
    let back = browser.log_in(&site.start("/"), "anna");
    assert_eq!(browser.get(&back).status, 303);
    assert!(site.me(&mut browser).contains("\"admin\""));
    // With a session, another person of the provider can be connected, after a question.
    let mut second = browser.clone();
    second.cookies.retain(|(host, _), _| *host == site.daemon.listen.to_string());
    let back = second.log_in(&site.start("/account"), "anna-at-work");
    let page = second.get(&back);
    assert!(page.status == 200 && page.body.contains("anna-at-work"), "{}", page.body);
    let field = |name: &str| {
        let rest = page.body.split(&format!("name=\"{name}\" value=\"")).last().unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let (key, claim) = (field("form_key"), field("claim"));
    let connect = format!("{}/account/connect", site.at);
    let without_key = second.ask("POST", &connect, &format!("claim={claim}"));
    assert_eq!(without_key.status, 403, "{}", without_key.body);
    let forged = format!("form_key={key}&claim={}", claim.replacen('e', "f", 1));
    assert_eq!(second.ask("POST", &connect, &forged).status, 400);
    let done = second.ask("POST", &connect, &format!("form_key={key}&claim={claim}"));
    assert_eq!(done.status, 303, "{}", done.body);
    let listed = site.instance.run(&["user", "connect", "anna"]).ok().stdout;
    assert!(listed.contains("anna-at-work"), "{listed}");
    let bert = ["user", "add", "bert", "--no-password"];
    site.instance.run(&bert).ok();
    let taken = site.instance.run(&["user", "connect", "bert", "anna"]);
    taken.says(2, &["another account"]);
}
