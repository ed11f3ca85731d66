//! A place for one exchange: only so many run at once. A caller whose request has a latest moment
//! waits for a place first, and looks at its clock before it uses the place.

use feed::{RequestSettings, Validators};
use tokio::sync::SemaphorePermit;
use url::Url;

use crate::fetcher::{ACCEPT_ANY, ACCEPT_FEED, ACCEPT_IMAGE, ACCEPT_PAGE, AskedExchange};
use crate::limits::ExchangeLimits;
use crate::{Exchange, Fetcher};

/// The permission to make one exchange at once.
pub struct ExchangePlace<'a> {
    pub(crate) fetcher: &'a Fetcher,
    /// Given back when the exchange has ended.
    _permit: Option<SemaphorePermit<'a>>,
}

impl Fetcher {
    /// Waits until fewer exchanges are under way than may run at once.
    pub async fn place(&self) -> ExchangePlace<'_> {
        // This fails only if the semaphore is closed, which never happens. Then continue without a
        // permit.
        let permit = self.under_way.acquire().await.ok();
        ExchangePlace { fetcher: self, _permit: permit }
    }
}

impl ExchangePlace<'_> {
    /// Requests a feed, conditionally if there are validators, perhaps with settings of its own.
    pub async fn fetch(
        self,
        url: &Url,
        validators: &Validators,
        own: Option<&RequestSettings>,
    ) -> Exchange {
        let asked = AskedExchange { accept: ACCEPT_FEED, own };
        self.fetcher.exchange_as(url, asked, validators, &self.fetcher.limits).await
    }

    /// Requests a page, conditionally if there are validators, perhaps with settings of its own.
    pub async fn page(
        self,
        url: &Url,
        validators: &Validators,
        own: Option<&RequestSettings>,
    ) -> Exchange {
        let asked = AskedExchange { accept: ACCEPT_PAGE, own };
        self.fetcher.exchange_as(url, asked, validators, &self.fetcher.limits).await
    }

    /// Requests a small file of any type, conditionally if there are validators.
    pub async fn file(self, url: &Url, validators: &Validators, bytes_max: usize) -> Exchange {
        let limits = ExchangeLimits { body_bytes_max: bytes_max, ..self.fetcher.limits };
        let asked = AskedExchange { accept: ACCEPT_ANY, own: None };
        self.fetcher.exchange_as(url, asked, validators, &limits).await
    }

    /// Requests a small file of any type, and reads only its first bytes. A longer file is cut.
    /// `bytes_max` limits the bytes that are received and decompressed for this.
    pub async fn beginning(
        self,
        url: &Url,
        validators: &Validators,
        first_bytes: usize,
        bytes_max: usize,
    ) -> Exchange {
        let (body_bytes_max, first_bytes) = (bytes_max, Some(first_bytes));
        let limits = ExchangeLimits { body_bytes_max, first_bytes, ..self.fetcher.limits };
        let asked = AskedExchange { accept: ACCEPT_ANY, own: None };
        self.fetcher.exchange_as(url, asked, validators, &limits).await
    }

    /// Requests a picture.
    pub async fn image(self, url: &Url) -> Exchange {
        let asked = AskedExchange { accept: ACCEPT_IMAGE, own: None };
        let (none, limits) = (Validators::default(), &self.fetcher.limits);
        self.fetcher.exchange_as(url, asked, &none, limits).await
    }
}
