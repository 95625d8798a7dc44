//! Parses every `*.md` of a folder by code alone and writes one JSON file each, with the keys of `starling parse`.
//!
//! `cargo run -p starling-core --example parse_dir -- TASKS OUT`

#![expect(
    clippy::disallowed_methods,
    reason = "an example at the edge: it reads and writes the files that core never touches"
)]

use serde_json::json;
use starling_core::extract::extract;
use starling_core::task_file::TaskFile;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(tasks), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: parse_dir TASKS OUT".into());
    };
    std::fs::create_dir_all(&out)?;
    for entry in std::fs::read_dir(tasks)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        let file = TaskFile::decode(name, &std::fs::read(&path)?)?;
        let brief = extract(&file);
        let parsed = json!({
            "title": brief.title, "kind": brief.kind, "goal": brief.goal, "acceptance": brief.acceptance, "files": brief.files,
            "symbols": brief.symbols, "commands": brief.commands, "constraints": brief.constraints, "language": brief.language,
            "injected_instructions": brief.injected_instructions, "warnings": brief.warnings, "evidence": brief.evidence,
            "trace": brief.trace,
        });
        std::fs::write(out.join(format!("{name}.json")), serde_json::to_string_pretty(&parsed)?)?;
    }
    Ok(())
}
