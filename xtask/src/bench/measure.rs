//! Measures a process from outside: wall time, processor time with its children, and peak memory.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The kernel's clock tick, in which `/proc` counts processor time (man 5 proc). It has been 100 on
/// every Linux since 2.6.
const TICKS_PER_SECOND: f64 = 100.0;

/// The cost of one run.
#[derive(Clone, Debug)]
pub struct Cost {
    pub wall_seconds: f64,
    pub cpu_seconds: f64,
    pub memory_bytes_peak: u64,
    pub stdout: String,
}

/// Runs a command to its end. With `may_fail`, an exit status other than 0 is accepted.
pub fn run(command: &mut Command, may_fail: bool) -> Result<Cost> {
    let shown = format!("{:?}", command.get_program());
    let out = tempfile::tempfile()?;
    let before = children_cpu_seconds()?;
    let start = now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .spawn()
        .with_context(|| format!("starting {shown}"))?;
    let mut memory_bytes_peak = 0;
    let status = loop {
        memory_bytes_peak = memory_bytes_peak.max(memory(child.id(), "VmHWM").unwrap_or(0));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let wall_seconds = start.elapsed().as_secs_f64();
    if !status.success() && !may_fail {
        bail!("{shown} ended with {status}");
    }
    let cpu_seconds = children_cpu_seconds()? - before;
    let stdout = read_back(out)?;
    Ok(Cost { wall_seconds, cpu_seconds, memory_bytes_peak, stdout })
}

fn read_back(mut file: fs::File) -> Result<String> {
    use std::io::{Read, Seek};
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the processor time of all children that ended and were waited for.
fn children_cpu_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").context("reading /proc/self/stat")?;
    // The name in brackets may contain spaces, so fields are counted after it.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok());
    let (user, system) = ticks(13).zip(ticks(14)).context("/proc/self/stat has an odd form")?;
    Ok((user + system) / TICKS_PER_SECOND)
}

/// Reads a line of `/proc/PID/status`, in bytes: `VmRSS` is the present memory, `VmHWM` the peak.
pub fn memory(pid: u32, line: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|l| l.starts_with(line))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[expect(clippy::disallowed_methods, reason = "a stopwatch has to read a clock")]
pub fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_works_costs_processor_time_and_memory() {
        let line = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done";
        let cost = run(Command::new("sh").args(["-c", line]), false).unwrap();
        assert_eq!(cost.stdout, "done\n");
        assert!(cost.cpu_seconds > 0.0 && cost.memory_bytes_peak > 0, "{cost:?}");
    }

    #[test]
    fn a_failure_is_an_error_unless_it_is_expected() {
        assert!(run(&mut Command::new("false"), false).is_err());
        assert!(run(&mut Command::new("false"), true).is_ok());
    }
}
