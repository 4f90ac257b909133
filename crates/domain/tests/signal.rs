//! The flag that tells a run to stop: nobody who waits misses it, and whoever gives up leaves nothing.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::CancelSignal;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn everybody_who_waits_is_woken_by_the_waker_they_gave_last() {
    let (signal, old, new) = (CancelSignal::new(), Arc::default(), Arc::<Count>::default());
    let (one, two) = (signal.clone(), signal.clone());
    let (mut one, mut two) = (pin!(one.raised()), pin!(two.raised()));
    let polled = |waiter: std::pin::Pin<&mut dyn Future<Output = ()>>, count: &Arc<Count>| {
        waiter.poll(&mut Context::from_waker(&Waker::from(count.clone()))).is_ready()
    };
    assert!(!polled(one.as_mut(), &old) && !polled(one.as_mut(), &new));
    assert!(!polled(two.as_mut(), &new));
    assert!(!signal.is_raised());
    signal.raise();
    signal.raise();
    assert_eq!((old.0.load(Ordering::SeqCst), new.0.load(Ordering::SeqCst)), (0, 2));
    assert!(signal.is_raised() && polled(one.as_mut(), &old) && polled(two.as_mut(), &old));
}

#[test]
fn a_wait_that_is_given_up_leaves_nothing_behind() {
    let (signal, count) = (CancelSignal::new(), Arc::<Count>::default());
    for _ in 0..100 {
        let mut wait = Box::pin(signal.raised());
        let waker = Waker::from(count.clone());
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(Arc::strong_count(&count), 1, "wakers of waits that are over are kept");
    signal.raise();
    assert_eq!(count.0.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_raise_is_never_missed() {
    for _ in 0..500 {
        let signal = CancelSignal::new();
        let waiter = signal.clone();
        let waiter = tokio::spawn(async move { waiter.raised().await });
        signal.raise();
        waiter.await.unwrap();
    }
}
