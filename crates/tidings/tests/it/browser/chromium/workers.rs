//! The network of a page and of its service worker, and the worker's registration.

use serde_json::{Value, json};

use super::Browser;

impl Browser {
    /// Cuts the network, of the page and of its service worker, or restores it.
    pub fn set_offline(&mut self, offline: bool) {
        let state = json!({
            "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
        });
        self.call("Network.emulateNetworkConditions", state.clone());
        let page = self.session.clone();
        let cut = std::mem::take(&mut self.cut_workers);
        let workers = if cut.is_empty() { self.workers() } else { cut };
        for worker in workers {
            self.session = Some(worker.clone());
            self.call("Network.enable", json!({}));
            self.call("Network.emulateNetworkConditions", state.clone());
            self.session.clone_from(&page);
            match offline {
                true => self.cut_workers.push(worker),
                false => drop(self.call("Target.detachFromTarget", json!({"sessionId": worker}))),
            }
        }
    }

    /// Attaches to the service workers of the site and returns their sessions.
    fn workers(&mut self) -> Vec<String> {
        let found = self.call("Target.getTargets", json!({}));
        let targets = found["targetInfos"].as_array().cloned().unwrap_or_default();
        let workers = targets.iter().filter(|target| target["type"] == "service_worker");
        let ids: Vec<Value> = workers.map(|worker| worker["targetId"].clone()).collect();
        let attach = |id: &Value| {
            let wish = json!({"targetId": id, "flatten": true});
            self.call("Target.attachToTarget", wish)["sessionId"].as_str().map(str::to_owned)
        };
        ids.iter().filter_map(attach).collect()
    }

    /// Waits for the number of the service worker's registration. `ServiceWorker` is enabled.
    pub fn worker_registration(&mut self) -> String {
        loop {
            if let Some(id) = self.registration.take() {
                return id;
            }
            self.next("the registration of the service worker");
        }
    }
}
