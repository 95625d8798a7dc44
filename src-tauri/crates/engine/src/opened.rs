//! The file that was checked is the file that is read.
#![forbid(unsafe_code)]

use std::fs::File;
use std::path::{Path, PathBuf};

/// A path to an open file. On Linux it leads to exactly that file, even if another one takes its name meanwhile.
pub fn same_file(open: &File, path: &Path) -> PathBuf {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let same = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        if same.exists() {
            return same;
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = open;
    path.to_path_buf()
}
