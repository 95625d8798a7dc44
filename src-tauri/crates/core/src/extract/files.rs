//! Paths that a task names, as it writes them, without line numbers.
//!
//! Known extensions and names only: a dot in prose is mostly no path. Deliberately absent: whether a file exists.

use super::text::{Found, add, masked, slice};
use super::trace::{self, Frame};
use crate::code::Span;
use regex::Regex;
use std::sync::LazyLock;

const EXTENSIONS: &str = "rs|pyi?|ipynb|m?jsx?|cjs|m?tsx?|cts|vue|svelte|astro|go|java|kts?|scala|sbt|groovy|gradle|clj[sc]?|php|phtml|twig|rb|erb|rake|gemspec|c|cc|cpp|cxx|h|hh|hpp|hxx|m|mm|cs|csproj|sln|fsx?|vb|swift|dart|lua|pl|pm|r|jl|exs?|eex|heex|erl|hrl|hs|mli?|nim|zig|v|sv|vhdl?|asm|s|md|mdx|rst|adoc|tex|toml|ya?ml|jsonc?|json5|jsonl|ndjson|html?|xhtml|css|scss|sass|less|txt|csv|tsv|sql|sh|bash|zsh|fish|ps1|bat|cmd|xml|xsd|xsl|svg|ini|cfg|conf|config|properties|env|lock|proto|graphqls?|gql|tf|tfvars|hcl|nix|cmake|mk|make|dockerfile|tmpl|tpl|hbs|ejs|pug|jinja2?|j2|liquid|po|pot|strings|resx|plist|xaml|storyboard|wasm|wat|glsl|vert|frag|patch|diff|snap|log|golden|service|desktop|feature|http|bib";

const NAMES: &str = r"Makefile|GNUmakefile|Dockerfile(?:\.[\w-]+)?|Containerfile|Jenkinsfile|Vagrantfile|Procfile|Gemfile|Rakefile|Podfile|Brewfile|Justfile|justfile|CMakeLists\.txt|go\.(?:mod|sum|work)|Cargo\.lock|BUILD|WORKSPACE|CODEOWNERS|LICENSE|\.gitignore|\.gitattributes|\.editorconfig|\.dockerignore|\.npmrc|\.nvmrc|\.eslintrc|\.prettierrc|\.babelrc|\.env(?:\.\w+)?|\.gitlab-ci\.yml";

static PATH: LazyLock<Regex> = LazyLock::new(|| {
    // Letters of any script may stand in a folder's name; a word in front without a space (Korean, Japanese) may not
    // swallow the path, hence ASCII first.
    Regex::new(&format!(
        r"(?P<path>(?:~[/\\]|[A-Za-z]:[/\\]|\.{{0,2}}[/\\])?(?:[A-Za-z0-9_.@\[\]()+-]+[/\\])*(?:(?:[A-Za-z0-9_\[@-][A-Za-z0-9_.@\[\]+-]*|\.[A-Za-z0-9_-]+)\.(?i:{EXTENSIONS})|{NAMES}))(?P<after>[^A-Za-z0-9_]|$)"
    ))
    .expect("valid")
});
static URL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b[a-z][a-z0-9+.-]{1,12}://[^\s<>"'`)\]]+|\bwww\.[^\s<>"'`)]+|[\w.+-]+@[\w-]+\.[\w.-]+"#)
        .expect("valid")
});
/// Products that look like a file.
static PRODUCT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:node|vue|next|nuxt|react|express|d3|three|chart|ember|backbone|discord|angular|alpine|moment|day|socket|p5|deno|bun|nest|knex|fastify|require|underscore|handlebars|mustache|bull|pdf|ml|tensorflow|paper|pixi|phaser|plotly|leaflet|hls|video|solid|electron|meteor|sails|koa|hapi|adonis)\.(?:js|ts)$|^(?:asp|ado|vb)\.net$|^\d+(?:\.\d+)*\.(?:m|s|h|c|r|v)$").expect("valid")
});
static DIFF: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^(?:diff --git |--- a/|\+\+\+ b/|index [0-9a-f]{6,})").expect("valid"));

/// The text with addresses blanked: their tails look like paths.
pub(super) fn without_urls(text: &str) -> String {
    let spans: Vec<Span> = URL.find_iter(text).map(|m| Span::new(m.start(), m.end())).collect();
    masked(text, &spans)
}

/// Where paths stand, for the stages that must not read them as something else.
pub(super) fn spans(text: &str) -> Vec<Span> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = PATH.captures_at(text, at).and_then(|found| found.name("path")) {
        let span = Span::new(found.start(), found.end());
        if starts_cleanly(text, span) {
            out.push(span);
        }
        at = found.end().max(at + 1);
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    out
}

pub(super) fn files(text: &str, frames: &[Frame]) -> Vec<Found> {
    let foreign: Vec<Span> = frames.iter().filter(|frame| frame.foreign).map(|frame| frame.span).collect();
    let readable = without_urls(&masked(text, &foreign));
    let diff = DIFF.is_match(text);
    let mut out: Vec<Found> = Vec::new();
    for span in spans(&readable) {
        let span = bare(&readable, span, diff);
        let path = slice(&readable, span);
        if is_project_path(&readable, span, path) {
            add(&mut out, Found { value: path.to_owned(), span: Some(span) });
        }
    }
    // A trace names its files by a pattern of its own, also as an address (`file:///src/a.ts`).
    for frame in frames.iter().filter(|frame| !frame.foreign) {
        add(&mut out, Found { value: frame.frame.path.clone(), span: Some(frame.path) });
    }
    out.sort_by_key(|found| found.span.map(|span| span.start));
    without_short_forms(out)
}

fn starts_cleanly(text: &str, span: Span) -> bool {
    let before = text.get(..span.start).and_then(|before| before.chars().next_back());
    !before.is_some_and(|c| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '\\' | '@' | '-' | '.' | '$' | '%' | '~' | '*' | '}')
    })
}

/// Without brackets that belong to the sentence, and without the `a/` and `b/` of a diff.
fn bare(text: &str, span: Span, diff: bool) -> Span {
    let path = slice(text, span);
    let mut start = span.start;
    let stripped = path.trim_start_matches(['(', '[', '+', '-', '.']);
    let dotted = path.starts_with("./") || path.starts_with("../") || path.starts_with('.') && !path.starts_with("..");
    if !dotted {
        let lead = path.len() - stripped.len();
        let balanced = path.matches('(').count() == path.matches(')').count()
            && path.matches('[').count() == path.matches(']').count();
        if lead > 0 && !(balanced && path.starts_with(['(', '['])) {
            start += lead;
        }
    }
    let path = text.get(start..span.end).unwrap_or("");
    if let Some(at) = path.find('(').filter(|_| path.matches('(').count() != path.matches(')').count()) {
        start += at + 1;
    }
    let path = text.get(start..span.end).unwrap_or("");
    let line = text.get(..start).and_then(|before| before.rsplit('\n').next()).unwrap_or("");
    let header = line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("diff --git ");
    if diff && header && (path.starts_with("a/") || path.starts_with("b/")) {
        start += 2;
    }
    Span::new(start, span.end)
}

fn is_project_path(text: &str, span: Span, path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let short = !path.contains(['/', '\\']);
    let after = text.get(span.end..).unwrap_or("");
    let before = text.get(..span.start).and_then(|before| before.chars().next_back());
    // A call or an attribute ("self.conf.get", "app.config(") and a longer name ("x.c.y") are no paths.
    let goes_on = after.starts_with('(')
        || after.starts_with('/')
        || after.starts_with('=')
        || (after.starts_with('.') && after.chars().nth(1).is_some_and(char::is_alphanumeric));
    let extension = name.rsplit_once('.').map_or("", |(_, ext)| ext);
    let version = name.trim_start_matches(['v', 'V']).starts_with(|c: char| c.is_ascii_digit());
    let weak = short
        && extension.len() == 1
        && (version || !matches!(extension, "c" | "h"))
        && before != Some('`')
        && !name.contains(['_', '-']);
    // `args.config` and `req.http` are attributes far more often than files.
    let attribute = short
        && matches!(
            extension,
            "config"
                | "properties"
                | "strings"
                | "service"
                | "feature"
                | "http"
                | "diff"
                | "patch"
                | "desktop"
                | "make"
                | "map"
        )
        && !matches!(
            name,
            "web.config" | "app.config" | "nuget.config" | "application.properties" | "gradle.properties"
        );
    let license_word = matches!(path, "BUILD" | "WORKSPACE" | "LICENSE") && before != Some('`');
    !(goes_on
        || trace::is_foreign_path(path)
        || PRODUCT.is_match(name) && short
        || weak
        || attribute
        || license_word
        || path.contains("//"))
}

/// `executor.go` says nothing beside `internal/workflow/executor.go`; `README.md` is a file of its own.
fn without_short_forms(all: Vec<Found>) -> Vec<Found> {
    let key = |path: &str| path.replace('\\', "/").trim_start_matches("./").to_owned();
    let keys: Vec<String> = all.iter().map(|found| key(&found.value)).collect();
    let absolute = |path: &str| path.starts_with('/') || path.get(1..3) == Some(":/");
    let mut out: Vec<Found> = Vec::new();
    for (index, found) in all.into_iter().enumerate() {
        let Some(own) = keys.get(index) else { continue };
        let twin = keys.get(..index).is_some_and(|before| before.contains(own));
        // Of an absolute path and its tail with folders, the tail is the one inside the project.
        let shortened =
            keys.iter().any(|other| other.ends_with(&format!("/{own}")) && !(absolute(other) && own.contains('/')));
        let prefixed = absolute(own)
            && keys.iter().any(|other| other.contains('/') && !absolute(other) && own.ends_with(&format!("/{other}")));
        let common = matches!(
            own.as_str(),
            "README.md"
                | "mod.rs"
                | "index.ts"
                | "index.js"
                | "__init__.py"
                | "Cargo.toml"
                | "package.json"
                | "main.go"
        );
        if !(twin || prefixed || (shortened && !common)) {
            out.push(found);
        }
    }
    out
}
