//! The thread that the network runs on: one current-thread runtime for the whole gate. Callers block on a channel, not on
//! the runtime, so they may be any thread, and cancelling drops the connection within some hundredths of a second.

use starling_core::port::Cancel;
use std::future::Future;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// How long a waiting caller may overlook its cancel.
const PATIENCE: Duration = Duration::from_millis(20);

pub(crate) struct Wire {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Why a job gave no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    Cancelled,
    /// The job panicked or the gate is being dropped.
    Ended,
}

impl Wire {
    pub fn start() -> std::io::Result<Wire> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("starling-net".to_owned()).spawn(move || {
            // Ends when the sender is dropped as well.
            runtime.block_on(stopped).ok();
            runtime.shutdown_background();
        })?;
        Ok(Wire { handle, stop: Some(stop), thread: Some(thread) })
    }

    pub fn spawn(&self, job: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.handle.spawn(job).abort_handle()
    }

    /// Runs a job and waits for its value.
    pub fn run<T: Send + 'static>(
        &self,
        cancel: &Cancel,
        job: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Lost> {
        let (send, receive) = channel();
        let task = self.spawn(async move {
            // Nobody waits any more when the caller was cancelled.
            send.send(job.await).ok();
        });
        next(&receive, cancel).inspect_err(|_| task.abort())
    }
}

/// The next message, or why there is none.
pub(crate) fn next<T>(receive: &Receiver<T>, cancel: &Cancel) -> Result<T, Lost> {
    loop {
        if cancel.is_cancelled() {
            return Err(Lost::Cancelled);
        }
        match receive.recv_timeout(PATIENCE) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Lost::Ended),
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            // It panicked; every waiting caller saw its channel close.
        }
    }
}
