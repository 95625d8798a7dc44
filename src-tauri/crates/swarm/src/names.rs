//! The symbols gate: every name that new code uses must exist. Python has no compiler that says so before the line runs,
//! so it is done here; JavaScript's part stands in
//! `javascript`; in Rust the compiler's own messages serve.

use starling_core::code::{Language, Outline};
use starling_core::port::{CodeMap, MapError};
use starling_syntax::{IdentifierRole, identifiers, outline};
use std::collections::BTreeSet;

/// Names that `new` uses and nothing defines, in order. `old` is the file before; what it used, existed.
pub(crate) fn invented(language: Language, old: &str, new: &str, map: &dyn CodeMap) -> Result<Vec<String>, MapError> {
    if crate::javascript::is(language) {
        return crate::javascript::invented(language, old, new, map);
    }
    if language != Language::Python {
        return Ok(Vec::new());
    }
    let after = outline(language, new);
    let mut missing = unknown_in(new, old);
    missing.extend(invented_imports(&after, old, map)?);
    Ok(missing)
}

/// Names that the Python text `new` uses and neither binds nor finds among the builtins or in `old`.
pub(crate) fn unknown_in(new: &str, old: &str) -> Vec<String> {
    let language = Language::Python;
    let after = outline(language, new);
    let mut known: BTreeSet<&str> = PYTHON_BUILTINS.iter().copied().collect();
    let before = identifiers(language, old, None);
    known.extend(before.iter().map(|i| i.name.as_str()));
    let uses = identifiers(language, new, None);
    let bound = uses
        .iter()
        .filter(|i| matches!(i.role, IdentifierRole::Definition | IdentifierRole::Parameter | IdentifierRole::Import));
    known.extend(bound.map(|i| i.name.as_str()));
    let locals = starling_syntax::locals(language, new, None);
    known.extend(locals.iter().map(String::as_str));
    known.extend(after.symbols.iter().map(|s| s.name.as_str()));
    let mut missing: Vec<String> = Vec::new();
    for used in uses.iter().filter(|i| matches!(i.role, IdentifierRole::Use | IdentifierRole::Call)) {
        if !known.contains(used.name.as_str()) && !missing.contains(&used.name) {
            missing.push(used.name.clone());
        }
    }
    missing
}

/// Imports of modules or names that neither the project nor the standard library has.
fn invented_imports(after: &Outline, old: &str, map: &dyn CodeMap) -> Result<Vec<String>, MapError> {
    let before = outline(Language::Python, old);
    let mut missing = Vec::new();
    let files = map.files()?;
    for import in &after.imports {
        if before.imports.iter().any(|known| known.text == import.text) || import.module.starts_with('.') {
            continue;
        }
        let root = import.module.split('.').next().unwrap_or("");
        if PYTHON_STDLIB.contains(&root) {
            continue;
        }
        let file = import.module.replace('.', "/");
        let module = files.iter().find(|entry| {
            let path = entry.path.as_str();
            let path = path.strip_prefix("src/").unwrap_or(path);
            path == format!("{file}.py") || path == format!("{file}/__init__.py")
        });
        match module {
            None if project_uses(root, map)? => {}
            None => missing.push(import.module.clone()),
            Some(entry) => {
                let text = map.text(&entry.path)?;
                let defined = identifiers(Language::Python, &text, None);
                let sub = |name: &str| files.iter().any(|e| e.path.as_str().ends_with(&format!("{file}/{name}.py")));
                let lacks = import
                    .names
                    .iter()
                    .filter(|name| *name != "*" && !sub(name) && !defined.iter().any(|d| &d.name == *name));
                missing.extend(lacks.map(|name| format!("{}.{name}", import.module)));
            }
        }
    }
    Ok(missing)
}

/// A third-party package counts as there when the project itself imports it somewhere.
fn project_uses(root: &str, map: &dyn CodeMap) -> Result<bool, MapError> {
    let hits = map.references(root, 20)?;
    Ok(hits.iter().any(|hit| hit.text.starts_with("import ") || hit.text.starts_with("from ")))
}

const PYTHON_BUILTINS: &[&str] = &[
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "BlockingIOError",
    "BufferError",
    "ChildProcessError",
    "ConnectionError",
    "EOFError",
    "Ellipsis",
    "Exception",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "ImportError",
    "IndexError",
    "InterruptedError",
    "IsADirectoryError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotADirectoryError",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PermissionError",
    "ProcessLookupError",
    "RecursionError",
    "ReferenceError",
    "RuntimeError",
    "RuntimeWarning",
    "StopAsyncIteration",
    "StopIteration",
    "SyntaxError",
    "SystemError",
    "SystemExit",
    "TimeoutError",
    "TypeError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UserWarning",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
    "DeprecationWarning",
    "FutureWarning",
    "True",
    "False",
    "None",
    "__name__",
    "__file__",
    "__doc__",
    "__all__",
    "__class__",
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
    "__import__",
    "self",
    "cls",
    "_",
];

const PYTHON_STDLIB: &[&str] = &[
    "__future__",
    "abc",
    "argparse",
    "array",
    "ast",
    "asyncio",
    "base64",
    "binascii",
    "bisect",
    "builtins",
    "bz2",
    "calendar",
    "cmath",
    "cmd",
    "code",
    "codecs",
    "collections",
    "colorsys",
    "concurrent",
    "configparser",
    "contextlib",
    "contextvars",
    "copy",
    "copyreg",
    "csv",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "doctest",
    "email",
    "encodings",
    "enum",
    "errno",
    "faulthandler",
    "fileinput",
    "fnmatch",
    "fractions",
    "functools",
    "gc",
    "getopt",
    "getpass",
    "gettext",
    "glob",
    "graphlib",
    "gzip",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "http",
    "imaplib",
    "importlib",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "keyword",
    "linecache",
    "locale",
    "logging",
    "lzma",
    "mailbox",
    "marshal",
    "math",
    "mimetypes",
    "mmap",
    "multiprocessing",
    "netrc",
    "numbers",
    "operator",
    "optparse",
    "os",
    "pathlib",
    "pdb",
    "pickle",
    "pkgutil",
    "platform",
    "plistlib",
    "pprint",
    "profile",
    "queue",
    "random",
    "re",
    "readline",
    "reprlib",
    "resource",
    "runpy",
    "sched",
    "secrets",
    "select",
    "selectors",
    "shelve",
    "shlex",
    "shutil",
    "signal",
    "site",
    "smtplib",
    "socket",
    "socketserver",
    "sqlite3",
    "ssl",
    "stat",
    "statistics",
    "string",
    "stringprep",
    "struct",
    "subprocess",
    "symtable",
    "sys",
    "sysconfig",
    "syslog",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "timeit",
    "tkinter",
    "token",
    "tokenize",
    "tomllib",
    "trace",
    "traceback",
    "tracemalloc",
    "types",
    "typing",
    "unicodedata",
    "unittest",
    "urllib",
    "uuid",
    "venv",
    "warnings",
    "wave",
    "weakref",
    "webbrowser",
    "xml",
    "xmlrpc",
    "zipapp",
    "zipfile",
    "zipimport",
    "zlib",
    "zoneinfo",
];
