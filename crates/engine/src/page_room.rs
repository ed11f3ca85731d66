//! Room in memory for the pages behind entries, from the request to the end of the extraction. A
//! page takes the room of the longest one before its request is sent. When it has arrived, it gives
//! back what it does not need. It reads no page and waits for no domain.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of pages that people wait for, and of all others. With the usual limit of 4 MB for a body,
/// 8 and 24 requests are under way at once. Most pages that have arrived have less than 0.5 MB.
const OF_PEOPLE_BYTES: usize = 32_000_000;
const OTHERS_BYTES: usize = 96_000_000;
/// A semaphore counts at most `u32::MAX` permits, so it counts kilobytes.
const UNIT_BYTES: usize = 1000;
/// The wait for room. The domain of the page waits too, so it is short.
const ROOM_WAIT: Duration = Duration::from_secs(2);

/// The room for all pages.
pub struct PageRoom {
    of_people: RoomShare,
    others: RoomShare,
}

/// A part of the room, which can be taken by pages of one kind.
struct RoomShare {
    units: Arc<Semaphore>,
    n_units: u32,
}

/// The room of one page. Dropping it gives the room back.
pub struct TakenRoom(OwnedSemaphorePermit);

impl Default for PageRoom {
    fn default() -> PageRoom {
        PageRoom {
            of_people: RoomShare::new(OF_PEOPLE_BYTES),
            others: RoomShare::new(OTHERS_BYTES),
        }
    }
}

impl PageRoom {
    /// Takes the room for a page of at most so many bytes. `None`: there is none at the moment.
    pub async fn take(&self, bytes_max: usize, by_person: bool) -> Option<TakenRoom> {
        let share = if by_person { &self.of_people } else { &self.others };
        // A longer page is alone.
        let n_units = units(bytes_max).min(share.n_units);
        let taking = Arc::clone(&share.units).acquire_many_owned(n_units);
        let taken = tokio::time::timeout(ROOM_WAIT, taking).await;
        // The semaphore is never closed.
        taken.ok()?.ok().map(TakenRoom)
    }
}

impl RoomShare {
    fn new(n_bytes: usize) -> RoomShare {
        let n_units = units(n_bytes);
        RoomShare { units: Arc::new(Semaphore::new(n_units as usize)), n_units }
    }
}

impl TakenRoom {
    /// Gives back what a page of so many bytes does not need.
    pub fn shrink(&mut self, n_bytes: usize) {
        let spare = self.0.num_permits().saturating_sub(units(n_bytes) as usize);
        drop(self.0.split(spare));
    }
}

fn units(n_bytes: usize) -> u32 {
    u32::try_from(n_bytes.div_ceil(UNIT_BYTES).max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 4_000_000;

    #[tokio::test(start_paused = true)]
    async fn pages_under_way_have_no_more_bytes_than_there_is_room() {
        let room = PageRoom::default();
        let mut taken = Vec::new();
        while let Some(one) = room.take(PAGE, false).await {
            taken.push(one);
        }
        assert_eq!(taken.len(), OTHERS_BYTES / PAGE);
        assert!(room.take(PAGE, true).await.is_some(), "people have room of their own");
        // Pages that have arrived need less.
        taken.iter_mut().for_each(|one| one.shrink(PAGE / 8));
        let mut n_more = 0;
        while let Some(mut one) = room.take(PAGE, false).await {
            one.shrink(PAGE);
            taken.push(one);
            n_more += 1;
        }
        assert_eq!(n_more, 21, "24 pages have 12 MB");
        taken.clear();
        let alone = room.take(usize::MAX, false).await;
        assert!(alone.is_some(), "a page that is longer than the room is alone");
        assert!(room.take(1, false).await.is_none());
        drop(alone);
        assert!(room.take(1, false).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_waits_for_one_that_ends() {
        let room = Arc::new(PageRoom::default());
        let whole = room.take(OTHERS_BYTES, false).await;
        let next = tokio::spawn({
            let room = Arc::clone(&room);
            async move { room.take(PAGE, false).await.is_some() }
        });
        tokio::time::sleep(ROOM_WAIT / 2).await;
        drop(whole);
        assert!(next.await.unwrap());
    }
}
