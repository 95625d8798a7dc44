//! What must be in the environment before GTK and WebKit start. Changing a variable of a running process is unsafe once
//! there are threads, so the process starts itself again with the variable set, once, before it has done anything.

/// WebKitGTK shows an empty window with some graphics drivers unless its DMABUF renderer is off.
const SWITCH: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// Does nothing when the user has set the switch himself, to whatever value.
#[cfg(target_os = "linux")]
pub fn webkit() {
    use std::os::unix::process::CommandExt;
    if std::env::var_os(SWITCH).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    // On success this never returns: the same process id runs the same program.
    let error = std::process::Command::new(program).args(std::env::args_os().skip(1)).env(SWITCH, "1").exec();
    tracing::warn!(%error, "{SWITCH} could not be set");
}

#[cfg(not(target_os = "linux"))]
pub fn webkit() {}
