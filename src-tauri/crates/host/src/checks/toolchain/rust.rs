//! The Rust toolchain of this machine, and cargo in the sandbox.

use super::on_path;
use crate::checks::{Site, io, wary};
use crate::sandbox::{Cell, Output, run};
use starling_core::port::{Cancel, CheckError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Rust {
    /// `bin` of the toolchain itself, not of rustup's proxies, which need a home.
    pub bin: PathBuf,
    pub sysroot: PathBuf,
    /// Cargo's own home, of which only the package caches are shown.
    pub home: Option<PathBuf>,
}

/// The toolchain behind the cargo on the path: `rustc` says where it lives.
pub(super) fn find() -> Option<Rust> {
    let rustc = on_path("rustc").into_iter().next()?;
    let output = Command::new(rustc).args(["--print", "sysroot"]).current_dir("/").output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let bin = sysroot.join("bin");
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    bin.join("cargo").is_file().then_some(Rust { bin, sysroot, home: home.filter(|home| home.is_dir()) })
}

impl Rust {
    /// Runs cargo in the sandbox: offline, with a target folder in the private one, and the package caches read-only.
    pub fn run(&self, site: &Site, args: &[OsString], limit: Duration, cancel: &Cancel) -> Result<Output, CheckError> {
        let home = site.private.join("cargo");
        for part in ["cargo/registry", "cargo/git"] {
            wary::make(&site.private, Path::new(part)).map_err(|e| io(&home, e))?;
        }
        let mut readable = vec![(self.sysroot.clone(), self.sysroot.clone())];
        if let Some(own) = &self.home {
            readable.extend(["registry", "git"].map(|part| (own.join(part), PathBuf::from("/tmp/cargo").join(part))));
        }
        let mut path = OsString::from(&self.bin);
        path.push(":/usr/bin:/bin");
        let env = [
            ("PATH", path),
            ("CARGO_HOME", "/tmp/cargo".into()),
            ("CARGO_TARGET_DIR", "/tmp/target".into()),
            ("CARGO_NET_OFFLINE", "true".into()),
            ("CARGO_TERM_COLOR", "never".into()),
            ("CARGO_INCREMENTAL", "1".into()),
        ];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let cell = Cell { tree: site.tree.clone(), private: site.private.clone(), readable, env, limits: site.limits };
        let mut argv = vec![OsString::from(self.bin.join("cargo"))];
        argv.extend(args.iter().cloned());
        run(&cell, &argv, limit, cancel)
    }
}
