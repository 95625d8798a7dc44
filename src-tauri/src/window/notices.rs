//! When a person is told: on a question, a verdict, a failure. One plain sentence without any text of the project, because
//! notifications stand on lock screens too. The same sentence stands in the window until it was seen.

use super::board::Notice;
use super::words::Words;
use starling_contract::NoticeKind;
use starling_core::TaskId;
use starling_core::evidence::Grade;
use starling_core::review::VerdictKind;
use starling_core::state::{Stage, StepState, TaskState};

/// Longer text is cut by some notification servers in the middle of a character.
pub const MAX_CHARACTERS: usize = 200;

/// The notice for a task that rests in this state.
pub fn of(task: &TaskId, state: &TaskState, words: &Words) -> Option<Notice> {
    let text = sentence(state, words)?;
    let kind = match state.stage() {
        Stage::ApprovePlan | Stage::DecidePacket => NoticeKind::NeedsYou,
        Stage::Failed => NoticeKind::Stuck,
        Stage::Decide => NoticeKind::Done,
        Stage::Brief | Stage::Plan | Stage::Swarm | Stage::Packet | Stage::Review => return None,
        Stage::Landed | Stage::Discarded | Stage::Cancelled => return None,
    };
    Some(Notice { kind, task: Some(task.clone()), text })
}

/// What to say now that the work on a task rests in this state; `None` when the person did it himself.
fn sentence(state: &TaskState, words: &Words) -> Option<String> {
    let sentence = match state.stage() {
        Stage::ApprovePlan => words.plan_waits,
        Stage::DecidePacket => words.packet_waits,
        Stage::Decide => verdict(state, words),
        Stage::Failed => words.failed,
        Stage::Brief | Stage::Plan | Stage::Swarm | Stage::Packet | Stage::Review => return None,
        Stage::Landed | Stage::Discarded | Stage::Cancelled => return None,
    };
    Some(cut(sentence))
}

/// For the tray's list of verdicts.
pub fn verdict<'a>(state: &TaskState, words: &'a Words) -> &'a str {
    match state.verdict.as_ref().map(|verdict| verdict.kind) {
        Some(VerdictKind::Approve) if state.proven() && all_solved(state) => words.approved,
        Some(VerdictKind::Approve) | None => words.unproven,
        Some(VerdictKind::Change) => words.asks_for_changes,
        Some(VerdictKind::Reject) => words.rejected,
    }
}

/// Plain text of at most [`MAX_CHARACTERS`] characters.
pub fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_CHARACTERS).collect()
}

fn all_solved(state: &TaskState) -> bool {
    state.steps.iter().all(|step| match step {
        StepState::Solved { evidence, .. } | StepState::Tested { evidence, .. } => evidence.grade >= Grade::TestsPass,
        StepState::Waiting | StepState::Working | StepState::Failed { .. } => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;
    use starling_core::brief::{Brief, TaskKind};
    use starling_core::state::TaskEvent;

    #[track_caller]
    fn check(events: &[TaskEvent], english: Option<&str>) {
        let state = TaskState::fold(events);
        assert_eq!(sentence(&state, words("en", "")).as_deref(), english);
        assert_eq!(sentence(&state, words("ko", "")).is_some(), english.is_some());
    }

    fn brief() -> Brief {
        Brief {
            title: "secret project name".into(),
            kind: TaskKind::Bug,
            goal: String::new(),
            acceptance: vec![],
            files: vec![],
            symbols: vec![],
            commands: vec![],
            constraints: vec![],
            language: "en".into(),
            injected_instructions: false,
            warnings: vec![],
            evidence: vec![],
            grounded_files: vec![],
            grounded_symbols: vec![],
            trace: vec![],
        }
    }

    #[test]
    fn speaks_when_a_person_is_needed_and_names_nothing() {
        let briefed = TaskEvent::Briefed { brief: brief() };
        let plan = starling_core::plan::Plan { steps: vec![], rationale: String::new() };
        check(std::slice::from_ref(&briefed), None);
        check(&[briefed.clone(), TaskEvent::Planned { plan }], Some("A plan waits for you"));
        check(
            &[briefed.clone(), TaskEvent::Failed { stage: "plan".into(), message: "x".into() }],
            Some("The task failed"),
        );
        check(&[briefed, TaskEvent::Discarded], None);
    }

    #[test]
    fn cuts_by_characters() {
        assert_eq!(cut(&"한".repeat(300)).chars().count(), MAX_CHARACTERS);
        assert_eq!(cut("a\u{1b}[1mb\n"), "a[1mb");
    }
}
