//! What `doctor` finds: each part of the environment that decides what Starling can do, asked and not assumed. The window
//! and the command line show the same report.

use super::{Starling, cloud, desktop, shelf};
use serde::Serialize;
use starling_core::Role;

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub version: String,
    pub data_folder: String,
    pub cpu: String,
    pub cores: u32,
    pub free_memory_mb: f64,
    pub total_memory_mb: f64,
    pub free_disk_mb: Option<f64>,
    pub sandbox: Part,
    pub kernels: Part,
    pub database: Part,
    pub models: Part,
    pub tray: Part,
    pub notifications: Part,
    pub keychain: Part,
    /// Where the key of the cloud reviewer comes from, or that there is none.
    pub cloud: Part,
}

/// One part: whether it works, and what was found.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    pub ok: bool,
    pub detail: String,
}

impl From<Result<String, String>> for Part {
    fn from(found: Result<String, String>) -> Part {
        match found {
            Ok(detail) => Part { ok: true, detail },
            Err(detail) => Part { ok: false, detail },
        }
    }
}

pub fn examine(starling: &Starling) -> Report {
    let hardware = starling_host::hardware::survey();
    let disk = starling_host::hardware::disk_free_mb(&starling.folders.home);
    let level = starling_host::sandbox::level();
    Report {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        data_folder: starling.folders.home.to_string_lossy().into_owned(),
        cpu: hardware.cpu,
        cores: u32::try_from(hardware.cores_physical).unwrap_or(1),
        free_memory_mb: hardware.free_ram_mb as f64,
        total_memory_mb: hardware.total_ram_mb as f64,
        free_disk_mb: disk.map(|mb| mb as f64),
        sandbox: Part { ok: level.works, detail: format!("{}: {}", level.name, level.detail) },
        kernels: kernels(hardware.avx512),
        database: database(starling),
        models: models(starling),
        tray: tray(),
        notifications: desktop::notification_daemon().into(),
        keychain: desktop::keychain().into(),
        cloud: cloud::described(&starling.settings.get()).into(),
    }
}

/// A build without the processor's widest instructions works, but reads prompts at half the speed.
fn kernels(machine_avx512: bool) -> Part {
    if let Err(missing) = starling_engine::cpu_can_run() {
        return Part { ok: false, detail: missing };
    }
    let kernels = starling_engine::kernels();
    let used = [(kernels.avx2, "AVX2"), (kernels.avx512, "AVX-512"), (kernels.vnni, "VNNI"), (kernels.neon, "NEON")];
    let used: Vec<&str> = used.into_iter().filter_map(|(on, name)| on.then_some(name)).collect();
    let slow =
        if machine_avx512 && !kernels.avx512 { "; this processor has AVX-512, the build does not use it" } else { "" };
    Part { ok: !used.is_empty(), detail: format!("{}{slow}", used.join(", ")) }
}

fn database(starling: &Starling) -> Part {
    let events = match starling.store.verify() {
        Ok(events) => events,
        Err(error) => return Part { ok: false, detail: error.to_string() },
    };
    let aside: Vec<String> = starling.store.set_aside().iter().map(|path| path.display().to_string()).collect();
    let kept =
        if aside.is_empty() { String::new() } else { format!("; broken ones were kept as {}", aside.join(", ")) };
    Part { ok: aside.is_empty(), detail: format!("{events} events, chain intact{kept}") }
}

fn models(starling: &Starling) -> Part {
    let files = starling.shelf.files();
    let refused = starling.shelf.refused().len();
    let role = |role: &Role| starling.residency.name_of(*role).map(|name| format!("{role}: {name}"));
    let roles: Vec<String> = Role::ALL.iter().filter_map(role).collect();
    let budget = shelf::budget_mb(&starling.settings.get(), super::hardware::available_mb());
    let detail = format!("{} on disk, {refused} refused, {budget} MB for them; {}", files.len(), roles.join(", "));
    Part { ok: roles.len() == Role::ALL.len(), detail }
}

fn tray() -> Part {
    match crate::window::missing_tray_library() {
        Some(missing) => Part { ok: false, detail: missing },
        None => Part { ok: true, detail: "available".to_owned() },
    }
}
