//! `starling index`, `search` and `outline`: the code map. `outline` opens no data folder at all.

use super::output::{CliError, CliResult, Output};
use super::{args, input};
use crate::compose::project;
use serde_json::json;
use starling_core::code::Language;
use starling_core::port::CodeMap;
use std::time::Instant;

pub fn index(args: args::Index, out: Output) -> CliResult {
    let dir = input::project(&args.dir)?;
    let starling = super::open()?;
    let start = Instant::now();
    let map = project::index(&starling, &dir).map_err(CliError::refused)?;
    let files = map.files().map_err(CliError::refused)?;
    let millis = start.elapsed().as_secs_f64() * 1000.0;
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    let outlined = files.iter().filter(|file| file.language.is_some()).count();
    let result = json!({
        "project": dir.to_string_lossy(), "files": files.len(), "with_outline": outlined, "bytes": bytes, "millis": millis,
    });
    out.result(&result, || format!("{} files ({outlined} with an outline), {bytes} bytes, {millis:.0} ms", files.len()))
}

pub fn search(args: args::Search, out: Output) -> CliResult {
    let dir = input::project(&args.project)?;
    let starling = super::open()?;
    let start = Instant::now();
    let map = project::index(&starling, &dir).map_err(CliError::refused)?;
    let refreshed = start.elapsed().as_secs_f64() * 1000.0;
    let start = Instant::now();
    let hits = map.search(&args.query, args.limit).map_err(CliError::refused)?;
    let millis = start.elapsed().as_secs_f64() * 1000.0;
    let result = json!({ "query": args.query, "hits": hits, "millis": millis, "index_millis": refreshed });
    out.result(&result, || hits.iter().map(|hit| format!("{}:{}: {}\n", hit.path, hit.line, hit.text.trim())).collect())
}

pub fn outline(args: args::Outline, out: Output) -> CliResult {
    let bytes = input::read(&args.file)?;
    let text = String::from_utf8_lossy(&bytes);
    let extension = args.file.extension().map(|ext| ext.to_string_lossy().into_owned()).unwrap_or_default();
    let start = Instant::now();
    let outline = match Language::of_extension(&extension) {
        Some(language) => starling_syntax::outline(language, &text),
        None => return Err(CliError::refused(format!("{} is in no language with an outline", args.file.display()))),
    };
    let millis = start.elapsed().as_secs_f64() * 1000.0;
    let result = json!({
        "language": outline.language, "symbols": outline.symbols, "imports": outline.imports, "errors": outline.errors,
        "millis": millis,
    });
    out.result(&result, || {
        let symbol = |s: &starling_core::code::Symbol| format!("{:>5}  {:<9} {}\n", s.lines.0, kind(s), s.qualified);
        outline.symbols.iter().map(symbol).collect()
    })
}

fn kind(symbol: &starling_core::code::Symbol) -> String {
    format!("{:?}", symbol.kind).to_lowercase()
}
