//! Where candidate tests come from.

use super::{Subject, record_javascript, record_python, record_rust};
use crate::desk::Desk;
use crate::error::SwarmError;
use crate::executor::tail;
use crate::javascript;
use crate::judge::Bench;
use crate::probes::{Probe, body_of, fits, from_answer, renamed};
use crate::twin::owned_twin;
use starling_core::code::{Language, Symbol};
use starling_core::examples::Example;
use starling_core::plan::Step;
use starling_core::port::{SampleRequest, Shape};
use starling_core::prompt::{self, Snippet, TestInput};
use starling_core::shown::{shows, stated};
use starling_core::state::TaskEvent;
use starling_core::{RelPath, Role};

/// How many answers are drawn for one prompt.
const ANSWERS: u32 = 2;
/// Examples that are asked for one by one.
const MOST_EXAMPLES: usize = 4;
/// Probes of one step that come from the specification.
const SPEC_PROBES: usize = 10;

/// Tests from the specification, before there is a change: they tell candidates apart. Two examples in the person's own
/// words do that better, so then no model is asked.
pub(crate) fn spec_probes(
    desk: &mut Desk<'_>,
    step: &Step,
    path: &RelPath,
    bench: &Bench,
    have: &[Probe],
) -> Result<Vec<Probe>, SwarmError> {
    if have.len() >= 2 {
        return Ok(Vec::new());
    }
    let bytes = desk.ports.workspace.read(&desk.task, path)?.unwrap_or_default();
    let source = String::from_utf8_lossy(&bytes).into_owned();
    let outline = starling_syntax::outline(bench.language, &source);
    let names: Vec<String> = step.new_symbols.iter().chain(&step.symbols).cloned().collect();
    let text = shown(&source, &outline.symbols, &names);
    let specification = crate::executor::task_text(desk);
    let acceptance = step.acceptance.clone();
    let subject =
        Subject { path: path.clone(), language: bench.language, source, outline, symbols: names, notes: Vec::new() };
    let input = TestInput {
        language: bench.language.as_str(),
        target: Snippet { path: path.to_string(), text },
        import: bench.opening(),
        specification,
        acceptance,
        example: String::new(),
        names: subject.symbols.clone(),
        count: 4,
    };
    let mut probes = drawn(desk, &subject, &input)?;
    probes.retain(|probe| fits(bench.runner, probe) && names_exist(&subject, bench, probe));
    probes.truncate(SPEC_PROBES);
    for example in unspoken(desk, &subject, have, &probes) {
        add_spoken(desk, &subject, bench, &input, &example, &mut probes)?;
    }
    if bench.language == Language::Rust {
        for example in of_task(desk, &subject) {
            let twins: Vec<Probe> = probes.iter().filter_map(|probe| owned_twin(probe, &example)).collect();
            for twin in twins {
                probes.push(renamed(twin, &probes));
            }
        }
    }
    Ok(probes)
}

/// Asks for a test of one example in its own place, before the others: a model that is asked for several things leaves the
/// one out that counts.
fn add_spoken(
    desk: &mut Desk<'_>,
    subject: &Subject,
    bench: &Bench,
    input: &TestInput,
    example: &Example,
    probes: &mut Vec<Probe>,
) -> Result<(), SwarmError> {
    let input = TestInput { example: example.line.clone(), ..input.clone() };
    let mut found = drawn(desk, subject, &input)?;
    found.retain(|probe| {
        fits(bench.runner, probe) && names_exist(subject, bench, probe) && shows(example, &probe.source)
    });
    for probe in found {
        if probes.iter().all(|known| body_of(&known.source) != body_of(&probe.source)) {
            probes.insert(0, renamed(probe, probes));
        }
    }
    Ok(())
}

/// Examples of the task about the subject that no probe shows yet.
fn unspoken(desk: &Desk<'_>, subject: &Subject, have: &[Probe], probes: &[Probe]) -> Vec<Example> {
    let mut examples = of_task(desk, subject);
    examples.retain(|example| !have.iter().chain(probes).any(|probe| shows(example, &probe.source)));
    examples.truncate(MOST_EXAMPLES);
    examples
}

/// Examples of the task about the subject.
fn of_task(desk: &Desk<'_>, subject: &Subject) -> Vec<Example> {
    let mut examples = stated(&desk.state);
    examples.retain(|example| subject.symbols.iter().any(|s| s.rsplit('.').next() == Some(example.name.as_str())));
    examples
}

/// Everything that is proposed for code as it stands: a model's tests, and recorded runs.
pub(crate) fn all(desk: &mut Desk<'_>, subject: &Subject, bench: &Bench) -> Result<Vec<Probe>, SwarmError> {
    let mut recorded: Vec<Vec<Probe>> = Vec::new();
    for symbol in subject.symbols.clone() {
        recorded.push(match subject.language {
            Language::Python => record_python::run(desk, subject, bench, &symbol)?,
            Language::Rust => record_rust::run(desk, subject, bench, &symbol)?,
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                record_javascript::run(desk, subject, bench, &symbol)?
            }
            Language::Go | Language::Java | Language::C | Language::Cpp => Vec::new(),
        });
    }
    let input = TestInput {
        language: subject.language.as_str(),
        target: Snippet {
            path: subject.path.to_string(),
            text: shown(&subject.source, &subject.outline.symbols, &subject.symbols),
        },
        import: bench.opening(),
        specification: String::new(),
        acceptance: Vec::new(),
        example: String::new(),
        names: subject.symbols.clone(),
        count: 6,
    };
    // A model's tests first, then one recorded test of each symbol in turn: what is cut off later is the tail of all.
    let mut probes = drawn(desk, subject, &input)?;
    let longest = recorded.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..longest {
        probes.extend(recorded.iter().filter_map(|list| list.get(at).cloned()));
    }
    Ok(probes)
}

fn drawn(desk: &mut Desk<'_>, subject: &Subject, input: &TestInput) -> Result<Vec<Probe>, SwarmError> {
    let request = SampleRequest {
        stop: vec!["\n```".to_owned()],
        ..SampleRequest::new(prompt::test(input), Shape::Text, ANSWERS, 480, 0.7, desk.seed)
    };
    let call = desk.ask(Role::Tester, prompt::TEST, &request)?;
    let mut record = call.record;
    let mut probes: Vec<Probe> = Vec::new();
    for completion in &call.sampled.completions {
        let found = from_answer(subject.language, &completion.text, &subject.symbols);
        record.valid += u32::from(!found.is_empty());
        for probe in found {
            if probes.iter().all(|known| body_of(&known.source) != body_of(&probe.source)) {
                probes.push(renamed(probe, &probes));
            }
        }
    }
    desk.fact(TaskEvent::Called { call: record })?;
    Ok(probes)
}

/// The code that a test's author needs: the whole file when it is short, else the symbols and their containers.
pub(crate) fn shown(source: &str, symbols: &[Symbol], names: &[String]) -> String {
    if source.chars().count() <= 5_000 {
        return source.to_owned();
    }
    let wanted = symbols
        .iter()
        .filter(|s| names.iter().any(|name| name == &s.qualified || name.starts_with(&format!("{}.", s.qualified))));
    let text: Vec<&str> = wanted.filter_map(|s| source.get(s.span.start..s.span.end)).collect();
    let text = text.join("\n\n");
    if text.chars().count() > 8_000 { tail(&text, 8_000) } else { text }
}

/// Names a test uses exist: the target's, its own, the language's. Rust asks its compiler.
pub(crate) fn names_exist(subject: &Subject, bench: &Bench, probe: &Probe) -> bool {
    if javascript::is(subject.language) {
        return javascript::stands_alone(subject.language, &bench.opening(), &probe.source);
    }
    if subject.language != Language::Python {
        return true;
    }
    let imports = probe.imports.join("\n");
    let text = format!("import pytest, unittest\n{}\n{imports}\n{}", bench.import, probe.source);
    crate::names::unknown_in(&text, &subject.source).is_empty()
}
