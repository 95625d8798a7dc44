//! Names that are never written, and names that need a person, whatever their spelling.

use super::fold::folded;
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
    let name = parts.last().map_or("", String::as_str);
    let never = parts.iter().find_map(|part| never(part)).or_else(|| private_key(name));
    if let Some(reason) = never {
        return Protection::Never(reason);
    }
    let folder = parts.first().map_or("", String::as_str);
    ask(name).or_else(|| ask_in(folder)).map_or(Protection::Free, Protection::Ask)
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
    let key_file = [".pem", ".kdbx", ".tfstate", ".p12", ".key"].iter().any(|end| part.ends_with(end));
    (part.starts_with(".env") || secret.contains(&part) || key_file).then_some("it may hold secrets")
}

/// `id_rsa`, `id_ed25519.pub`, but not `id_map.py`: key files have no other extension.
fn private_key(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix("id_")?;
    (!rest.contains('.') || rest.ends_with(".pub")).then_some("it may hold secrets")
}

fn ask(name: &str) -> Option<&'static str> {
    match name {
        ".gitattributes" | ".gitmodules" => Some("it changes what git does"),
        "agents.md" | "claude.md" | "gemini.md" | "copilot-instructions.md" => {
            Some("assistants read it as instructions")
        }
        "package.json"
        | "makefile"
        | "gnumakefile"
        | "justfile"
        | "rakefile"
        | "jenkinsfile"
        | "dockerfile"
        | "build.rs"
        | "cargo.toml"
        | "rust-toolchain"
        | "rust-toolchain.toml"
        | "conftest.py"
        | "setup.py"
        | "setup.cfg"
        | "tox.ini"
        | "noxfile.py"
        | "pytest.ini"
        | "pyproject.toml"
        | "sitecustomize.py"
        | "build.gradle"
        | "build.gradle.kts"
        | "pom.xml"
        | "cmakelists.txt"
        | ".gitlab-ci.yml"
        | ".travis.yml"
        | ".pre-commit-config.yaml" => Some("it decides which commands run"),
        _ => None,
    }
}

fn ask_in(folder: &str) -> Option<&'static str> {
    matches!(folder, ".github" | ".circleci" | ".cargo").then_some("it decides which commands run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(paths: &[&str], expected: fn(Protection) -> bool) {
        for path in paths {
            let found = protection(&RelPath::new(*path).expect("a good path"));
            assert!(expected(found), "{path}: {found:?}");
        }
    }

    #[test]
    fn protects_names_in_every_spelling() {
        let paths = [
            ".git/config",
            ".GIT/hooks/pre-commit",
            ".VsCode/tasks.json",
            ".g\u{200c}it/config",
            ".g\u{e0069}it/config",
            "\u{ff0e}git/x",
            ".\u{1d4f0}it/x",
            ".\u{017f}vn/entries",
            "a/.mcp.json",
            ".claude/settings.json",
            "x.code-workspace",
            ".idea/runConfigurations/a.xml",
            ".devcontainer/devcontainer.json",
            ".envrc",
            ".env",
            ".env.local",
            ".husky/pre-commit",
            ".hus\u{212a}y/pre-commit",
            "keys/id_ed25519",
            "keys/id_rsa.pub",
            "certs/a.PEM",
            "infra/x.tfstate",
            "infra/x.tf\u{fb06}ate",
            ".starling/x",
        ];
        check(&paths, |found| matches!(found, Protection::Never(_)));
    }

    #[test]
    fn does_not_refuse_common_names() {
        let paths = [
            "src/git.py",
            "src/env.py",
            "id.py",
            "src/id_map.py",
            "id_tools/a.py",
            "environment/.gitkeep",
            ".gitignore",
            "video.py",
            "docs/keys.md",
        ];
        check(&paths, |found| found == Protection::Free);
    }

    #[test]
    fn asks_for_files_that_decide_what_runs() {
        let paths =
            ["package.json", "a/conftest.py", "AGENTS.md", ".gitattributes", ".github/workflows/ci.yml", "MAKEFILE"];
        check(&paths, |found| matches!(found, Protection::Ask(_)));
    }
}
