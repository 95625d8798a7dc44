//! Text from the clipboard for the tray's "new task". Only on Linux, through GTK, which is there anyway; elsewhere the
//! window's own paste does it. Must be called on the main thread.

#[cfg(target_os = "linux")]
pub fn text() -> Option<String> {
    let clipboard = gtk::Clipboard::get(&gtk::gdk::SELECTION_CLIPBOARD);
    clipboard.wait_for_text().map(Into::into).filter(|text: &String| !text.trim().is_empty())
}

#[cfg(not(target_os = "linux"))]
pub fn text() -> Option<String> {
    None
}
