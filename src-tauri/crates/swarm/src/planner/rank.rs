//! What may have to change: symbols that the task names, that its trace passes through, or that its words are found in.

use crate::placing::is_test_path;
use starling_core::RelPath;
use starling_core::brief::{Brief, TaskKind};
use starling_core::code::{FileEntry, SymbolKind};
use starling_core::port::{CodeMap, MapError};
use starling_core::prompt::PlanTarget;
use std::collections::BTreeMap;

/// How many symbols the model chooses from.
const TARGETS: usize = 12;

/// The symbols that may have to change, best first, grouped by file.
pub(super) fn rank(brief: &Brief, map: &dyn CodeMap, files: &[FileEntry]) -> Result<Vec<PlanTarget>, MapError> {
    let mut scores: BTreeMap<(RelPath, String), f32> = BTreeMap::new();
    let mut add = |path: &RelPath, symbol: &str, score: f32| {
        if !is_test_path(path) {
            *scores.entry((path.clone(), symbol.to_owned())).or_default() += score;
        }
    };
    for (path, symbol) in &brief.grounded_symbols {
        add(path, symbol, if must_stay(brief, symbol) { -4.0 } else { 5.0 });
    }
    for (depth, frame) in brief.trace.iter().rev().enumerate() {
        for definition in map.definitions(crate::ground::bare(&frame.symbol))? {
            add(&definition.path, &definition.symbol.qualified, 4.0 / (1.0 + depth as f32));
        }
    }
    for path in &brief.grounded_files {
        for symbol in map.outline(path)?.symbols {
            add(path, &symbol.qualified, 2.0);
        }
    }
    let query = format!("{} {} {}", brief.title, brief.goal, brief.acceptance.join(" "));
    for (at, hit) in map.search(&query, 24)?.iter().enumerate() {
        let outline = map.outline(&hit.path)?;
        let within = outline.symbols.iter().filter(|s| s.lines.0 <= hit.line && hit.line <= s.lines.1);
        if let Some(symbol) = within.min_by_key(|s| s.span.len()) {
            add(&hit.path, &symbol.qualified, 1.5 / (1.0 + at as f32 * 0.25));
        }
    }
    let mut ranked = Vec::new();
    for ((path, symbol), score) in scores {
        let known = files.iter().any(|entry| entry.path == path);
        let outline = map.outline(&path)?;
        if let Some(found) = outline.symbols.iter().find(|s| s.qualified == symbol)
            && known
            && !found.is_test
            && found.kind != SymbolKind::Module
        {
            ranked.push(PlanTarget {
                path: path.to_string(),
                symbol,
                signature: found.signature.clone(),
                doc: found.doc.lines().next().unwrap_or("").to_owned(),
                score,
            });
        }
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    ranked.truncate(TARGETS);
    Ok(grouped(ranked))
}

/// Keeps the order of the files' best symbols, and puts the symbols of one file together.
fn grouped(ranked: Vec<PlanTarget>) -> Vec<PlanTarget> {
    let mut order: Vec<String> = Vec::new();
    for target in &ranked {
        if !order.contains(&target.path) {
            order.push(target.path.clone());
        }
    }
    let at = |path: &str| order.iter().position(|known| known == path);
    let mut ranked = ranked;
    ranked.sort_by_key(|target| at(&target.path));
    ranked
}

/// A constraint that names the symbol says that it stays.
pub(super) fn must_stay(brief: &Brief, symbol: &str) -> bool {
    let last = symbol.rsplit('.').next().unwrap_or(symbol);
    brief
        .constraints
        .iter()
        .any(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == last))
}

/// Names the task gives for what does not exist yet, with the file they belong to: the file of their container, else the
/// one file the task names.
pub(super) fn additions(
    brief: &Brief,
    map: &dyn CodeMap,
    targets: &[PlanTarget],
) -> Result<Vec<(RelPath, String)>, MapError> {
    let mut found = Vec::new();
    if !matches!(brief.kind, TaskKind::Feature | TaskKind::Refactor | TaskKind::Bug) {
        return Ok(found);
    }
    for name in &brief.symbols {
        let name = crate::ground::bare(name).replace("::", ".");
        if !map.definitions(&name)?.is_empty() || name.is_empty() {
            continue;
        }
        let place = match name.rsplit_once('.') {
            Some((container, last)) => {
                container_of(container, map)?.map(|(path, owner)| (path, format!("{owner}.{last}")))
            }
            None if brief.kind == TaskKind::Feature && looks_defined(brief, &name) => {
                let named = brief.grounded_files.iter().find(|path| !is_test_path(path)).cloned();
                let ranked = targets.first().and_then(|t| RelPath::new(t.path.clone()).ok());
                named.or(ranked).map(|path| (path, name.clone()))
            }
            None => None,
        };
        if let Some(place) = place
            && !found.contains(&place)
        {
            found.push(place);
        }
    }
    Ok(found)
}

/// The type a dotted name begins with, and its file.
fn container_of(container: &str, map: &dyn CodeMap) -> Result<Option<(RelPath, String)>, MapError> {
    let definitions = map.definitions(container)?;
    let types = definitions.into_iter().filter(|d| {
        matches!(
            d.symbol.kind,
            SymbolKind::Class
                | SymbolKind::Struct
                | SymbolKind::Enum
                | SymbolKind::Trait
                | SymbolKind::Interface
                | SymbolKind::Type
        )
    });
    Ok(types.map(|d| (d.path, d.symbol.qualified)).next())
}

/// A bare new name counts only when the task calls it or says to add it; a word in backticks may be anything.
fn looks_defined(brief: &Brief, name: &str) -> bool {
    let call = format!("{name}(");
    let told = [&brief.goal, &brief.title]
        .into_iter()
        .chain(&brief.acceptance)
        .any(|text| text.contains(&call) || text.contains(name));
    told && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
