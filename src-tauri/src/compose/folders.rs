//! Where Starling keeps its data: one folder per user, moved by `STARLING_HOME`, else the XDG data folder. This is the only
//! place that looks up folders in the environment; every crate gets its folder passed in. Nothing inside a project ever
//! decides a path here.

use std::io;
use std::path::{Path, PathBuf};

/// The identifier of tauri.conf.json: the window and the command line must find the same folder.
pub const IDENTIFIER: &str = "dev.starling.desktop";

/// The data folder and what lies in it. Holding one proves that the folders exist and are the user's alone (0700).
#[derive(Clone, Debug)]
pub struct Folders {
    pub home: PathBuf,
    pub worktrees: PathBuf,
    pub scratch: PathBuf,
    pub models: PathBuf,
    pub index: PathBuf,
    pub inbox: PathBuf,
    pub spool: PathBuf,
    pub leases: PathBuf,
    pub logs: PathBuf,
    /// Beginnings of prompts, as models read them.
    pub prompts: PathBuf,
}

impl Folders {
    /// By the environment of the process.
    pub fn of_user() -> io::Result<Folders> {
        Folders::open(&home(|name| std::env::var_os(name).map(PathBuf::from))?)
    }

    pub fn open(home: &Path) -> io::Result<Folders> {
        private_folder(home)?;
        let sub = |name: &str| {
            let folder = home.join(name);
            private_folder(&folder).map(|()| folder)
        };
        Ok(Folders {
            home: home.to_owned(),
            worktrees: sub("worktrees")?,
            scratch: sub("scratch")?,
            models: sub("models")?,
            index: sub("index")?,
            inbox: sub("inbox")?,
            spool: sub("spool")?,
            leases: sub("leases")?,
            logs: sub("logs")?,
            prompts: sub("prompts")?,
        })
    }

    pub fn database(&self) -> PathBuf {
        self.home.join("state.db")
    }

    pub fn settings(&self) -> PathBuf {
        self.home.join("settings.toml")
    }

    pub fn window_lock(&self) -> PathBuf {
        self.home.join("window.lock")
    }
}

fn home(variable: impl Fn(&str) -> Option<PathBuf>) -> io::Result<PathBuf> {
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    if let Some(home) = variable("STARLING_HOME") {
        return std::path::absolute(home);
    }
    if cfg!(target_os = "macos") {
        return absolute("HOME").map(|h| h.join("Library/Application Support").join(IDENTIFIER)).ok_or_else(no_home);
    }
    if cfg!(windows) {
        return absolute("APPDATA").map(|h| h.join(IDENTIFIER)).ok_or_else(no_home);
    }
    // A relative XDG path is invalid by the specification and is ignored.
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    data.map(|data| data.join(IDENTIFIER)).ok_or_else(no_home)
}

fn no_home() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "neither STARLING_HOME nor HOME is set to a folder")
}

fn private_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let got = home(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| PathBuf::from(v)));
        assert_eq!(got.ok(), expected.map(PathBuf::from), "{variables:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn finds_the_data_folder() {
        check(&[("STARLING_HOME", "/s"), ("XDG_DATA_HOME", "/x")], Some("/s"));
        check(&[("XDG_DATA_HOME", "/x"), ("HOME", "/h")], Some("/x/dev.starling.desktop"));
        check(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")], Some("/h/.local/share/dev.starling.desktop"));
        check(&[], None);
    }

    #[test]
    #[cfg(unix)]
    fn keeps_others_out() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let folders = Folders::open(&dir.path().join("home")).expect("can be made");
        for folder in [&folders.home, &folders.models, &folders.spool] {
            let mode = std::fs::metadata(folder).expect("exists").permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
        }
    }
}
