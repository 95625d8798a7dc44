//! Stack traces of many languages to frames, and the spans they cover, so that nobody reads a trace as prose.
//!
//! Frames of runtimes and libraries are told from those of the project by their place only.

use super::text::{lines, slice};
use crate::brief::TraceFrame;
use crate::code::Span;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// One frame where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub frame: TraceFrame,
    pub path: Span,
    pub symbol: Option<Span>,
    /// The whole line or lines of the frame.
    pub span: Span,
    /// In a runtime or library: not the project's code.
    pub foreign: bool,
    /// The call that failed stands first in the trace (all but Python).
    pub innermost_first: bool,
}

/// A frame on one line. Groups: `path`, `line`, `symbol`; `outer_first` for traces that end with the innermost call.
struct OneLine {
    pattern: Regex,
    outer_first: bool,
}

fn one_line(pattern: &str, outer_first: bool) -> OneLine {
    OneLine { pattern: Regex::new(pattern).expect("the trace patterns are valid"), outer_first }
}

static ONE_LINE: LazyLock<Vec<OneLine>> = LazyLock::new(|| {
    vec![
        // Python
        one_line(r#"^\s*File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<symbol>[^\s(]+))?"#, true),
        // Java, Kotlin, Scala: at a.b.C.method(C.java:12)
        one_line(
            r"^\s*at (?:[\w.@-]+/)*(?P<symbol>[\w.$<>]+)\((?P<path>[\w$]+\.(?:java|kt|scala|groovy|clj)):(?P<line>\d+)\)",
            false,
        ),
        // C#: at Ns.Class.Method(Args) in /src/File.cs:line 12
        one_line(
            r"^\s*at (?P<symbol>[\w.`<>\[\]+|]+)\([^)]*\) in (?P<path>.+?):(?:line|Zeile|行) (?P<line>\d+)",
            false,
        ),
        // JavaScript, with and without a function name
        one_line(
            r"^\s*at (?:async |new )*(?P<symbol>[^\s(]+)(?: \[as [^\]]+\])? \((?:file://|webpack://[^/]*/\.?/?)?(?P<path>[^()\n]+?\.[A-Za-z]{1,6})(?:\?[^:)]*)?:(?P<line>\d+)(?::\d+)?\)",
            false,
        ),
        one_line(r"^\s*at (?:async )?(?:file://)?(?P<path>[^\s()]+?\.[A-Za-z]{1,6}):(?P<line>\d+)(?::\d+)?\s*$", false),
        // Firefox, Safari: name@file:line:col
        one_line(
            r"^\s*(?P<symbol>[\w.$/<]*)@(?:https?://[^/\s]+/)?(?P<path>[^\s@]+?\.[A-Za-z]{1,6}):(?P<line>\d+):\d+\s*$",
            false,
        ),
        // Rust: panicked at 'msg', file:line:col (both forms) and the lines of a backtrace
        one_line(r"panicked at (?:'[^\n]*', )?(?P<path>[^\s':,]+\.rs):(?P<line>\d+)(?::\d+)?", false),
        // gdb, AddressSanitizer, lldb: #0 0x... in symbol file:line
        one_line(
            r"^\s*#\d+\s+(?:0x[0-9a-fA-F]+\s+)?(?:in\s+)?(?P<symbol>[\w:~<>*&$]+(?:\s*\([^)\n]*\))?)[^\n]*?\s(?:at\s+)?(?P<path>[^\s():]+\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|m|mm|swift|rs|zig)):(?P<line>\d+)",
            false,
        ),
        // PHP: #0 /app/File.php(12): Class->method()
        one_line(r"^\s*#\d+\s+(?P<path>[^\s(]+\.\w{2,5})\((?P<line>\d+)\): (?P<symbol>[\w\\:>-]+)", false),
        one_line(r"(?:in|at) (?P<path>[^\s:()]+\.php)(?: on line |:)(?P<line>\d+)", false),
        // Ruby: file.rb:12:in `method' (3.4: 'Class#method')
        one_line(
            r"^\s*(?:from |\d+: (?:from )?)?(?P<path>[^\s:]+\.(?:rb|erb|rake|ru)):(?P<line>\d+):in [`'](?:block (?:\(\d+ levels\) )?in |rescue in |ensure in )?(?P<symbol>[^'\n]+)'",
            false,
        ),
        // Elixir: (app 0.1.0) lib/file.ex:12: Module.fun/1
        one_line(r"^\s*\([\w ]+[\d.]*\) (?P<path>[^\s:]+\.exs?):(?P<line>\d+): (?P<symbol>[\w.!?]+)", false),
        // Dart, Swift: #0  Class.method (package:app/file.dart:12:3)
        one_line(
            r"^\s*#\d+\s+(?P<symbol>[\w.<>]+)\s+\((?:package:)?(?P<path>[^\s():]+\.dart):(?P<line>\d+)(?::\d+)?\)",
            false,
        ),
        // Perl, Lua
        one_line(r"\bat (?P<path>[^\s:()]+\.p[lm]) line (?P<line>\d+)", false),
    ]
});

static GO_PLACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s+(?P<path>[^\s:]+\.(?:go|s)):(?P<line>\d+)(?:\s+\+0x[0-9a-f]+)?\s*$").expect("valid")
});
static GO_CALL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:created by )?(?P<symbol>[^\s()]+(?:\(\*?\w+\)[\w.]*)?[^\s()]*)(?:\(|\s+in goroutine|\s*$)")
        .expect("valid")
});
static RUST_CALL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*\d+:\s+(?:0x[0-9a-f]+ - )?(?P<symbol>\S.*?)\s*$").expect("valid"));
static RUST_PLACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s+at (?P<path>[^\s:]+\.rs):(?P<line>\d+)(?::\d+)?\s*$").expect("valid"));
static FOREIGN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x) (?:^|/)(?:node_modules|site-packages|dist-packages|bower_components|vendor/bundle|gems|\.cargo|\.rustup|\.pyenv|\.nvm|\.gradle|\.m2|\.pub-cache|deps/\w+/lib)/
        | /pkg/mod/ | ^/usr/(?:lib|local/(?:lib|go)|include|share)/ | ^/rustc/ | ^/build/(?:glibc|gcc) | /library/(?:std|core|alloc)/src/
        | ^(?:node:|internal/(?:modules|process|main|timers|streams|bootstrap|util|per_context)/|<frozen|<string>|<anonymous>|webpack/|native\b) | /go/src/(?:runtime|testing|net)/ | /lib/python\d | /Python\d+/Lib/ | ^std/src/ | /sysdeps/ | /vendor/
        | compiler-rt|libsanitizer",
    )
    .expect("valid")
});
static FOREIGN_CALL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala|android|androidx|org\.(?:springframework|apache|junit|hibernate|gradle|eclipse|mockito|jetbrains|slf4j)|com\.(?:fasterxml|google\.common|zaxxer)|io\.(?:netty|micrometer)|reactor|rx|System|Microsoft|NUnit|Xunit|std|core|alloc|tokio|rust_begin_unwind|__rust|__libc|_start|runtime|testing|net/http|node:internal|process\.|Module\._|Object\.<anonymous>)(?:[.:/]|$)|__(?:asan|interceptor|libc)|rust_begin_unwind|_start\b)",
    )
    .expect("valid")
});

/// Whether a path lies in a runtime, a library or a package cache.
pub(super) fn is_foreign_path(path: &str) -> bool {
    FOREIGN.is_match(&path.replace('\\', "/"))
}

pub(super) fn frames(text: &str) -> Vec<Frame> {
    let lines = lines(text);
    let mut out: Vec<Frame> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|at| lines.get(at)).copied();
        if let Some(frame) = in_two_lines(text, before, *line).or_else(|| in_one_line(text, *line)) {
            out.push(frame);
        }
    }
    out
}

/// Every `interesting` line holds a digit and a dot: spares most prose the patterns.
fn in_one_line(text: &str, line: Span) -> Option<Frame> {
    let body = slice(text, line);
    if body.len() > 2_000 || !body.contains('.') || !body.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    ONE_LINE.iter().find_map(|kind| {
        let found = kind.pattern.captures(body)?;
        frame_of(&found, &found, line, line, line, !kind.outer_first)
    })
}

fn in_two_lines(text: &str, before: Option<Span>, line: Span) -> Option<Frame> {
    let before = before?;
    let (call, body) = (slice(text, before), slice(text, line));
    if body.len() > 2_000 || call.len() > 2_000 {
        return None;
    }
    let whole = Span::new(before.start, line.end);
    if let (Some(place), Some(call)) = (GO_PLACE.captures(body), GO_CALL.captures(call)) {
        return frame_of(&place, &call, line, before, whole, true);
    }
    if let (Some(place), Some(call)) = (RUST_PLACE.captures(body), RUST_CALL.captures(call)) {
        return frame_of(&place, &call, line, before, whole, true);
    }
    None
}

fn frame_of(
    place: &Captures<'_>,
    call: &Captures<'_>,
    place_line: Span,
    call_line: Span,
    span: Span,
    innermost_first: bool,
) -> Option<Frame> {
    let path = place.name("path")?;
    let symbol = call.name("symbol").filter(|symbol| !symbol.as_str().is_empty());
    let called = symbol.map_or("", |symbol| symbol.as_str());
    let foreign = is_foreign_path(path.as_str()) || FOREIGN_CALL.is_match(called);
    let at = |line: Span, m: regex::Match<'_>| Span::new(line.start + m.start(), line.start + m.end());
    Some(Frame {
        frame: TraceFrame {
            path: path.as_str().to_owned(),
            line: place.name("line").and_then(|line| line.as_str().parse().ok()),
            symbol: called.to_owned(),
        },
        path: at(place_line, path),
        symbol: symbol.map(|symbol| at(call_line, symbol)),
        span,
        foreign,
        innermost_first,
    })
}

/// A dump of all threads names the same few places again and again.
const MOST_FRAMES: usize = 200;

/// The project's frames, innermost last, each once.
pub(super) fn project_frames(frames: &[Frame]) -> Vec<TraceFrame> {
    let mut out: Vec<TraceFrame> = Vec::new();
    let first_inner = frames.first().is_some_and(|frame| frame.innermost_first);
    let ordered: Vec<&Frame> = if first_inner { frames.iter().rev().collect() } else { frames.iter().collect() };
    for frame in ordered.into_iter().filter(|frame| !frame.foreign) {
        let known = |old: &TraceFrame| {
            old.path.trim_start_matches("./") == frame.frame.path.trim_start_matches("./")
                && old.line == frame.frame.line
        };
        let twin = frame.frame.symbol.is_empty() && out.iter().any(known);
        if out.len() < MOST_FRAMES && !out.contains(&frame.frame) && !twin {
            out.push(frame.frame.clone());
        }
    }
    out
}

/// The innermost project frame of each trace; a trace ends where other lines come between.
pub(super) fn innermost<'a>(text: &str, frames: &'a [Frame]) -> Vec<&'a Frame> {
    let mut out = Vec::new();
    let mut group: Vec<&Frame> = Vec::new();
    for frame in frames {
        let apart = group.last().is_some_and(|last| {
            let between = text.get(last.span.end..frame.span.start).unwrap_or("");
            between.matches('\n').count() > 4 || between.contains("\n\n")
        });
        if apart {
            out.extend(inner_of(&group));
            group.clear();
        }
        group.push(frame);
    }
    out.extend(inner_of(&group));
    out
}

fn inner_of<'a>(group: &[&'a Frame]) -> Option<&'a Frame> {
    let mut own = group.iter().filter(|frame| !frame.foreign && frame.symbol.is_some());
    let first_inner = group.first().is_some_and(|frame| frame.innermost_first);
    if first_inner { own.next().copied() } else { own.next_back().copied() }
}
