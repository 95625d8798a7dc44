//! The symbols gate for JavaScript: every name that new code uses is bound, was there before, or belongs to the language; and
//! every module it asks for exists. Nothing says so before the line runs.

use starling_core::code::{Language, Span};
use starling_core::port::{CodeMap, MapError};
use starling_syntax::{IdentifierRole, calls_of, identifiers, outline};
use std::collections::BTreeSet;

/// Names and modules that `new` uses and nothing defines, in order. `old` is the file before; what it used, existed.
pub(crate) fn invented(language: Language, old: &str, new: &str, map: &dyn CodeMap) -> Result<Vec<String>, MapError> {
    let mut missing = unknown(language, old, new);
    missing.extend(modules(language, old, new, map)?);
    Ok(missing)
}

/// Whether a test uses nothing but what its file imports, what it binds itself, and the language.
pub(crate) fn stands_alone(language: Language, opening: &str, test: &str) -> bool {
    // Some runners give `test` to every file.
    unknown(language, "test();", &format!("{opening}\n{test}")).is_empty()
}

fn unknown(language: Language, old: &str, new: &str) -> Vec<String> {
    use IdentifierRole::{Call, Definition, Import, Parameter, Use};
    let (before, after) = (identifiers(language, old, None), identifiers(language, new, None));
    let bound = after.iter().filter(|i| matches!(i.role, Definition | Parameter | Import));
    let mut known: BTreeSet<&str> = before.iter().chain(bound).map(|i| i.name.as_str()).collect();
    known.extend(GLOBALS.split(' '));
    // Types have names of their own, which only a compiler knows.
    let counts = |role| role == Call || role == Use && language == Language::JavaScript;
    let mut missing: Vec<String> = Vec::new();
    let passed_on = passed_on(new);
    let here = |i: &&starling_syntax::Identifier| !passed_on.iter().any(|span| span.overlaps(i.span));
    for used in after.iter().filter(|i| counts(i.role)).filter(here) {
        if !known.contains(used.name.as_str()) && !missing.contains(&used.name) {
            missing.push(used.name.clone());
        }
    }
    missing
}

/// The names in `export { a, b } from './c.js'`, which are bound elsewhere.
fn passed_on(source: &str) -> Vec<Span> {
    let lists = source.match_indices("export {").filter_map(|(at, _)| {
        let end = at + source.get(at..)?.find('}')?;
        source.get(end + 1..)?.trim_start().starts_with("from").then_some(Span::new(at, end))
    });
    lists.collect()
}

/// Modules that neither the project nor node has.
fn modules(language: Language, old: &str, new: &str, map: &dyn CodeMap) -> Result<Vec<String>, MapError> {
    let before = asked(language, old);
    let fresh: Vec<String> = asked(language, new).into_iter().filter(|module| !before.contains(module)).collect();
    if fresh.is_empty() {
        return Ok(Vec::new());
    }
    let files = map.files()?;
    let manifest = files.iter().find(|file| file.path.as_str() == "package.json");
    let manifest = manifest.map(|file| map.text(&file.path)).transpose()?.unwrap_or_default();
    let exists = |module: &String| {
        if module.starts_with('.') {
            // From where it is asked for is not known here: the end of the way must be there.
            let end = module.trim_start_matches("./").trim_start_matches("../").trim_end_matches('/');
            let end = end.rsplit_once('.').map_or(end, |(bare, kind)| if KINDS.contains(&kind) { bare } else { end });
            return files.iter().map(|file| file.path.as_str()).any(|path| {
                let bare = path.rsplit_once('.').map_or(path, |(bare, _)| bare);
                let bare = bare.strip_suffix("/index").unwrap_or(bare);
                end.is_empty() || bare == end || bare.ends_with(&format!("/{end}"))
            });
        }
        let mut parts = module.trim_start_matches("node:").split('/');
        let name = parts.next().unwrap_or("");
        let package =
            if name.starts_with('@') { format!("{name}/{}", parts.next().unwrap_or("")) } else { name.to_owned() };
        NODE.split(' ').any(|known| known == name)
            || name.starts_with('#')
            || manifest.contains(&format!("\"{package}\""))
    };
    Ok(fresh.into_iter().filter(|module| !exists(module)).collect())
}

/// What a file imports or requires.
fn asked(language: Language, source: &str) -> Vec<String> {
    let imports = outline(language, source).imports.into_iter().map(|import| import.module);
    let required = calls_of(language, source, "require").into_iter().filter_map(|call| call.arguments.first().cloned());
    let literal = |text: String| {
        let inner = ['\'', '"', '`'].iter().find_map(|q| text.strip_prefix(*q)?.strip_suffix(*q)).map(str::to_owned);
        inner.filter(|inner| !inner.contains("${"))
    };
    imports.chain(required.filter_map(literal)).filter(|module| !module.is_empty()).collect()
}

const KINDS: [&str; 9] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json"];

/// The modules that node brings along.
const NODE: &str = "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns events fs \
    http http2 https inspector module net os path perf_hooks process punycode querystring readline sqlite stream \
    string_decoder test timers tls tty url util v8 vm wasi worker_threads zlib";

/// What the language, node and browsers give every file.
const GLOBALS: &str = "AbortController AbortSignal AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Blob \
    Boolean BroadcastChannel Buffer Bun CompressionStream CustomEvent DOMException DataView Date DecompressionStream \
    Deno Document Element Error EvalError Event EventSource EventTarget File FileReader FinalizationRegistry \
    Float32Array Float64Array FormData Function HTMLElement Headers Image Infinity Int16Array Int32Array Int8Array \
    Intl Iterator JSON Map Math MessageChannel MessageEvent MessagePort MutationObserver NaN Node Number Object \
    Promise Proxy RangeError ReadableStream ReferenceError Reflect RegExp Request ResizeObserver Response Set \
    SharedArrayBuffer String SuppressedError Symbol SyntaxError TextDecoder TextDecoderStream TextEncoder \
    TextEncoderStream TransformStream TypeError URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array \
    Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly WebSocket Worker WritableStream XMLHttpRequest __dirname \
    __filename alert arguments atob await btoa cancelAnimationFrame clearImmediate clearInterval clearTimeout \
    confirm console crypto customElements decodeURI decodeURIComponent define document encodeURI encodeURIComponent \
    escape eval exports fetch getComputedStyle global globalThis history import indexedDB isFinite isNaN \
    localStorage location matchMedia module navigator parseFloat parseInt performance process prompt queueMicrotask \
    requestAnimationFrame require self sessionStorage setImmediate setInterval setTimeout structuredClone super this \
    undefined unescape window";

#[cfg(test)]
mod tests {
    use super::*;
    use starling_testkit::TreeMap;

    #[track_caller]
    fn check(language: Language, old: &str, new: &str, expected: &[&str]) {
        let files = [
            ("package.json", "{\"dependencies\": {\"lodash\": \"4\", \"@scope/kit\": \"1\"}}"),
            ("src/util.js", ""),
            ("lib/index.ts", ""),
        ];
        let map = TreeMap::new(&files, outline);
        assert_eq!(invented(language, old, new, &map).expect("read"), expected);
    }

    #[test]
    fn finds_names_that_nothing_defines() {
        let js = Language::JavaScript;
        check(js, "", "function f(a, { b }, ...c) { const d = a + b; return c.map((e) => e + d + Math.max(1)); }", &[]);
        check(js, "", "export const f = (x) => clamp(x, LOW);", &["clamp", "LOW"]);
        check(js, "", "export { a, default as b } from './util.js';\nexport { c };", &["c"]);
        check(js, "clamp(1, LOW);", "export const f = (x) => clamp(x, LOW);", &[]);
        check(js, "", "class A extends B { #x = 1; m() { return this.#x + super.m() + new.target; } }", &["B"]);
        check(
            js,
            "",
            "label: for (const k in { a: 1 }) { try { break label; } catch { throw new Error(`${k}`); } }",
            &[],
        );
        check(js, "", "async function* g() { for await (const x of y()) yield* x; }\nfunction y() {}", &[]);
        check(
            Language::TypeScript,
            "",
            "export function f(a: Partial<Own>): Own { return made(a as Own); }",
            &["made"],
        );
    }

    #[test]
    fn a_test_needs_nothing_beside_it() {
        let opening = "const assert = require('assert');\nconst { add } = require('./a.js');";
        let check = |test: &str| stands_alone(Language::JavaScript, opening, test);
        assert!(check("test('a', () => { const b = 1; assert.equal(add(b, 2), 3); });"));
        assert!(!check("test('a', () => { assert.equal(add(shared, 2), 3); });"));
        assert!(!check("test('a', () => { assert.equal(sub(1, 2), 3); });"));
    }

    #[test]
    fn finds_modules_that_are_nowhere() {
        let js = Language::JavaScript;
        check(
            js,
            "",
            "import fs from 'node:fs/promises';\nimport _ from 'lodash/fp';\nimport k from '@scope/kit/x';",
            &[],
        );
        check(js, "", "import { a } from './util.js';\nimport b from '../lib';\nconst c = require('./util');", &[]);
        check(js, "", "import x from 'left-pad';\nconst y = require('./gone.js');", &["left-pad", "./gone.js"]);
        check(js, "import x from 'left-pad';", "import x from 'left-pad';\nx();", &[]);
    }
}
