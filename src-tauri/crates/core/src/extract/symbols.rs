//! Names of the code that a task mentions: in code marks, by their shape, at the failing end of a trace, and where a
//! snippet defines them.
//!
//! A plain lower-case word in code marks is as often a value or a key as a symbol; it counts only with a call's brackets.

use super::blocks::{Block, Shape};
use super::commands;
use super::files;
use super::sections::Section;
use super::text::{Found, add, inline_code, masked, slice};
use super::trace::{self, Frame};
use crate::code::Span;
use regex::Regex;
use std::sync::LazyLock;

/// A chain of identifiers, possibly called.
static CHAIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?P<name>[A-Za-z_$][A-Za-z0-9_$]*(?:(?:::|->|\.|#|\\)[A-Za-z_][A-Za-z0-9_]*)*[!?]?)(?P<call>\([^()\n]*\))?",
    )
    .expect("valid")
});
static DEFINED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[+\s]*(?:export\s+)?(?:default\s+)?(?:pub(?:\([^)]*\))?\s+|public\s+|private\s+|protected\s+|internal\s+|static\s+|final\s+|abstract\s+|async\s+|unsafe\s+|const\s+|override\s+|open\s+|data\s+|sealed\s+|virtual\s+)*(?:function\*?|def|fn|func(?:\s*\([^)\n]*\))?|fun|class|struct|enum|trait|interface|type|module|namespace|object|record|sub|impl(?:<[^>]*>)?)\s+(?P<name>[A-Za-z_][\w]*[!?]?)|(?m)^[+\s]*export\s+(?:const|let|var)\s+(?P<constant>[A-Za-z_$][\w$]*)|(?m)^[+\s]*(?:const|let|var)\s+(?P<arrow>[A-Za-z_$][\w$]*)\s*=\s*(?:async\s*)?(?:\([^)\n]*\)|\w+)\s*=>|(?m)^[+\s]*(?:(?:public|private|protected|internal|static|final|async|virtual|override|synchronized)\s+)+[\w<>\[\],.? ]+?\s(?P<method>[A-Za-z_]\w*)\s*\([^;\n]*$").expect("valid")
});
static SNAKE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+_*$").expect("valid"));
static CAMEL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^_?(?:[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|[A-Z][A-Z][a-z]+[A-Z]\w*|[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*)$").expect("valid")
});
static SHOUT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[A-Z]{4,}$").expect("valid"));
static PASCAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[A-Z][a-z0-9]{2,}$").expect("valid"));

static PLAIN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[a-z][a-z0-9]{3,}$").expect("valid"));
static CALLED_ONE_AFTER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?i:(?:function|method|class|struct|macro|helper|hook|component|decorator|trait|module)\b|(?:함수|메서드|클래스|メソッド|関数|クラス|函数|方法|类))").expect("valid")
});
static CALLED_ONE_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:\b(?:function|method|class|struct|macro|hook|component|decorator|trait|funktion|methode|klasse|fonction|méthode|función|método|clase)|함수|関数|メソッド|函数|方法)$").expect("valid")
});

/// Names of products, formats and the exceptions of languages: shaped like symbols, not of the project.
static COMMON: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:GitHub|GitLab|BitBucket|JavaScript|TypeScript|CoffeeScript|PostgreSQL|MySQL|MariaDB|MongoDB|SQLite|NoSQL|GraphQL|OpenAPI|OpenSSL|OpenSSH|OpenGL|WebGL|WebSockets?|WebAssembly|WebKit|WebRTC|WebView|YouTube|LinkedIn|LibreOffice|PowerShell|PowerPoint|OneDrive|OAuth\d?|macOS|iOS|iPadOS|tvOS|watchOS|iPhone|iPad|eBay|FreeBSD|OpenBSD|NetBSD|DevOps|DevTools|IntelliJ|PyCharm|WebStorm|VSCode|RabbitMQ|ActiveMQ|DynamoDB|CloudFront|CloudFlare|BigQuery|FastAPI|NumPy|SciPy|PyTorch|PyPI|SQLAlchemy|LaTeX|BibTeX|YAML|JSON|HTML|HTTPS?|README|TODO|FIXME|NOTE|CHANGELOG|LICENSE|NULL|TRUE|FALSE|DELETE|POST|PATCH|OPTIONS|HEAD|TRACE|CONNECT|SELECT|INSERT|UPDATE|WHERE|FROM|ORDER|GROUP|ASCII|UTF\d*|UUID|CRLF|INFO|WARN|WARNING|DEBUG|ERROR|FATAL|NaN|McDonald|DocBook|SharePoint|JetBrains|AppImage|AppArmor|SELinux|AirPods|ChromeOS|TestFlight|XCode|NodeJS|NextJS|VueJS|ReactJS|jQuery|gRPC|kB|MiB|KiB|GiB|mTLS|eMail|PDFs|URLs|IDs|APIs|PRs|CIs|DBs|UIs|JSONs|StackOverflow|HackerNews|AutoCAD|QuickTime|CPython|PyPy|RubyGems|DotNet|VisualStudio|EditorConfig|SemVer|WordPress|DuckDB|ClickHouse|ElasticSearch|OpenSearch|LangChain|ChatGPT|OpenAI|DeepL|PayPal|MasterCard|AdBlock|InnoDB|TimescaleDB|CentOS|AlmaLinux|CouchDB|InfluxDB|RocksDB|LevelDB|DevContainer|GraalVM|OpenJDK|JUnit\d?|NUnit|PHPUnit|RSpec|GoLand|CLion|RustRover|RegExp|Windows|Linux|Chrome|Firefox|Safari|Python|Node|Java|Ruby|Rust|ASan|UBSan|TSan|MSan|LSan|AddressSanitizer|ThreadSanitizer|BaseException|Exception|String|Integer|Boolean|Object|Array|List|Map|Set|Dict|None|True|False|Null|Error|Result|Option|Optional|Some|Promise|Date|Number|Float|Double|Long|Bool|Undefined|Void|Accept|Content|Authorization|Cookie|Host|Unreleased|Setup|Settings|File|Edit|View|Save|Cancel|Submit|Close|Open|Delete|Yes|Docker|Redis|Postgres|Gradle|Maven|Unicode|shared_ptr|unique_ptr|weak_ptr|x86_64|amd_64)$|^(?:Key|Value|Type|Index|Attribute|ZeroDivision|Runtime|Reference|Range|Syntax|Name|IO|OS|Import|ModuleNotFound|Assertion|Overflow|Unicode(?:Decode|Encode)|FileNotFound|Permission|Timeout|Connection|Recursion|NotImplemented|StopIteration|Arithmetic|Memory|EOF|Lookup|NoMethod|Cancelled|ZeroDiv|Argument|Frozen|StandardError|URI|Eval|Aggregate|Internal)Error$|^(?:NullPointer|IllegalArgument|IllegalState|IndexOutOfBounds|ArrayIndexOutOfBounds|StringIndexOutOfBounds|ClassCast|NumberFormat|UnsupportedOperation|ConcurrentModification|FileNotFound|IO|SQL|Runtime|NullReference|InvalidOperation|ArgumentNull|ArgumentOutOfRange|Argument|KeyNotFound|Format|InvalidCast|DivideByZero|Timeout|Arithmetic|NoSuchElement|ClassNotFound|StackOverflow|OutOfMemory|DateTimeParse|DateTime|InvalidArgument|OutOfRange|OutOfBounds|Logic|Json)(?:Exception|Error)$",
    )
    .expect("valid")
});

pub(super) fn symbols(text: &str, blocks: &[Block], frames: &[Frame], commands: &[Found]) -> Vec<Found> {
    let readable = files::without_urls(text);
    let typed: Vec<Span> = commands.iter().filter_map(|command| command.span).collect();
    let readable = masked(&readable, &[files::spans(&readable), typed].concat());
    let mut out = Vec::new();
    for block in blocks {
        match &block.shape {
            Shape::Code { .. } => of_definitions(&mut out, text, block.span),
            Shape::Log => {}
            Shape::Heading(_) | Shape::Paragraph | Shape::Item { .. } | Shape::Row | Shape::Quote => {
                of_prose(&mut out, text, &readable, block)
            }
        }
    }
    of_plain_words(&mut out, text, blocks);
    for frame in trace::innermost(text, frames) {
        of_frame(&mut out, text, frame);
    }
    without_parts(out)
}

fn of_definitions(out: &mut Vec<Found>, text: &str, span: Span) {
    for found in DEFINED.captures_iter(slice(text, span)) {
        let name = ["name", "constant", "arrow", "method"].iter().find_map(|group| found.name(group));
        if let Some(name) = name.filter(|name| {
            name.as_str().len() > 2 && !matches!(name.as_str(), "main" | "self" | "for" | "from" | "the" | "new")
        }) {
            add(
                out,
                Found {
                    value: name.as_str().to_owned(),
                    span: Some(Span::new(span.start + name.start(), span.start + name.end())),
                },
            );
        }
    }
}

fn of_prose(out: &mut Vec<Found>, text: &str, readable: &str, block: &Block) {
    let codes = inline_code(text, block.span);
    let outer: Vec<Span> = codes.iter().map(|code| code.outer).collect();
    let mut found: Vec<Found> = Vec::new();
    for code in &codes {
        let words = slice(text, code.inner);
        if commands::is_command(words, false) || words.len() > 160 {
            continue;
        }
        chains(&mut found, slice(readable, code.inner), code.inner.start, true);
    }
    if block.section != Section::Environment {
        let local: Vec<Span> =
            outer.iter().map(|code| Span::new(code.start - block.span.start, code.end - block.span.start)).collect();
        chains(&mut found, &masked(slice(readable, block.span), &local), block.span.start, false);
    }
    found.sort_by_key(|found| found.span.map(|span| span.start));
    for symbol in found {
        add(out, symbol);
    }
}

fn chains(out: &mut Vec<Found>, inner: &str, base: usize, marked: bool) {
    let whole = inner.trim().len();
    let mut at = 0;
    while let Some(found) = CHAIN.captures_at(inner, at) {
        let Some(name) = found.name("name") else { break };
        // Inside the brackets of a call stand names as well: `Err(Kind::Empty)`.
        at = name.end();
        let before = inner.get(..name.start()).and_then(|before| before.chars().next_back());
        let after = inner.get(name.end()..).unwrap_or("").chars().next();
        let joined = |c: Option<char>| {
            c.is_some_and(|c| {
                matches!(c, '-' | '/' | '@' | '=' | '%' | '<' | '|') && !(marked && matches!(c, '<' | '='))
            })
        };
        let stuck = before.is_some_and(|c| {
            c.is_alphanumeric() && c.is_ascii() || c == '_' || c == '$' || c == '.' || c == '"' || c == '\''
        }) || joined(before.filter(|c| *c != '='));
        let flag = joined(after.filter(|c| *c != '<' && *c != '%'));
        let called = found.name("call").is_some();
        let bare = name.as_str().trim_end_matches(['!', '?']);
        let alone = name.as_str().len() + found.name("call").map_or(0, |call| call.as_str().len()) == whole;
        if !stuck && (called || !flag) && is_symbol(bare, called, marked, alone) {
            let start = base + name.start();
            add(out, Found { value: bare.to_owned(), span: Some(Span::new(start, start + bare.len())) });
        }
    }
}

/// By shape: `a::b`, `Type.method`, CamelCase, snake_case, calls; ALL_CAPS and single words only in code marks.
fn is_symbol(name: &str, called: bool, marked: bool, alone: bool) -> bool {
    let parts: Vec<&str> =
        name.split("::").flat_map(|part| part.split(['.', '#', '\\'])).flat_map(|part| part.split("->")).collect();
    let last = parts.last().copied().unwrap_or(name);
    if COMMON.is_match(name) || COMMON.is_match(last) && parts.len() == 1 || name.len() < 3 {
        return false;
    }
    if parts.len() > 1 {
        let shaped = parts.iter().any(|part| CAMEL.is_match(part) || SNAKE.is_match(part) || PASCAL.is_match(part));
        let path = name.contains("::") || name.contains("->") || name.contains('\\');
        let dotted = called
            || (marked && alone && shaped)
            || (marked && shaped && parts.iter().any(|part| CAMEL.is_match(part) || PASCAL.is_match(part)));
        let in_prose = shaped
            && parts.first().is_some_and(|part| CAMEL.is_match(part) || PASCAL.is_match(part))
            && parts.len() == 2
            && last.len() > 2;
        return path || dotted || (in_prose && !marked && !name.contains('\\'));
    }
    if called && marked {
        return !matches!(
            name,
            "Err"
                | "Ok"
                | "Some"
                | "None"
                | "String"
                | "Vec"
                | "Box"
                | "print"
                | "println"
                | "len"
                | "min"
                | "max"
                | "test"
                | "int"
                | "str"
                | "list"
                | "dict"
                | "not"
                | "and"
        );
    }
    let shaped = CAMEL.is_match(name) || SNAKE.is_match(name);
    shaped
        || (called && !marked && name.len() > 3 && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        || (marked && alone && (SHOUT.is_match(name) || PASCAL.is_match(name)))
}

/// A plain word in code marks is a symbol when the task turns on it: marked in the title or again and again, or called one.
fn of_plain_words(out: &mut Vec<Found>, text: &str, blocks: &[Block]) {
    let prose = |block: &&Block| !matches!(block.shape, Shape::Code { .. } | Shape::Log);
    let all: Vec<(Span, bool)> = blocks
        .iter()
        .filter(prose)
        .flat_map(|block| {
            inline_code(text, block.span).into_iter().map(|code| (code.inner, block.shape == Shape::Heading(1)))
        })
        .filter(|(span, _)| PLAIN.is_match(slice(text, *span)))
        .take(1_000)
        .collect();
    for (span, in_title) in &all {
        let word = slice(text, *span);
        let often = all.iter().filter(|(other, _)| slice(text, *other) == word).count() >= 3;
        let before = text.get(..span.start).unwrap_or("").trim_end_matches(['`', ' ', '{']);
        let after = text.get(span.end..).unwrap_or("").trim_start_matches(['`', ' ', '}']);
        let called_one = CALLED_ONE_AFTER.is_match(after) || CALLED_ONE_BEFORE.is_match(before);
        let known = out.iter().any(|found| {
            found.value == word
                || found.value.ends_with(&format!(".{word}"))
                || found.value.ends_with(&format!(":{word}"))
        });
        if (*in_title || often || called_one) && !known {
            add(out, Found { value: word.to_owned(), span: Some(*span) });
        }
    }
}

fn of_frame(out: &mut Vec<Found>, text: &str, frame: &Frame) {
    let Some(span) = frame.symbol else { return };
    let raw = slice(text, span);
    // The last part, after generics, receivers and closures: "pool.(*Pool).Submit(...)" -> "Submit".
    let name = raw.split(['(', '<']).next().filter(|name| !name.is_empty() && !raw.contains("(*")).unwrap_or(raw);
    let name = name
        .rsplit(['.', ':', '>', '\\', '#', '/', ')'])
        .find(|part| part.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_'))
        .unwrap_or("");
    let name = name.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
    let hidden = matches!(
        name,
        "" | "main"
            | "module"
            | "anonymous"
            | "lambda"
            | "closure"
            | "invoke"
            | "call"
            | "run"
            | "constructor"
            | "init"
            | "eval"
    );
    let Some(at) = raw.rfind(name).filter(|_| !hidden && name.len() > 2) else { return };
    let last_part = |found: &Found| found.value.rsplit(['.', ':', '>', '#']).next() == Some(name);
    if !out.iter().any(last_part) {
        out.push(Found {
            value: name.to_owned(),
            span: Some(Span::new(span.start + at, span.start + at + name.len())),
        });
    }
}

/// `RetryPolicy` says nothing beside `RetryPolicy.maxAttempts`.
fn without_parts(all: Vec<Found>) -> Vec<Found> {
    let names: Vec<String> = all.iter().map(|found| found.value.replace("::", ".").replace("->", ".")).collect();
    all.iter()
        .enumerate()
        .filter(|(index, _)| {
            let Some(own) = names.get(*index) else { return false };
            !names.iter().any(|other| {
                other.ends_with(&format!(".{own}")) || (other.starts_with(&format!("{own}.")) && PASCAL.is_match(own))
            })
        })
        .map(|(_, found)| found.clone())
        .collect()
}
