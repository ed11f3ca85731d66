//! CPU time and memory that hostile pages cost: `cargo run --release -p article --example hostile`.
//! Each page is read by a process of its own, as the live program reads it. The example fails if a
//! page kills its process or takes more than 4 s of CPU or 150 MB.

mod pages;

use std::error::Error;
use std::process::Command;

use pages::HostilePage;

const CPU_MS_MAX: u64 = 4000;
const MEMORY_KB_MAX: u64 = 150_000;
/// The stack of the live program's threads for extraction.
const STACK_BYTES: usize = 8 << 20;
/// Rows of the table. All pages are checked.
const SHOWN: usize = 15;

/// The cost of a page: of making and reading it, and of the process around both.
struct PageCost {
    name: String,
    cpu_ms: u64,
    memory_kb: u64,
    result: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let pages = all();
    if let Some(number) = std::env::args().nth(1) {
        let page = pages.into_iter().nth(number.parse()?).ok_or("the page does not exist")?;
        return read(&page);
    }
    let n_pages = pages.len();
    let mut costs = Vec::new();
    for (number, page) in pages.into_iter().enumerate() {
        costs.push(measured(number, page.name)?);
    }
    let is_over = |cost: &&PageCost| cost.cpu_ms > CPU_MS_MAX || cost.memory_kb > MEMORY_KB_MAX;
    let over: Vec<String> = costs.iter().filter(is_over).map(|cost| cost.name.clone()).collect();
    for (title, by) in [
        ("most CPU time", (|cost| cost.cpu_ms) as fn(&PageCost) -> u64),
        ("most memory", |cost| cost.memory_kb),
    ] {
        costs.sort_by_key(|cost| std::cmp::Reverse(by(cost)));
        println!("{title:<44} {:>8} {:>8}   result", "CPU s", "MB");
        for PageCost { name, cpu_ms, memory_kb, result } in costs.iter().take(SHOWN) {
            let (seconds, mb) = (*cpu_ms as f64 / 1000.0, *memory_kb as f64 / 1000.0);
            println!("{name:<44} {seconds:>8.2} {mb:>8.1}   {result}");
        }
        println!();
    }
    println!("{n_pages} pages, at most {CPU_MS_MAX} ms and {MEMORY_KB_MAX} kB each");
    if over.is_empty() { Ok(()) } else { Err(format!("beyond the limits: {over:?}").into()) }
}

fn all() -> Vec<HostilePage> {
    [pages::nesting(), pages::attributes(), pages::masses(), pages::linked_data(), pages::noise()]
        .into_iter()
        .flatten()
        .collect()
}

/// Reads one page in another process and returns its cost.
fn measured(number: usize, name: String) -> Result<PageCost, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?).arg(number.to_string()).output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{name}: the process ended with {}: {why}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let mut lines = text.lines();
    let mut number = || {
        lines
            .next()
            .ok_or("a line is missing")
            .and_then(|line| line.parse::<u64>().map_err(|_| "a line is not a number"))
    };
    let (cpu_ms, memory_kb) = (number()?, number()?);
    let result = lines.next().unwrap_or_default().to_owned();
    Ok(PageCost { name, cpu_ms, memory_kb, result })
}

/// Reads a page and prints CPU time, peak memory and the result.
fn read(page: &HostilePage) -> Result<(), Box<dyn Error>> {
    let bytes = (page.make)();
    let reading = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let url = url::Url::parse("https://example.org/a/b").ok();
        article::extract(&bytes, Some("text/html"), url.as_ref(), None)
    })?;
    let result = match reading.join() {
        Ok(Ok(found)) => format!("{} bytes of text", found.text.len()),
        Ok(Err(article::NoArticle::Internal)) => return Err("a library panicked".into()),
        Ok(Err(why)) => why.to_string(),
        Err(_) => return Err("the thread panicked".into()),
    };
    println!("{}\n{}\n{result}", cpu_ms()?, peak_kb()?);
    Ok(())
}

/// User and system time of this process in ticks of 10 ms: what `getrusage` says, without unsafe
/// code.
fn cpu_ms() -> Result<u64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |n| after_name.split_whitespace().nth(n).and_then(|ticks| ticks.parse().ok());
    let times: (Option<u64>, Option<u64>) = (ticks(11), ticks(12));
    let (user, system) = times.0.zip(times.1).ok_or("/proc/self/stat is not understood")?;
    Ok((user + system) * 10)
}

/// The largest resident memory of this process so far.
fn peak_kb() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.ok_or_else(|| "/proc/self/status is not understood".into())
}
