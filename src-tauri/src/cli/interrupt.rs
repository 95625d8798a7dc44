//! Ctrl-C: the first asks the work to stop, the second ends the process.

use starling_core::port::Cancel;

/// Cancels `cancel` on the first Ctrl-C (or SIGTERM); exits with 130 on the second.
pub fn watch(cancel: &Cancel) {
    let cancel = cancel.clone();
    let listen = move || {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(e) => return tracing::warn!(error = %e, "Ctrl-C ends the process at once"),
        };
        runtime.block_on(async {
            asked_to_stop().await;
            cancel.cancel();
            asked_to_stop().await;
            std::process::exit(130);
        });
    };
    if let Err(e) = std::thread::Builder::new().name("interrupt".into()).spawn(listen) {
        tracing::warn!(error = %e, "Ctrl-C ends the process at once");
    }
}

#[cfg(unix)]
async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! { _ = tokio::signal::ctrl_c() => {}, _ = terminate.recv() => {} }
        }
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

#[cfg(not(unix))]
async fn asked_to_stop() {
    drop(tokio::signal::ctrl_c().await);
}
