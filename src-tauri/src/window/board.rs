//! What the window shows of all tasks: a fold over the facts, so that a restart shows the same. Also which notices were not
//! seen yet, and from that how the tray looks.

use super::notices;
use super::tray::{Look, TrayState};
use super::words::Words;
use starling_contract::NoticeKind;
use starling_core::TaskId;
use starling_core::state::{Stage, TaskEvent, TaskState};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many verdicts the tray lists.
const VERDICTS: usize = 5;

#[derive(Default)]
pub struct Board(Mutex<Tasks>);

/// A sentence that stands in the window until it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub kind: NoticeKind,
    /// `None` for trouble with something that is no task.
    pub task: Option<TaskId>,
    pub text: String,
}

#[derive(Default)]
struct Tasks {
    /// Ids sort by time.
    states: BTreeMap<TaskId, TaskState>,
    unseen: BTreeMap<TaskId, Notice>,
    /// Oldest first.
    troubles: Vec<Notice>,
    /// Why a task cannot go on for now.
    stuck: BTreeMap<TaskId, String>,
}

impl Board {
    /// After a start: everything that waits for a person counts as not seen.
    pub fn new(states: impl IntoIterator<Item = (TaskId, TaskState)>, words: &Words) -> Board {
        let board = Board(Mutex::new(Tasks { states: states.into_iter().collect(), ..Tasks::default() }));
        for (task, state) in board.all() {
            if let Some(notice) = notices::of(&task, &state, words).filter(|_| state.stage().needs_user()) {
                board.tell(notice);
            }
        }
        board
    }

    /// Adds a fact and returns the state after it.
    pub fn apply(&self, task: &TaskId, event: &TaskEvent) -> TaskState {
        let mut tasks = self.lock();
        let before = tasks.states.remove(task).unwrap_or_default();
        let after = before.apply(event);
        if after.stage().is_final() && !matches!(after.stage(), Stage::Failed) {
            tasks.unseen.remove(task);
        }
        tasks.states.insert(task.clone(), after.clone());
        after
    }

    pub fn get(&self, task: &TaskId) -> Option<TaskState> {
        self.lock().states.get(task).cloned()
    }

    /// Newest first.
    pub fn all(&self) -> Vec<(TaskId, TaskState)> {
        self.lock().states.iter().rev().map(|(id, state)| (id.clone(), state.clone())).collect()
    }

    /// Tasks that were interrupted: something is next, and it is not a person.
    pub fn interrupted(&self) -> Vec<TaskId> {
        let goes_on = |state: &TaskState| !state.stage().is_final() && !state.stage().needs_user();
        self.lock().states.iter().filter(|(_, state)| goes_on(state)).map(|(id, _)| id.clone()).collect()
    }

    pub fn tell(&self, notice: Notice) {
        let mut tasks = self.lock();
        match &notice.task {
            Some(task) => drop(tasks.unseen.insert(task.clone(), notice)),
            None => tasks.troubles.push(notice),
        }
    }

    pub fn seen(&self, task: &TaskId) {
        self.lock().unseen.remove(task);
    }

    /// Notices that are about no task.
    pub fn troubles_seen(&self) {
        self.lock().troubles.clear();
    }

    pub fn is_unseen(&self, task: &TaskId) -> bool {
        self.lock().unseen.contains_key(task)
    }

    /// Newest first.
    pub fn unseen(&self) -> Vec<Notice> {
        let tasks = self.lock();
        tasks.troubles.iter().rev().chain(tasks.unseen.values().rev()).cloned().collect()
    }

    /// Why a task cannot go on for now; `None` once it is tried again.
    pub fn set_stuck(&self, task: &TaskId, why: Option<String>) {
        let mut tasks = self.lock();
        match why {
            Some(why) => drop(tasks.stuck.insert(task.clone(), why)),
            None => drop(tasks.stuck.remove(task)),
        }
    }

    pub fn stuck(&self, task: &TaskId) -> Option<String> {
        self.lock().stuck.get(task).cloned()
    }

    pub fn look(&self, working: bool, paused: bool, words: &Words) -> Look {
        let tasks = self.lock();
        let quiet = tasks.unseen.is_empty() && tasks.troubles.is_empty();
        let state = match (quiet, working) {
            (false, _) => TrayState::NeedsYou,
            (true, true) => TrayState::Working,
            (true, false) => TrayState::Idle,
        };
        let judged = tasks.states.iter().rev().filter(|(_, state)| state.verdict.is_some()).take(VERDICTS);
        let verdicts = judged.map(|(id, state)| (id.clone().to_string(), notices::verdict(state, words).to_owned()));
        Look { state, paused, verdicts: verdicts.collect() }
    }

    fn lock(&self) -> MutexGuard<'_, Tasks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[track_caller]
    fn check(board: &Board, working: bool, expected: TrayState) {
        assert_eq!(board.look(working, false, words("en", "")).state, expected);
    }

    fn notice(task: &TaskId) -> Notice {
        Notice { kind: NoticeKind::Stuck, task: Some(task.clone()), text: "x".into() }
    }

    #[test]
    fn the_icon_follows_the_tasks() {
        let board = Board::default();
        let task = TaskId::new("1");
        check(&board, false, TrayState::Idle);
        check(&board, true, TrayState::Working);
        board.apply(&task, &TaskEvent::Failed { stage: "brief".into(), message: "x".into() });
        board.tell(notice(&task));
        check(&board, true, TrayState::NeedsYou);
        assert_eq!(board.unseen(), [notice(&task)]);
        board.seen(&task);
        check(&board, false, TrayState::Idle);
        board.tell(notice(&task));
        board.apply(&task, &TaskEvent::Discarded);
        check(&board, false, TrayState::Idle);
    }

    #[test]
    fn a_restart_finds_what_was_interrupted() {
        let submitted = TaskState::default();
        let done = TaskState::fold(&[TaskEvent::Cancelled]);
        let tasks = [(TaskId::new("1"), submitted), (TaskId::new("2"), done)];
        let board = Board::new(tasks, words("en", ""));
        assert_eq!(board.interrupted(), [TaskId::new("1")]);
        assert_eq!(board.unseen(), []);
        assert_eq!(board.all().len(), 2);
    }
}
