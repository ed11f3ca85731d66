//! Figures of the operating system about this process, under the names that all exporters use. On
//! systems other than Linux they are missing.

use crate::monitoring::exposition::{Exposition, MetricKind};

/// Linux reports CPU time to user space in hundredths of a second, on all configurations.
const TICKS_PER_SECOND: f64 = 100.0;

pub fn write(text: &mut Exposition) {
    use MetricKind::{Counter, Gauge};
    if let Some(seconds) = read("/proc/self/stat").as_deref().and_then(cpu_seconds) {
        let help = "Processor time used.";
        text.one(Counter, "process_cpu_seconds_total", help, seconds);
    }
    if let Some(bytes) = read("/proc/self/status").as_deref().and_then(resident_bytes) {
        let help = "Memory in use.";
        text.one(Gauge, "process_resident_memory_bytes", help, bytes);
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        let help = "Open files and connections.";
        text.one(Gauge, "process_open_fds", help, open.count() as f64);
    }
    if let Some(max) = read("/proc/self/limits").as_deref().and_then(max_fds) {
        let help = "Files and connections that may be open.";
        text.one(Gauge, "process_max_fds", help, max);
    }
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Reads the CPU time: user and system time are fields 14 and 15. The second field, the name, may
/// hold spaces.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}

fn resident_bytes(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kib| kib * 1024.0)
}

fn max_fds(limits: &str) -> Option<f64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_where_linux_puts_them() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4 1 0 0 0 250 50 0 0 20 0 9 0 100 1 1";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(resident_bytes("Name:\ttidings\nVmRSS:\t   2048 kB\n"), Some(2_097_152.0));
        let limits = "Limit  Soft  Hard  Units\nMax open files            1024    20000    files\n";
        assert_eq!(max_fds(limits), Some(1024.0));
        assert_eq!(cpu_seconds("nonsense"), None);
    }
}
