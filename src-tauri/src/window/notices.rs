//! When a person is told: on a question, a verdict, a failure. One plain sentence without any text of the project, because
//! notifications stand on lock screens too. The same sentence stands in the window until it was seen.

use super::board::Notice;
use super::words::Words;
use starling_contract::NoticeKind;
use starling_core::TaskId;
use starling_core::review::VerdictKind;
use starling_core::state::{Outcome, Stage, TaskState};

/// Longer text is cut by some notification servers in the middle of a character.
pub const MAX_CHARACTERS: usize = 200;

/// The notice for a task that rests in this state.
pub fn of(task: &TaskId, state: &TaskState, words: &Words) -> Option<Notice> {
    let (kind, sentence) = sentence(state, words)?;
    Some(Notice { kind, task: Some(task.clone()), text: cut(sentence) })
}

/// What to say now that the work on a task rests in this state; `None` when the person did it himself.
fn sentence<'a>(state: &TaskState, words: &'a Words) -> Option<(NoticeKind, &'a str)> {
    match state.stage() {
        Stage::ApprovePlan => Some((NoticeKind::NeedsYou, words.plan_waits)),
        Stage::DecidePacket => Some((NoticeKind::NeedsYou, words.packet_waits)),
        Stage::Decide => Some((NoticeKind::Done, verdict(state, words))),
        Stage::Failed => Some((NoticeKind::Stuck, words.failed)),
        Stage::Brief | Stage::Plan | Stage::Swarm | Stage::Packet | Stage::Review => None,
        Stage::Landed | Stage::Discarded | Stage::Cancelled => None,
    }
}

/// For the tray's list of verdicts.
pub fn verdict<'a>(state: &TaskState, words: &'a Words) -> &'a str {
    match state.verdict.as_ref().map(|verdict| verdict.kind) {
        Some(VerdictKind::Approve) if state.outcome() == Some(Outcome::Ready) => words.approved,
        Some(VerdictKind::Approve) | None => words.unproven,
        Some(VerdictKind::Change) => words.asks_for_changes,
        Some(VerdictKind::Reject) => words.rejected,
    }
}

/// Plain text of at most [`MAX_CHARACTERS`] characters.
pub fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_CHARACTERS).collect()
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
        assert_eq!(sentence(&state, words("en", "")).map(|(_, text)| text), english);
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
