//! A network on this machine: a bridge, and behind it a namespace for each process. A process that
//! is unplugged has neither bus nor database nor web, and nobody tells it.

use std::io::Write;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use crate::needed::missing;

/// The hardware address of the bridge. Without one of its own, the bridge takes that of a cable and
/// changes it when the cable is pulled out. Then no namespace reaches it until all have noticed.
const HARDWARE_ADDRESS: &str = "02:00:5e:10:00:01";

/// The bridge and its namespaces. All of them vanish when it is dropped. The addresses are a part
/// of 198.18.0.0/15, which is reserved for tests (RFC 2544).
pub struct Network {
    bridge: String,
    n_addresses: u8,
    namespaces: Vec<String>,
}

/// A namespace, and the end of its cable in the bridge.
pub struct Namespace {
    pub name: String,
    pub address: Ipv4Addr,
    bridge: String,
    cable: String,
}

impl Network {
    /// Makes the bridge. The test ends with a word about it if that is not allowed: not every
    /// root may make networks.
    pub fn start() -> Option<Network> {
        if !Command::new("ip").arg("-V").stdout(Stdio::null()).status().is_ok_and(|s| s.success()) {
            missing("the program ip");
            return None;
        }
        let bridge = format!("tidings{}", std::process::id());
        let lines = format!(
            "link add {bridge} address {HARDWARE_ADDRESS} type bridge\nlink set {bridge} up\n"
        );
        if !ip(&[], &lines) {
            missing("the right to make network namespaces");
            return None;
        }
        Some(Network { bridge, n_addresses: 0, namespaces: Vec::new() })
    }

    fn address(&mut self) -> Ipv4Addr {
        self.n_addresses += 1;
        Ipv4Addr::new(198, 18, (std::process::id() & 0xff) as u8, self.n_addresses)
    }

    /// Addresses on this side of the bridge, which every namespace reaches.
    pub fn addresses(&mut self, n: usize) -> Vec<Ipv4Addr> {
        let addresses: Vec<Ipv4Addr> = (0..n).map(|_| self.address()).collect();
        let add = |address: &Ipv4Addr| format!("addr add {address}/24 dev {}\n", self.bridge);
        assert!(ip(&[], &addresses.iter().map(add).collect::<String>()), "addresses");
        addresses
    }

    pub fn namespace(&mut self) -> Namespace {
        let (id, n) = (std::process::id(), self.namespaces.len());
        let (name, cable) = (format!("tidings-{id}-{n}"), format!("td{id}n{n}"));
        let (address, bridge) = (self.address(), self.bridge.clone());
        self.namespaces.push(name.clone());
        let outside = format!(
            "netns add {name}\nlink add {cable} type veth peer name inner netns {name}\n\
             link set {cable} master {bridge} up\n"
        );
        assert!(ip(&[], &outside), "the namespace {name}");
        let inside =
            format!("link set lo up\naddr add {address}/24 dev inner\nlink set inner up\n");
        assert!(ip(&["-n", &name], &inside), "the inside of {name}");
        Namespace { name, address, bridge, cable }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in &self.namespaces {
            ip(&[], &format!("netns del {name}\n"));
        }
        ip(&[], &format!("link del {}\n", self.bridge));
    }
}

impl Namespace {
    /// Pulls the cable out: packets vanish.
    pub fn unplug(&self) {
        assert!(ip(&[], &format!("link set {} nomaster\n", self.cable)));
    }

    pub fn plug(&self) {
        assert!(ip(&[], &format!("link set {} master {}\n", self.cable, self.bridge)));
    }

    /// Switches the network card off or on. Without it, connections fail at once.
    pub fn switch(&self, is_on: bool) {
        let state = if is_on { "up" } else { "down" };
        assert!(ip(&["-n", &self.name], &format!("link set inner {state}\n")));
    }
}

/// Runs the program `ip` with these lines. Returns whether all of them worked.
fn ip(options: &[&str], lines: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(options).args(["-batch", "-"]).stdin(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let written = child.stdin.take().unwrap().write_all(lines.as_bytes());
    child.wait().unwrap().success() && written.is_ok()
}
