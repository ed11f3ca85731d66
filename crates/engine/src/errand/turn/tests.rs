//! Turns that end without a request.

use super::*;

fn plan() -> (PlanHandle, mpsc::UnboundedReceiver<Event>) {
    let (events, sent) = mpsc::unbounded_channel();
    let clock = Clock::manual(feed::Time::from_secs(1_700_000_000));
    (PlanHandle { events, clock, grants: None, road: None, region: None }, sent)
}

#[test]
fn a_turn_whose_task_fails_leaves_its_domain_free() {
    let (plan, mut sent) = plan();
    let failing = || {
        let (class, answer) = (ErrandClass::BeforePolls, ErrandEnd::Unanswered);
        let (name, grant) = (Domain::default(), GrantId(1));
        let (away, is_away, send_by) = (None, false, None);
        let _turn = Turn { plan, class, name, domain: 7, grant, send_by, answer, away, is_away };
        panic!("an unexpected answer");
    };
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(failing));
    assert!(failed.is_err());
    let sent = sent.try_recv();
    assert!(matches!(
        sent,
        Ok(Event::ErrandEnded { domain: 7, answer: ErrandEnd::Unanswered, .. })
    ));
}

#[tokio::test]
async fn a_turn_that_comes_after_its_task_ended_leaves_its_domain_free() {
    let (plan, mut sent) = plan();
    let url = Url::parse("http://pictures.example/").expect("a URL");
    let mut waiting = Box::pin(turn(&plan, &url, ErrandClass::Picture));
    tokio::select! {
        biased;
        _ = &mut waiting => panic!("nobody granted it"),
        () = std::future::ready(()) => {}
    }
    let Ok(Event::Errand { turn, .. }) = sent.try_recv() else { panic!("it waits") };
    assert!(turn.send(GrantedTurn { domain: 7, grant: GrantId(1) }).is_ok());
    drop(waiting);
    assert!(matches!(sent.try_recv(), Ok(Event::PictureEnded { domain: 7 })));
}

/// A process that is stopped during its commit finds the commit done and the time over.
#[tokio::test]
async fn a_request_whose_commit_took_too_long_is_not_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store::Store::open(folder.path(), store::OpenMode::ReadWrite).expect("a store");
    let (life, earlier) = (Duration::from_secs(90), crate::grants::EarlierEpochs::default());
    let (book, _) = GrantBook::open(&store, life, "box", &earlier).expect("a book");
    let first = book.first_number();
    let (plan, mut sent) = plan();
    let plan = PlanHandle { grants: Some((Arc::new(book), "box".into())), ..plan };
    let url = Url::parse("http://hub.example/").expect("a URL");
    for (stands_still, number) in [(false, first), (true, first + 1)] {
        let asked = turn(&plan, &url, ErrandClass::AfterPolls);
        let stop = async {
            let Some(Event::Errand { turn, .. }) = sent.recv().await else { panic!("no turn") };
            let granted = GrantedTurn { domain: 7, grant: GrantId(number) };
            assert!(turn.send(granted).is_ok());
            // The other task has begun to commit when this one goes on. Either of the two may be
            // polled first.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            if stands_still {
                std::thread::sleep(SEND_WITHIN + Duration::from_millis(100));
            }
        };
        let (asked, ()) = tokio::join!(asked, stop);
        assert_eq!(asked.err(), stands_still.then_some(NoTurn::NotNoted));
        let ended = sent.try_recv();
        assert!(matches!(ended, Ok(Event::ErrandEnded { answer: ErrandEnd::NotSent, .. })));
    }
    assert_eq!(store.n_grants().expect("a count"), 1, "the second commit came through");
}

#[tokio::test]
async fn a_request_of_this_process_ends_with_the_engine() {
    let (plan, mut sent) = plan();
    let url = Url::parse("http://site.example/").expect("a URL");
    let asking = async {
        let turn = turn(&plan, &url, ErrandClass::BeforePolls).await.expect("a turn");
        turn.exchange(std::future::pending()).await
    };
    let engine = async {
        let Some(Event::Errand { turn, .. }) = sent.recv().await else { panic!("no turn") };
        assert!(turn.send(GrantedTurn { domain: 7, grant: GrantId(1) }).is_ok());
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        drop(sent);
    };
    let (fetched, ()) = tokio::join!(asking, engine);
    assert!(matches!(fetched, Fetched::Failed(_)), "{fetched:?}");
}

/// A process that is stopped between the commit and the request finds its time over.
#[tokio::test]
async fn a_request_whose_time_is_over_is_not_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store::Store::open(folder.path(), store::OpenMode::ReadWrite).expect("a store");
    let (life, earlier) = (Duration::from_secs(90), crate::grants::EarlierEpochs::default());
    let (book, _) = GrantBook::open(&store, life, "box", &earlier).expect("a book");
    let now = book.elapsed();
    let (plan, mut sent) = plan();
    let plan = PlanHandle { grants: Some((Arc::new(book), "box".into())), ..plan };
    let fetcher = Fetcher::new(fetch::Settings::new("https://example.org/")).expect("a fetcher");
    for (send_by, is_in_time) in [(now, false), (now + Duration::from_secs(3600), true)] {
        std::thread::sleep(Duration::from_millis(2));
        let turn = Turn {
            plan: plan.clone(),
            class: ErrandClass::BeforePolls,
            name: Domain::default(),
            domain: 7,
            grant: GrantId(1),
            send_by: Some(send_by),
            answer: ErrandEnd::NotSent,
            away: None,
            is_away: false,
        };
        assert_eq!(turn.place(&fetcher).await.is_ok(), is_in_time);
        drop(turn);
        let ended = sent.try_recv();
        assert!(matches!(ended, Ok(Event::ErrandEnded { answer: ErrandEnd::NotSent, .. })));
    }
}
