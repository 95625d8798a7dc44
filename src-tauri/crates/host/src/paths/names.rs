//! Names that are never written, and names that need a person, whatever their spelling.

use starling_core::RelPath;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    Free,
    /// May be written only when a person has seen what it does.
    Ask(&'static str),
    Never(&'static str),
}

pub fn protection(path: &RelPath) -> Protection {
    let parts: Vec<String> = path.as_str().split('/').map(folded).collect();
    let never = parts.iter().find_map(|part| never(part));
    if let Some(reason) = never {
        return Protection::Never(reason);
    }
    parts.last().and_then(|name| ask(name)).map_or(Protection::Free, Protection::Ask)
}

/// Lower case, without characters that do not show, full-width letters as plain ones: as lenient file systems compare.
fn folded(part: &str) -> String {
    let visible = part.chars().filter(|c| {
        !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
    });
    let plain = visible.map(|c| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{2024}' => '.',
        other => other,
    });
    plain.flat_map(char::to_lowercase).collect::<String>().trim_end_matches(['.', ' ']).to_owned()
}

fn never(part: &str) -> Option<&'static str> {
    let config =
        [".cursor", ".mcp.json", ".claude", ".codex", ".gemini", ".vscode", ".idea", ".devcontainer", ".starling"];
    let secret = [".npmrc", ".netrc", ".ssh", ".pypirc"];
    if matches!(part, ".git" | ".hg" | ".svn") {
        return Some("it belongs to version control");
    }
    if config.contains(&part) || part.ends_with(".code-workspace") {
        return Some("tools run what stands in it");
    }
    if part == ".husky" || part.starts_with(".envrc") {
        return Some("it is run without being asked for");
    }
    let keyed = part.starts_with(".env") || part.starts_with("id_") || secret.contains(&part);
    let key_file = [".pem", ".kdbx", ".tfstate", ".p12", ".key"].iter().any(|end| part.ends_with(end));
    (keyed || key_file).then_some("it may hold secrets")
}

fn ask(name: &str) -> Option<&'static str> {
    match name {
        ".gitattributes" | ".gitmodules" => Some("it changes what git does"),
        "agents.md" | "claude.md" | "gemini.md" | "copilot-instructions.md" => {
            Some("assistants read it as instructions")
        }
        "package.json" | "makefile" | "build.rs" | "conftest.py" | "setup.py" | "cargo.toml" | "pyproject.toml" => {
            Some("it decides which commands run")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, never: bool) {
        let found = protection(&RelPath::new(path).expect("a good path"));
        assert_eq!(matches!(found, Protection::Never(_)), never, "{path}: {found:?}");
    }

    #[test]
    fn protects_names_in_every_spelling() {
        for path in [
            ".git/config",
            ".GIT/hooks/pre-commit",
            ".VsCode/tasks.json",
            ".g\u{200c}it/config",
            "\u{ff0e}git/x",
            "a/.mcp.json",
            ".claude/settings.json",
            "x.code-workspace",
            ".idea/runConfigurations/a.xml",
            ".devcontainer/devcontainer.json",
            ".envrc",
            ".env",
            ".env.local",
            ".husky/pre-commit",
            "keys/id_ed25519",
            "certs/a.PEM",
            "infra/x.tfstate",
            ".starling/x",
        ] {
            check(path, true);
        }
        for path in
            ["src/git.py", "src/env.py", ".github/workflows/ci.yml", "id.py", "environment/.gitkeep", "video.py"]
        {
            check(path, false);
        }
    }

    #[test]
    fn asks_for_files_that_decide_what_runs() {
        for path in ["package.json", "a/conftest.py", "AGENTS.md", ".gitattributes"] {
            assert!(matches!(protection(&RelPath::new(path).expect("good")), Protection::Ask(_)), "{path}");
        }
    }
}
