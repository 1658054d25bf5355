//! Many jobs on several threads. A panic is the failure of its job alone, and so is a job of which nothing is heard any more: its thread
//! is left behind and another one takes its place.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often is looked for jobs of which nothing is heard.
const PAUSE: Duration = Duration::from_millis(200);

/// Why a job has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// It panicked, with this message.
    Panicked(String),
    /// It did not come back in time.
    Silent(Duration),
}

enum Message<R> {
    Began(usize, Instant),
    Ended(usize, Result<R, Lost>),
}

struct Queue<T, W> {
    items: Vec<T>,
    next: AtomicUsize,
    work: W,
}

/// Do all jobs, as many as `threads` at the same time, and call `done` after each; results are in the order of the items.
pub fn all<T, R, W>(
    threads: usize,
    items: Vec<T>,
    patience: Duration,
    work: W,
    mut done: impl FnMut(),
) -> Vec<Result<R, Lost>>
where
    T: Send + Sync + 'static,
    R: Send + 'static,
    W: Fn(&T) -> R + Send + Sync + 'static,
{
    let n = items.len();
    let queue = Arc::new(Queue { items, next: AtomicUsize::new(0), work });
    let (sender, messages) = channel();
    for _ in 0..threads.min(n) {
        hire(&queue, &sender);
    }
    let mut results: Vec<Option<Result<R, Lost>>> = (0..n).map(|_| None).collect();
    let mut began: Vec<Option<Instant>> = vec![None; n];
    let mut open = n;
    while open > 0 {
        match messages.recv_timeout(PAUSE) {
            Ok(Message::Began(k, when)) => began[k] = Some(when),
            // a job that was given up may come back after all
            Ok(Message::Ended(k, result)) if results[k].is_none() => {
                results[k] = Some(result);
                open -= 1;
                done();
            }
            Ok(Message::Ended(..)) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        for k in 0..n {
            if results[k].is_none() && began[k].is_some_and(|when| when.elapsed() > patience) {
                results[k] = Some(Err(Lost::Silent(patience)));
                open -= 1;
                done();
                hire(&queue, &sender);
            }
        }
    }
    // all of them are there: the loop above ends only then
    results.into_iter().flatten().collect()
}

/// One more thread.
fn hire<T, R, W>(queue: &Arc<Queue<T, W>>, sender: &Sender<Message<R>>)
where
    T: Send + Sync + 'static,
    R: Send + 'static,
    W: Fn(&T) -> R + Send + Sync + 'static,
{
    let (queue, sender) = (Arc::clone(queue), sender.clone());
    thread::spawn(move || {
        loop {
            let k = queue.next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = queue.items.get(k) else { return };
            let _ = sender.send(Message::Began(k, Instant::now()));
            let result = catch_unwind(AssertUnwindSafe(|| (queue.work)(item)));
            let result = result.map_err(|panic| Lost::Panicked(said(&*panic)));
            // nobody listens any more: the rest is not wanted either
            if sender.send(Message::Ended(k, result)).is_err() {
                return;
            }
        }
    });
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_jobs() {
        let mut count = 0;
        let results = all(3, (0..50).collect(), Duration::from_mins(1), |k: &i32| k * k, || count += 1);
        assert!(results.into_iter().eq((0..50).map(|k| Ok(k * k))));
        assert_eq!(count, 50);
    }

    #[test]
    fn a_panic_is_the_failure_of_one_job() {
        let work = |k: &i32| if *k == 1 { panic!("no {k}") } else { *k };
        let results = all(2, vec![0, 1, 2], Duration::from_mins(1), work, || {});
        assert_eq!(results, [Ok(0), Err(Lost::Panicked("no 1".into())), Ok(2)]);
    }

    #[test]
    fn a_job_that_does_not_come_back_is_left_behind() {
        let work = |k: &u64| thread::sleep(Duration::from_secs(*k));
        let patience = Duration::from_millis(300);
        let results = all(1, vec![0, 20, 0], patience, work, || {});
        assert_eq!(results, [Ok(()), Err(Lost::Silent(patience)), Ok(())]);
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        let results: Vec<Result<(), Lost>> = all(4, Vec::<i32>::new(), Duration::from_secs(1), |_| (), || {});
        assert!(results.is_empty());
    }
}
