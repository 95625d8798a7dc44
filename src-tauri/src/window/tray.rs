//! The tray icon: idle, working or needs you, and a menu. Everything in it has a twin in the window, because some desktops
//! have no tray: without its library the binding would panic, so its presence is looked up first.

use super::words::Words;
use std::path::{Path, PathBuf};
use tauri::image::Image;
use tauri::menu::{Menu, MenuBuilder, MenuItemBuilder, SubmenuBuilder};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Runtime};

/// What the icon says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrayState {
    Idle,
    Working,
    NeedsYou,
}

/// All that the tray shows; equal looks need no update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub state: TrayState,
    pub paused: bool,
    /// (task id, text), newest first.
    pub verdicts: Vec<(String, String)>,
}

/// Ids of the menu entries; a task's entry is `task:<id>`.
pub const OPEN: &str = "open";
pub const PASTE: &str = "paste";
pub const PAUSE: &str = "pause";
pub const QUIT: &str = "quit";
pub const TASK: &str = "task:";

const TRAY: &str = "starling";

/// Shows the icon, or says why there is none.
pub fn create<R: Runtime>(app: &AppHandle<R>, look: &Look, words: &Words) -> Result<TrayIcon<R>, String> {
    if let Some(missing) = missing_library() {
        return Err(missing);
    }
    TrayIconBuilder::with_id(TRAY)
        .icon(icon(look.state))
        .tooltip(tooltip(look.state, words))
        .menu(&menu(app, look, words).map_err(|e| e.to_string())?)
        .show_menu_on_left_click(true)
        .build(app)
        .map_err(|e| e.to_string())
}

pub fn is_shown<R: Runtime>(app: &AppHandle<R>) -> bool {
    app.tray_by_id(TRAY).is_some()
}

pub fn update<R: Runtime>(app: &AppHandle<R>, look: &Look, words: &Words) -> tauri::Result<()> {
    let Some(tray) = app.tray_by_id(TRAY) else { return Ok(()) };
    tray.set_icon(Some(icon(look.state)))?;
    tray.set_menu(Some(menu(app, look, words)?))?;
    tray.set_tooltip(Some(tooltip(look.state, words)))
}

fn menu<R: Runtime>(app: &AppHandle<R>, look: &Look, words: &Words) -> tauri::Result<Menu<R>> {
    let mut verdicts = SubmenuBuilder::new(app, words.verdicts);
    if look.verdicts.is_empty() {
        verdicts = verdicts.item(&MenuItemBuilder::new(words.no_verdict).enabled(false).build(app)?);
    }
    for (id, text) in &look.verdicts {
        verdicts = verdicts.text(format!("{TASK}{id}"), text);
    }
    MenuBuilder::new(app)
        .text(OPEN, words.open)
        .text(PASTE, words.paste)
        .text(PAUSE, if look.paused { words.proceed } else { words.pause })
        .item(&verdicts.build()?)
        .separator()
        .text(QUIT, words.quit)
        .build()
}

fn tooltip(state: TrayState, words: &Words) -> &'static str {
    match state {
        TrayState::Idle => words.idle,
        TrayState::Working => words.working,
        TrayState::NeedsYou => words.needs_you,
    }
}

fn icon(state: TrayState) -> Image<'static> {
    let png: &[u8] = match state {
        TrayState::Idle => include_bytes!("../../../assets/icons/tray-idle.png"),
        TrayState::Working => include_bytes!("../../../assets/icons/tray-working.png"),
        TrayState::NeedsYou => include_bytes!("../../../assets/icons/tray-needs-you.png"),
    };
    Image::from_bytes(png).expect("the embedded icons are valid PNG files")
}

/// The name of the library without which there is no tray here, if it is missing.
pub fn missing_library() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let folders = library_folders(&std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default());
    let found = |name: &str| folders.iter().any(|folder| folder.join(name).exists());
    let present = found("libayatana-appindicator3.so.1") || found("libappindicator3.so.1");
    (!present).then(|| "libayatana-appindicator3 is not installed".to_owned())
}

/// Where the dynamic linker looks: the given search path, then the system's folders with their one level of
/// architecture folders (`/usr/lib/x86_64-linux-gnu`).
fn library_folders(search_path: &std::ffi::OsStr) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(search_path).filter(|path| path.is_absolute()).collect();
    for root in ["/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/app/lib"].map(Path::new) {
        folders.push(root.to_owned());
        let inner = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
        folders.extend(inner.filter(|path| path.is_dir() && path.to_string_lossy().contains("-linux-")));
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn icons_are_valid_and_differ() {
        let icons = [TrayState::Idle, TrayState::Working, TrayState::NeedsYou].map(icon);
        assert!(icons.iter().all(|icon| (icon.width(), icon.height()) == (64, 64)));
        assert!(icons[0].rgba() != icons[1].rgba() && icons[1].rgba() != icons[2].rgba());
    }

    #[test]
    fn the_search_path_is_looked_at_first() {
        let folders = library_folders(std::ffi::OsStr::new("/opt/x:relative"));
        assert_eq!(folders.first(), Some(&PathBuf::from("/opt/x")));
        assert!(!folders.contains(&PathBuf::from("relative")));
    }
}
