//! Desktop notifications. The plugin says "shown" even when nobody listens, so the window's own inbox always holds the same
//! sentence. A click opens the task.

use super::board::Notice;
use super::wire;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tauri::{AppHandle, Manager};
use tauri_plugin_notification::NotificationExt;

/// Which task a notification was about, by the number it was sent with.
#[derive(Default)]
struct Sent(Mutex<BTreeMap<i32, String>>);

pub fn listen(app: &AppHandle) {
    app.manage(Sent::default());
    let clicked = app.clone();
    let handled = app.notification().on_action(move |action| {
        let sent = clicked.state::<Sent>();
        let sent = sent.0.lock().unwrap_or_else(PoisonError::into_inner);
        let task = action.notification().and_then(|notification| sent.get(&notification.id())).cloned();
        drop(sent);
        if let Some(task) = task {
            wire::show_task(&clicked, &task);
        }
        super::raise(&clicked);
    });
    if let Err(error) = handled {
        tracing::warn!(%error, "clicks on notifications are not noticed");
    }
}

pub fn send(app: &AppHandle, notice: &Notice) {
    // What a person just tried himself stands in the window already.
    let Some(task) = &notice.task else { return };
    let id = app.try_state::<Sent>().map(|sent| {
        let mut sent = sent.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = sent.last_key_value().map_or(1, |(last, _)| last.wrapping_add(1).max(1));
        sent.insert(id, task.to_string());
        id
    });
    let builder = app.notification().builder().id(id.unwrap_or(0)).title("Starling").body(&notice.text);
    if let Err(error) = builder.show() {
        tracing::warn!(%error, "a notification cannot be shown");
    }
}
