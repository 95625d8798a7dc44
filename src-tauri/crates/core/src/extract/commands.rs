//! Commands that a task names: inline code, prompts, shell fences, indented lines, and bare ones after "run".
//!
//! Deliberately absent: running or judging them. A command of a task file is data.

use super::blocks::{Block, Shape};
use super::text::{Found, add, collapsed, inline_code, lines, slice, trimmed};
use crate::code::Span;
use regex::Regex;
use std::sync::LazyLock;

const TOOLS: &str = r"cargo|rustup|rustc|npm|npx|pnpm|yarn|bunx?|node|deno|tsc|vite|vitest|jest|mocha|eslint|prettier|python[\d.]*|py|pytest|tox|nox|pip[\d.]*|pipx|pipenv|poetry|uvx?|hatch|ruff|mypy|black|flake8|django-admin|uvicorn|gunicorn|flask|celery|alembic|go|gofmt|golangci-lint|make|cmake|ctest|ninja|meson|bazel|buck2?|just|task|php|composer|phpunit|artisan|(?:\./)?vendor/bin/\w+|ruby|bundle|rake|rails|rspec|gem|java|javac|mvn|(?:\./|\.\\)?mvnw|gradle|(?:\./|\.\\)?gradlew(?:\.bat)?|sbt|kotlinc?|dotnet|msbuild|swift|xcodebuild|dart|flutter|mix|elixir|iex|cabal|stack|zig|gcc|g\+\+|clang(?:\+\+)?|git|gh|docker(?:-compose)?|podman|kubectl|helm|terraform|ansible(?:-playbook)?|vagrant|curl|wget|psql|mysql|sqlite3|redis-cli|jq|sed|awk|grep|rg|find|bash|sh|zsh|pwsh|powershell|systemctl|journalctl|sudo|ssh|scp|rsync|tar|nix|brew|apt(?:-get)?|valgrind|gdb|lldb|perf|strace|hyperfine|pre-commit|act|wrangler|aws|gcloud|az|code|open|export|set|cd|rm|cp|mv|mkdir|touch|cat|echo|ls|chmod|chown|source|env|time|watch|xargs|tee|kill|ps|printf|head|tail|wc|sort|diff|patch";

/// Tools whose names are English words need an argument that only a command has.
const WORDY: [&str; 33] = [
    "go", "make", "just", "task", "time", "watch", "find", "open", "set", "code", "stack", "mix", "sort", "head",
    "tail", "kill", "env", "source", "patch", "cat", "diff", "echo", "export", "touch", "act", "time", "node", "black",
    "helm", "swift", "ruby", "rails", "gem",
];

static KNOWN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"^(?:[A-Z_][A-Z0-9_]*=\S* )*(?P<tool>{TOOLS})(?:\s+(?P<rest>\S.*))?$")).expect("valid")
});
static PROMPT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:[\w.-]+@[\w.-]+[:\s][^$#%>\n]{0,40}[$#%]|\([\w.-]+\)\s*\$|[$%❯➜]|PS(?: [A-Z]:[^>\n]*)?>|[A-Z]:\\[^>\n]*>)\s+(?P<command>\S.*?)\s*$").expect("valid")
});
/// After words that announce a command; group `command` reaches to the end of the line.
static BARE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i:[(（]|\b(?:run|running|with|using|via|execute|call|try|type|start|invoke|by|mit|avec|con|führe|ausführen|lancer|ejecutar?|command|cmd|test|tests|check|verify|reproduce|and|then|do)\b:?|[:：]|실행[:：]?|実行[:：]?|运行|执行|^\s*(?:\d+[.)]|[-*])?)\s*(?P<command>(?:[A-Z_][A-Z0-9_]*=\S+ )*(?:{TOOLS})\s+[^\n`]+)"
    ))
    .expect("valid")
});
static PLAIN_WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[a-z][a-z0-9-]*(?: [a-z][a-z0-9:_-]*){1,2}$").expect("valid"));
static FLAGGED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:\./|\.\\)?[A-Za-z][\w./\\-]*(?:\s+\S+)*\s+--?[A-Za-z][\w-]*").expect("valid"));
static SHELL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:sh|bash|zsh|fish|shell|console|terminal|shell-?session|sh-session|powershell|pwsh|ps1|cmd|bat|batch|dos|command)$").expect("valid")
});
static CODE_WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:return|const|let|var|async|await|pub|fn|def|class|type|import|from|new|throw|raise|if|else|for|while|use|static|select|insert|update|delete|create|alter|drop|order|group|not|at|did|set|is|in|no|null|void|int|string|true|false|on|off|the|a|an|to|of|and|or|with|per|one|two|every|each|extends|implements|struct|enum|impl|interface|func|function|public|private|protected|yield|case|match|try|catch|finally|with|as|do|this|that|your|my|his|its|hello|foo|bar|grid|content|text|application|utf|max|min|left|right|invalid|unknown|missing|cannot|can|could|no|unexpected|expected|file|page|key|value|user|error|warning|empty)$").expect("valid")
});

pub(super) fn commands(text: &str, blocks: &[Block]) -> Vec<Found> {
    let mut out = Vec::new();
    for block in blocks {
        match &block.shape {
            Shape::Code { language, fenced } => of_code(&mut out, text, block.span, language, *fenced),
            Shape::Paragraph | Shape::Item { .. } | Shape::Row | Shape::Quote | Shape::Heading(_) => {
                of_prose(&mut out, text, block.span)
            }
            Shape::Log => of_prompts(&mut out, text, block.span),
        }
    }
    out
}

/// What ends in a colon announces what comes below it ("stack backtrace:", "head commit:"); nobody types that.
fn announces(line: &str) -> bool {
    line.trim_end().ends_with([':', '：'])
}

/// Whether inline code or a value is a command, by its first word and its shape; `announced` after "run".
pub(super) fn is_command(code: &str, announced: bool) -> bool {
    let code = collapsed(code);
    if announces(&code) {
        return false;
    }
    let code = code.trim_start_matches("$ ").trim_start_matches("> ");
    if let Some(found) = KNOWN.captures(code) {
        let tool = found.name("tool").map_or("", |m| m.as_str());
        let rest = found.name("rest").map_or("", |m| m.as_str());
        return match rest {
            "" => announced && (tool == "make" || !WORDY.contains(&tool)),
            _ => !rest.starts_with(['=', '(']) && (!WORDY.contains(&tool) || is_argument(tool, rest)),
        };
    }
    let first = code.split(' ').next().unwrap_or("");
    let several = code.contains(' ');
    let script = (first.starts_with("./")
        || first.starts_with(".\\")
        || first.starts_with("scripts/")
        || first.starts_with("bin/"))
        && first.len() > 3;
    if !several || CODE_WORD.is_match(&first.to_lowercase()) || code.contains(['{', '}', ',']) && !code.contains(" --")
    {
        return false;
    }
    let name = first.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '\\'));
    script
        || (name && FLAGGED.is_match(code) && !code.contains(" = "))
        || PLAIN_WORDS.is_match(code) && code.split(' ').all(|word| !CODE_WORD.is_match(word))
}

fn is_argument(tool: &str, rest: &str) -> bool {
    let first = rest.split(' ').next().unwrap_or("");
    match tool {
        "go" => matches!(
            first,
            "test"
                | "run"
                | "build"
                | "vet"
                | "doc"
                | "mod"
                | "generate"
                | "install"
                | "get"
                | "tool"
                | "fmt"
                | "work"
                | "env"
                | "list"
                | "clean"
        ),
        "make" => {
            let prose = [
                "sure", "it", "the", "a", "an", "me", "this", "that", "them", "every", "each", "all", "us", "use",
                "no", "any", "sense", "these", "those", "some", "our", "your",
            ];
            !prose.contains(&first) && first.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '-')
        }
        "set" => first.starts_with('-'),
        _ => {
            first.starts_with('-')
                || first.contains(['.', '/', '=', ':', '"'])
                || matches!(tool, "just" | "mix" | "rails" | "helm" | "swift" | "task" | "gem")
        }
    }
}

fn of_code(out: &mut Vec<Found>, text: &str, span: Span, language: &str, fenced: bool) {
    let body = slice(text, span);
    let prompted = body.lines().any(|line| PROMPT.is_match(line));
    if prompted {
        return of_prompts(out, text, span);
    }
    let shell = SHELL.is_match(language);
    if !(shell || language.is_empty() || language == "text" || language == "plaintext" || !fenced) {
        return;
    }
    let all: Vec<Span> = line_spans(text, span);
    // Output, logs and code stand in fences without a language too: there only known tools count, and only from the top.
    let mut index = 0;
    while let Some(line) = all.get(index).copied() {
        index += 1;
        let words = slice(text, line);
        if words.is_empty()
            || announces(words)
            || words.starts_with('#')
            || words.starts_with("//")
            || words.starts_with("REM ")
        {
            continue;
        }
        let mut end = line.end;
        while slice(text, Span::new(line.start, end)).ends_with('\\') {
            let Some(next) = all.get(index) else { break };
            end = next.end;
            index += 1;
        }
        let whole = Span::new(line.start, end);
        let known = KNOWN.captures(words).is_some_and(|found| {
            let tool = found.name("tool").map_or("", |m| m.as_str());
            found.name("rest").is_some_and(|rest| !WORDY.contains(&tool) || is_argument(tool, rest.as_str()))
        });
        let typed =
            !fenced && (words.contains("; ") || words.contains(" | ") || words.contains(" && ")) && is_word(words);
        if (shell && is_shell_line(words)) || known || typed || (!fenced && is_command(words, false)) {
            add(out, Found { value: slice(text, whole).to_owned(), span: Some(whole) });
        }
    }
}

fn is_word(line: &str) -> bool {
    line.split(' ')
        .next()
        .is_some_and(|first| first.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')))
}

/// Not every line of a shell fence is typed: results and messages stand there as well.
fn is_shell_line(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or("");
    let name = first.trim_start_matches(['.', '/', '~', '&', '"', '\'']);
    KNOWN.is_match(line)
        || first.contains('=')
        || (name.chars().next().is_some_and(|c| c.is_ascii_lowercase())
            && !first.ends_with(':')
            && !matches!(first, "error" | "warning" | "note" | "thread" | "done" | "ok"))
        || first.starts_with("./")
        || first.starts_with(".\\")
}

fn of_prompts(out: &mut Vec<Found>, text: &str, span: Span) {
    let all = line_spans(text, span);
    let mut index = 0;
    while let Some(line) = all.get(index).copied() {
        index += 1;
        let Some(found) = PROMPT.captures(slice(text, line)).and_then(|found| found.name("command")) else { continue };
        let start = line.start + found.start();
        let mut end = line.start + found.end();
        while slice(text, Span::new(start, end)).ends_with('\\') {
            let Some(next) = all.get(index) else { break };
            end = next.end;
            index += 1;
        }
        let whole = Span::new(start, end);
        let words = slice(text, whole);
        if !words.starts_with(|c: char| c.is_ascii_digit()) {
            add(out, Found { value: words.to_owned(), span: Some(whole) });
        }
    }
}

fn line_spans(text: &str, span: Span) -> Vec<Span> {
    lines(slice(text, span))
        .into_iter()
        .map(|line| trimmed(text, Span::new(span.start + line.start, span.start + line.end)))
        .collect()
}

static ANNOUNCES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:\b(?:run|runs|running|execute|executing|call|calling|use|using|try|via|invoke|type|with|now|command|by|start|führe|starte|mit|lance[rz]?|exécute[rz]?|ejecut\w+|corr[ea]\w*)|실행|실행:|実行|运行|执行|[:：])\s*[(\x22']?$").expect("valid")
});
/// Words after the code that say that it was run ("`x y` prints", "`x y` 를 실행하면").
static WAS_RUN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:prints?|shows?|fails?|passes|exits?|leaves|returns?|hangs?|crashes|succeeds|runs?|works|gives|outputs?|reports?|[을를로]?\s?(?:으로 |로 )?(?:실행|돌리)|を?(?:で)?実行|ausführen|aufrufen|starten)").expect("valid")
});

fn of_prose(out: &mut Vec<Found>, text: &str, span: Span) {
    let codes = inline_code(text, span);
    for code in &codes {
        let words = slice(text, code.inner);
        let before = text.get(span.start..code.outer.start).unwrap_or("");
        let after = text.get(code.outer.end..span.end).unwrap_or("");
        let announced = ANNOUNCES.is_match(before.trim_end()) || WAS_RUN.is_match(after);
        if is_command(words, announced) {
            let inner = trimmed(text, code.inner);
            let at = slice(text, inner).strip_prefix("$ ").map_or(inner.start, |rest| inner.end - rest.len());
            add(out, Found::at(text, Span::new(at, inner.end)));
        }
    }
    let prose: String = super::text::masked(
        slice(text, span),
        &codes
            .iter()
            .map(|code| Span::new(code.outer.start - span.start, code.outer.end - span.start))
            .collect::<Vec<_>>(),
    );
    for line in lines(&prose) {
        let body = slice(&prose, line);
        for found in BARE.captures_iter(body) {
            let Some(command) = found.name("command") else { continue };
            let length = command_length(command.as_str());
            let words = command.as_str().get(..length).unwrap_or("").trim_end();
            if length > 0 && is_typed(words) {
                let start = span.start + line.start + command.start();
                let whole = Span::new(start, start + words.len());
                // A blanked inline code inside would leave a hole.
                if slice(text, whole) == words {
                    add(out, Found { value: words.to_owned(), span: Some(whole) });
                }
            }
        }
    }
}

/// How far a bare command reaches: up to punctuation or a word that no command line has.
fn command_length(line: &str) -> usize {
    let stops = [
        "and", "or", "then", "to", "in", "the", "a", "an", "before", "after", "but", "so", "which", "when", "that",
        "und", "et", "y", "is", "it", "should", "must", "does", "at", "as", "now", "fails", "prints", "works", "first",
        "again", "still", "from", "into", "because", "since", "every", "on", "for", "of", "with", "if", "instead",
    ];
    let mut length = 0;
    let mut at = 0;
    for (index, word) in line.split(' ').enumerate() {
        let bare = word.trim_end_matches(['.', ',', ';', ')', '?', '!', ':']);
        if word.is_empty() || (index > 0 && stops.contains(&bare)) || !word.is_ascii() {
            break;
        }
        // "./..." is an argument, "tests." ends a sentence.
        let ends = word.len() > bare.len() && !word.ends_with("/...") && !word.ends_with("/.") && word != ".";
        length = at + if ends { bare.len() } else { word.len() };
        if ends {
            break;
        }
        at += word.len() + 1;
    }
    length.min(line.len())
}

/// A bare command has to prove itself more than one in code marks.
fn is_typed(words: &str) -> bool {
    let Some(found) = KNOWN.captures(words) else { return false };
    let tool = found.name("tool").map_or("", |m| m.as_str());
    let Some(rest) = found.name("rest").map(|m| m.as_str()) else { return false };
    let argument = rest.split(' ').any(|word| word.starts_with('-') || word.contains(['/', '\\', '=', '.', ':', '"']));
    let task = matches!(
        tool,
        "make"
            | "go"
            | "cargo"
            | "npm"
            | "yarn"
            | "pnpm"
            | "just"
            | "dotnet"
            | "mvn"
            | "composer"
            | "git"
            | "docker"
            | "bundle"
            | "poetry"
            | "mix"
            | "pytest"
    ) && rest.split(' ').next().is_some_and(|word| {
        word.len() > 2 && word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | ':' | '_'))
    }) && (rest.split(' ').count() <= 4);
    let wordy = WORDY.contains(&tool);
    let script = tool.starts_with("./") || tool.starts_with(".\\");
    (argument
        || script
        || (task
            && !matches!(tool, "docker" | "git" | "npm" | "yarn" | "composer" | "poetry" | "pytest" | "cargo" | "go"))
        || (task
            && matches!(
                rest.split(' ').next().unwrap_or(""),
                "test"
                    | "run"
                    | "build"
                    | "install"
                    | "lint"
                    | "check"
                    | "clippy"
                    | "bench"
                    | "fmt"
                    | "start"
                    | "dev"
                    | "up"
                    | "vet"
                    | "generate"
            )))
        && (!wordy || is_argument(tool, rest))
}
