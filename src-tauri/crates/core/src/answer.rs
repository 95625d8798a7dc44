//! Reading what models answer: fenced code and JSON out of text that may hold prose, thoughts or a cut end. Pure and
//! total: what cannot be read is an empty list or a typed reason, never a panic, and nothing is repaired by guessing.

use serde_json::Value;

/// One fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The first word after the opening fence, in lower case ("python"), or "".
    pub language: String,
    /// The lines between the fences, ends kept as "\n".
    pub body: String,
    /// The closing fence was there. An open block may have been cut in the middle.
    pub closed: bool,
}

/// All fenced blocks in order. A fence of n marks is closed by a line of at least n marks of the same kind.
pub fn fences(text: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize, Fence)> = None;
    for line in without_thoughts(text).split_inclusive('\n') {
        let mark = fence_mark(line);
        match (&mut open, mark) {
            (None, Some((kind, count, info))) => {
                let language = info.split_whitespace().next().unwrap_or("").to_lowercase();
                open = Some((kind, count, Fence { language, body: String::new(), closed: false }));
            }
            (Some((kind, count, _)), Some((k, n, ""))) if *kind == k && n >= *count => {
                if let Some((_, _, mut fence)) = open.take() {
                    fence.closed = true;
                    found.push(fence);
                }
            }
            (Some((_, _, fence)), _) => fence.body.push_str(&line.replace("\r\n", "\n")),
            (None, None) => {}
        }
    }
    if let Some((_, _, fence)) = open {
        found.push(fence);
    }
    found
}

fn fence_mark(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim();
    let kind = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = line.chars().take_while(|c| *c == kind).count();
    let info = line.get(count..)?.trim();
    (count >= 3 && !info.contains('`')).then_some((kind, count, info))
}

/// The text without `<think>...</think>` passages; an unclosed one is taken to its end.
fn without_thoughts(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(start) = rest.find("<think>") {
        out.push_str(&rest[..start]);
        rest = match rest[start..].find("</think>") {
            Some(end) => &rest[start + end + "</think>".len()..],
            None => "",
        };
    }
    out.push_str(rest);
    out
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonAnswerError {
    #[error("the answer holds no JSON object")]
    Absent,
    #[error("the JSON of the answer is cut off or broken: {0}")]
    Broken(String),
}

/// The first JSON object of an answer: bare, in a fence, or after prose. The rest is ignored.
pub fn json_object(text: &str) -> Result<Value, JsonAnswerError> {
    let text = without_thoughts(text);
    let start = text.find('{').ok_or(JsonAnswerError::Absent)?;
    let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(JsonAnswerError::Broken(error.to_string())),
        None => Err(JsonAnswerError::Absent),
    }
}

/// A text that repeats itself: the same run of at least 20 characters five times in a row at the end.
pub fn is_looping(text: &str) -> bool {
    let tail: Vec<char> = text.chars().rev().take(2_000).collect();
    (20..=200).any(|period| tail.len() >= period * 5 && (0..period * 4).all(|at| tail.get(at) == tail.get(at + period)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str, bool)]) {
        let got = fences(text);
        let got: Vec<_> = got.iter().map(|f| (f.language.as_str(), f.body.as_str(), f.closed)).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn reads_fences_as_models_write_them() {
        check("Sure!\n```python\nx = 1\n```\nDone.", &[("python", "x = 1\n", true)]);
        check("```\na\n```\n~~~ rs\nb\n~~~", &[("", "a\n", true), ("rs", "b\n", true)]);
        check("```python\ndef f():\n    return", &[("python", "def f():\n    return", false)]);
        check("````md\n```\ninner\n```\n````", &[("md", "```\ninner\n```\n", true)]);
        check("<think>```py\nno\n```</think>```py\r\nyes\r\n```", &[("py", "yes\n", true)]);
        check("use `x` and ```inline``` only", &[]);
    }

    #[test]
    fn reads_json_wherever_it_stands() {
        assert_eq!(json_object("ok:\n```json\n{\"a\": [1]}\n```").expect("json"), serde_json::json!({"a": [1]}));
        assert_eq!(json_object("{} {\"b\":1}").expect("json"), serde_json::json!({}));
        assert_eq!(json_object("no"), Err(JsonAnswerError::Absent));
        assert!(matches!(json_object("{\"a\": [1, "), Err(JsonAnswerError::Broken(_))));
    }

    #[test]
    fn sees_loops() {
        assert!(is_looping(&"assert f(1) == 2  # the same again\n".repeat(9)));
        assert!(!is_looping("def f(a, b):\n    return a + b\n\ndef g(a, b):\n    return a - b\n"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*|[`~\\n{}a<>/think]*") {
            fences(&text);
            is_looping(&text);
            json_object(&text).ok();
        }
    }
}
