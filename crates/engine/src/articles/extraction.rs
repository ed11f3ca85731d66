//! Extraction of main texts, on threads of its own: a hostile page takes seconds and a deep stack,
//! and no poll waits for it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use article::{ExtractedArticle, ExtractionRule, NoArticle};
use tokio::sync::oneshot;
use url::Url;

/// Twice what the worst page within the limits needs.
const STACK_BYTES: usize = 8 << 20;
const THREADS: usize = 2;

/// A page to be extracted.
pub struct PageToExtract {
    pub bytes: Arc<Vec<u8>>,
    pub content_type: Option<String>,
    pub url: Url,
    /// A CSS selector for the main text.
    pub selector: Option<String>,
}

type Extracted = Result<ExtractedArticle, NoArticle>;
type ExtractionJob = (PageToExtract, oneshot::Sender<Extracted>);

/// Extracts the main text of a page. Many pages wait for the two threads in turn.
pub async fn extracted(page: PageToExtract) -> Extracted {
    static JOBS: OnceLock<Mutex<Sender<ExtractionJob>>> = OnceLock::new();
    let (reply, answer) = oneshot::channel();
    let jobs = JOBS.get_or_init(|| Mutex::new(start()));
    let sent = jobs.lock().unwrap_or_else(PoisonError::into_inner).send((page, reply));
    match sent {
        Ok(()) => answer.await.unwrap_or(Err(NoArticle::Internal)),
        Err(_) => Err(NoArticle::Internal),
    }
}

fn start() -> Sender<ExtractionJob> {
    let (jobs, waiting) = channel();
    let waiting = Arc::new(Mutex::new(waiting));
    for n in 0..THREADS {
        let waiting = Arc::clone(&waiting);
        let name = format!("extraction {n}");
        let thread = std::thread::Builder::new().name(name).stack_size(STACK_BYTES);
        if let Err(error) = thread.spawn(move || run(&waiting)) {
            tracing::error!(%error, "cannot start a thread for articles");
        }
    }
    jobs
}

fn run(waiting: &Mutex<Receiver<ExtractionJob>>) {
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((page, reply)) = job else { return };
        let rule = page.selector.as_deref().map(|keep| ExtractionRule { keep, remove: None });
        let content_type = page.content_type.as_deref();
        let extracted = article::extract(&page.bytes, content_type, Some(&page.url), rule.as_ref());
        // The caller may have ended.
        let _ = reply.send(extracted);
    }
}
