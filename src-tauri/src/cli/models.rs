//! `starling models` and `bind`: what is on disk and in the catalogue, downloads, imports, and who does what.

use super::args;
use super::output::{CliError, CliResult, Output};
use super::{certify, interrupt};
use crate::compose::shelf::{self, ModelFile};
use crate::compose::{Starling, certificate};
use serde_json::{Value, json};
use starling_core::catalog::Entry;
use starling_core::port::Cancel;
use starling_core::{ModelName, Role};
use std::path::Path;

pub fn run(args: args::Models, out: Output) -> CliResult {
    match args {
        args::Models::List => list(out),
        args::Models::Get { name, sha256 } => get(&name, sha256, out),
        args::Models::Import { file, name } => import(&file, name, out),
        args::Models::Certify { name } => certify::run(&name, out),
        args::Models::Remove { name } => remove(&name, out),
        args::Models::Probe { file } => certify::worker(&file, out),
    }
}

pub fn bind(args: args::Bind, out: Output) -> CliResult {
    let starling = super::open()?;
    let known = starling.known(&args.model).is_ok() || starling.catalog.model(&args.model).is_some();
    if !known {
        return Err(unknown(&args.model));
    }
    starling
        .settings
        .change(|settings| drop(settings.roles.insert(args.role.clone(), args.model.clone())))
        .map_err(CliError::refused)?;
    out.result(&json!({ "role": args.role, "model": args.model }), || format!("{}: {}", args.role, args.model))
}

fn list(out: Output) -> CliResult {
    let starling = super::open()?;
    let files = starling.shelf.files();
    let budget = shelf::budget_mb(&starling.settings.get(), crate::compose::hardware::available_mb());
    let mut models: Vec<Value> =
        starling.catalog.models.iter().map(|entry| catalogued(&starling, entry, budget)).collect();
    let listed = |name: &ModelName| starling.catalog.model(name.as_str()).is_some();
    models.extend(files.iter().filter(|file| !listed(&file.name)).map(|file| on_disk(&starling, file, budget)));
    let roles: Vec<Value> = Role::ALL
        .iter()
        .map(|role| {
            let bound = starling.settings.get().roles.get(role.as_str()).cloned();
            json!({ "role": role, "model": bound.clone().or_else(|| default_name(&starling, *role)), "bound": bound.is_some() })
        })
        .collect();
    let refused: Vec<Value> =
        starling.shelf.refused().iter().map(|file| json!({ "path": file.path, "why": file.why })).collect();
    let result = json!({ "models": models, "roles": roles, "refused": refused, "budget_mb": budget });
    out.result(&result, || text(&models, &roles))
}

fn default_name(starling: &Starling, role: Role) -> Option<String> {
    starling.residency.name_of(role).map(|name| name.to_string())
}

fn get(name: &str, agreed: Option<String>, out: Output) -> CliResult {
    let starling = super::open()?;
    let entry = starling.entry(name).ok_or_else(|| unknown(name))?.clone();
    let name = entry.name.clone();
    if let Some(file) = starling.shelf.file(&name) {
        return out.result(&json!({ "name": name, "bytes": file.bytes, "downloaded": false }), || {
            format!("{name} is already there")
        });
    }
    let cancel = Cancel::new();
    interrupt::watch(&cancel);
    let mut last = 0;
    let path = starling
        .download(&entry, agreed, &cancel, &mut |done, total| {
            let percent = (done * 100).checked_div(total).unwrap_or(0);
            if percent >= last + 5 || done == total {
                last = percent;
                out.note("download", &format!("{name}: {} of {} MB", done / 1_000_000, total / 1_000_000));
            }
        })
        .map_err(|error| if cancel.is_cancelled() { CliError::Cancelled } else { CliError::refused(error) })?;
    let file = shelf::examine(&path).map_err(|refused| CliError::refused(refused.why))?;
    out.result(&json!({ "name": name, "bytes": file.bytes, "downloaded": true }), || format!("{name} is ready"))
}

fn import(file: &Path, name: Option<String>, out: Output) -> CliResult {
    let examined = shelf::examine(file).map_err(|refused| {
        CliError::refused(format!("{} is not a GGUF model that may be loaded: {}", file.display(), refused.why))
    })?;
    let name = name.unwrap_or_else(|| examined.name.to_string());
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        return Err(CliError::usage(format!("{name:?} is no name of a model: letters, digits, dots, dashes")));
    }
    let starling = super::open()?;
    let target = starling.folders.models.join(format!("{name}.gguf"));
    if target.exists() {
        return Err(CliError::refused(format!("there is a model {name} already")));
    }
    copy(file, &target).map_err(|e| CliError::refused(format!("the file cannot be copied: {e}")))?;
    out.result(&json!({ "name": name, "bytes": examined.bytes, "path": target }), || format!("imported {name}"))
}

/// Where the file system can, this shares the blocks; else it copies. The name appears only when all is there.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let part = to.with_extension("part");
    let copied = std::fs::copy(from, &part).and_then(|_| std::fs::File::open(&part)?.sync_all());
    copied.and_then(|()| std::fs::rename(&part, to)).inspect_err(|_| drop(std::fs::remove_file(&part)))
}

fn remove(name: &str, out: Output) -> CliResult {
    let starling = super::open()?;
    let file = starling.shelf.file(name).ok_or_else(|| unknown(name))?;
    if !file.path.starts_with(&starling.folders.models) {
        let place = file.path.display();
        return Err(CliError::refused(format!(
            "{place} does not lie in the data folder; Starling removes nothing elsewhere"
        )));
    }
    starling.residency.release(&file.name);
    std::fs::remove_file(&file.path).map_err(CliError::refused)?;
    out.result(&json!({ "name": name, "removed": true }), || format!("removed {name}"))
}

pub fn unknown(name: &str) -> CliError {
    CliError::refused(format!("there is no model {name}")).hint("`starling models list` shows what there is")
}

fn catalogued(starling: &Starling, entry: &Entry, budget: u64) -> Value {
    let file = starling.shelf.file(&entry.name);
    let memory_mb = file.as_ref().map_or(entry.min_memory_mb, |file| file.memory_mb);
    json!({
        "name": entry.name, "title": entry.title, "on_disk": file.is_some(), "path": file.as_ref().map(|file| &file.path),
        "bytes": file.as_ref().map_or(entry.bytes, |file| file.bytes), "millions": entry.millions,
        "licence": entry.licence, "may": entry.roles, "memory_mb": memory_mb, "fits": memory_mb <= budget,
        "pinned": !entry.sha256.is_empty(), "default": entry.default,
        "certificate": certificate::read(starling, &entry.name),
    })
}

fn on_disk(starling: &Starling, file: &ModelFile, budget: u64) -> Value {
    json!({
        "name": file.name, "on_disk": true, "path": file.path, "bytes": file.bytes, "millions": file.millions,
        "memory_mb": file.memory_mb, "fits": file.memory_mb <= budget,
        "certificate": certificate::read(starling, file.name.as_str()),
    })
}

fn text(models: &[Value], roles: &[Value]) -> String {
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut text = String::new();
    for model in models {
        let place = if model["on_disk"] == true { "on disk" } else { "can be downloaded" };
        let fits = if model["fits"] == true { "fits" } else { "too large for this machine now" };
        let megabytes = model["bytes"].as_u64().unwrap_or(0) / 1_000_000;
        text.push_str(&format!("{:<32} {megabytes:>6} MB  {place}, {fits}\n", word(&model["name"])));
    }
    text.push('\n');
    for role in roles {
        let how = if role["bound"] == true { "" } else { " (by itself)" };
        text.push_str(&format!("{:<9} {}{how}\n", word(&role["role"]), word(&role["model"])));
    }
    text
}
