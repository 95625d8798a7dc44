//! What a person reads: progress while a task is worked on, and the whole story at its end.

use super::events::why;
use super::output::Output;
use starling_core::evidence::GateOutcome;
use starling_core::packet::ReviewPacket;
use starling_core::plan::Plan;
use starling_core::port::Progress;
use starling_core::receipt::Receipt;
use starling_core::review::Verdict;
use starling_core::state::{StepState, TaskEvent, TaskState};
use starling_core::test_set::{TestProof, TestSet};
use std::fmt::Write;

/// One line on stderr for each fact worth one.
pub fn fact(out: Output, event: &TaskEvent) {
    match event {
        TaskEvent::Submitted { file, .. } => out.note("task", &file.name),
        TaskEvent::Briefed { brief } => out.note("brief", &format!("{}: {}", brief.kind.as_str(), brief.title)),
        TaskEvent::Planned { plan } => out.note("plan", &format!("{} step(s)", plan.steps.len())),
        TaskEvent::StepStarted { step } => out.note("step", &format!("{step} begins")),
        TaskEvent::Gated { step, candidate, result } => match &result.outcome {
            GateOutcome::Passed => {}
            GateOutcome::Failed { why } | GateOutcome::NotRun { why } => {
                out.note(
                    "gate",
                    &format!("{step}/{candidate} fell at \"{}\": {}", result.gate.as_str(), first_line(why)),
                );
            }
        },
        TaskEvent::StepSolved { step, candidate, .. } => {
            out.note("step", &format!("{step} solved by candidate {candidate}"))
        }
        TaskEvent::TestsKept { step, tests, .. } => {
            out.note("step", &format!("{step} kept {} test(s)", tests.kept.len()))
        }
        TaskEvent::StepFailed { step, failure } => {
            out.note("step", &format!("{step} not solved: {}", first_line(&why(failure))))
        }
        TaskEvent::PacketBuilt { packet } => out.note("packet", &format!("{} bytes", packet.text().len())),
        TaskEvent::PacketDecided { send, why } => {
            out.note("packet", &format!("{}: {why}", if *send { "leaves" } else { "stays here" }));
        }
        TaskEvent::Reviewed { verdict } => out.note("verdict", verdict.kind.as_str()),
        TaskEvent::Landed { hunks, .. } => out.note("landed", &format!("{} hunk(s)", hunks.len())),
        TaskEvent::Failed { stage, message } => out.note("failed", &format!("at {stage}: {message}")),
        TaskEvent::Egress { entry } => {
            out.note("egress", &format!("{} bytes to {}: {}", entry.bytes, entry.host, entry.outcome));
        }
        TaskEvent::PlanApproved { .. }
        | TaskEvent::Discarded
        | TaskEvent::Cancelled
        | TaskEvent::Called { .. }
        | TaskEvent::Finished { .. } => {}
    }
}

pub fn progress(out: Output, progress: &Progress) {
    match progress {
        Progress::RoleStarted { role, model, .. } => out.note("model", &format!("{model} as {role}")),
        Progress::Running { what } => out.note("run", what),
        Progress::Text { .. } | Progress::Speed { .. } => {}
    }
}

pub fn plan(plan: &Plan) -> String {
    let mut text = String::from("Plan\n");
    for step in &plan.steps {
        line(&mut text, &format!("  {}. [{}] {}", step.id, step.role, step.goal));
        let names = |list: Vec<&str>| list.join(", ");
        let files: Vec<&str> = step.files.iter().chain(&step.new_files).map(|path| path.as_str()).collect();
        line(&mut text, &format!("     files: {}", names(files)));
        if !step.symbols.is_empty() {
            line(&mut text, &format!("     symbols: {}", step.symbols.join(", ")));
        }
        for acceptance in &step.acceptance {
            line(&mut text, &format!("     holds when: {acceptance}"));
        }
        if !step.depends_on.is_empty() {
            line(&mut text, &format!("     after: {}", names(step.depends_on.iter().map(|id| id.as_str()).collect())));
        }
    }
    text
}

/// Plan, change, tests with their proof, verdict, receipt.
pub fn story(state: &TaskState, diff: &str, receipt: &Receipt) -> String {
    let mut text = state.plan.as_ref().map(plan).unwrap_or_default();
    for step in &state.steps {
        if let StepState::Tested { tests: set, .. } = step {
            text.push('\n');
            text.push_str(&tests(set));
        }
    }
    if !diff.is_empty() {
        line(&mut text, &format!("\nChange\n{diff}"));
    }
    for example in starling_core::shown::not_shown(state) {
        line(&mut text, &format!("Not shown by any test: {}", example.line));
    }
    if let Some(verdict) = &state.verdict {
        text.push('\n');
        text.push_str(&self::verdict(verdict));
    }
    text.push('\n');
    text.push_str(&self::receipt(receipt));
    text
}

pub fn tests(set: &TestSet) -> String {
    let funnel = set.funnel;
    let mut text = format!(
        "Tests in {}: {} kept of {} (parsed {}, names exist {}, built {}, passed {}, stable {}, useful {})\n",
        set.path,
        set.kept.len(),
        funnel.generated,
        funnel.parsed,
        funnel.symbols_ok,
        funnel.built,
        funnel.passed,
        funnel.stable,
        funnel.useful
    );
    for test in &set.kept {
        line(&mut text, &format!("  {}", test.name));
        for proof in &test.proof {
            let proof = match proof {
                TestProof::FailsBefore { message } => format!("fails before the change: {}", first_line(message)),
                TestProof::KillsMutant { mutant, .. } => format!("kills {mutant}"),
            };
            line(&mut text, &format!("    {proof}"));
        }
    }
    text
}

pub fn verdict(verdict: &Verdict) -> String {
    let reviewer = &verdict.reviewer;
    let mut text = format!("Verdict: {} ({}, {})\n", verdict.kind.as_str(), reviewer.model, reviewer.place.as_str());
    if !reviewer.fallback.is_empty() {
        line(&mut text, &format!("  not reviewed by the cloud model: {}", reviewer.fallback));
    }
    if !verdict.summary.is_empty() {
        line(&mut text, &format!("  {}", verdict.summary));
    }
    for finding in &verdict.findings {
        let place = finding.path.as_ref().map(|path| match finding.line {
            Some(line) => format!("{path}:{line}: "),
            None => format!("{path}: "),
        });
        let place = place.unwrap_or_default();
        line(&mut text, &format!("  {place}{}: {}", finding.severity.as_str(), finding.message));
    }
    text
}

pub fn receipt(receipt: &Receipt) -> String {
    let mut text = format!(
        "Receipt: {:.1} s, {} bytes left this machine, {}, {:.1} % of the tokens were local\n",
        receipt.millis as f64 / 1000.0,
        receipt.egress_bytes,
        dollars(Some(receipt.cost_micro_usd)),
        f64::from(receipt.local_share_permille) / 10.0
    );
    for row in &receipt.calls {
        let usage = row.usage;
        let read = usage.input + usage.cache_read + usage.cache_write;
        let calls = format!("{} call(s), {read} tokens read, {} written", row.calls, usage.output);
        line(
            &mut text,
            &format!(
                "  {:<9} {} ({}): {calls}, {:.1} s",
                row.role.as_str(),
                row.model,
                row.place.as_str(),
                row.millis as f64 / 1000.0
            ),
        );
    }
    text
}

pub fn packet(packet: &ReviewPacket) -> String {
    let mut text = packet.text().to_owned();
    line(&mut text, &format!("-- {} bytes, {} redaction(s)", packet.text().len(), packet.redactions().len()));
    for left_out in packet.left_out() {
        line(&mut text, &format!("-- left out: {left_out}"));
    }
    match packet.body() {
        Some(body) => line(
            &mut text,
            &format!(
                "-- would go to {} ({}): {} bytes, about {} tokens, at most {}",
                body.host,
                body.model,
                body.json.len(),
                body.input_tokens,
                dollars(body.worst_case_micro_usd)
            ),
        ),
        None => line(&mut text, "-- no cloud model is set up: it would stay here"),
    }
    text
}

pub fn dollars(micro: Option<u64>) -> String {
    micro.map_or_else(|| "an unknown price".to_owned(), |micro| format!("${:.4}", micro as f64 / 1_000_000.0))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to a String does not fail");
}
