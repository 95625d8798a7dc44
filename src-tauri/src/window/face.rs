//! What the desktop shows of the board: signals to the page, and the look of the tray, told only when it changed.

use super::board::{Board, Notice};
use super::notices;
use super::tray::Look;
use super::words::Words;
use super::workshop::Turn;
use starling_contract::{DownloadView, NoticeKind};
use starling_core::TaskId;
use starling_core::port::Progress;
use starling_core::state::TaskState;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What the outside is told.
pub enum Signal<'a> {
    /// A task changed; the state after it.
    Task(&'a TaskId, &'a TaskState),
    /// Only its line in the list changed.
    Row(&'a TaskId),
    Progress(&'a TaskId, &'a Progress),
    /// A person is needed, something ended, or something did not work; plain text.
    Notice(&'a Notice),
    Download(&'a DownloadView),
    /// Project, settings or models changed outside the page.
    Changed,
    /// The tray should look like this now.
    Look(&'a Look),
}

pub struct Face {
    pub board: Board,
    pub words: &'static Words,
    show: Box<dyn Fn(Signal<'_>) + Send + Sync>,
    working: AtomicBool,
    paused: AtomicBool,
    look: Mutex<Option<Look>>,
}

impl Face {
    pub fn new(board: Board, words: &'static Words, show: impl Fn(Signal<'_>) + Send + Sync + 'static) -> Face {
        let flag = || AtomicBool::new(false);
        Face { board, words, show: Box::new(show), working: flag(), paused: flag(), look: Mutex::default() }
    }

    pub fn show(&self, signal: Signal<'_>) {
        (self.show)(signal);
    }

    pub fn turn(&self, task: &TaskId, turn: &Turn) {
        self.working.store(matches!(turn, Turn::Begun), Ordering::Relaxed);
        self.board.set_stuck(task, None);
        let notice = match turn {
            Turn::Begun | Turn::Parked => None,
            Turn::Rests(state) => notices::of(task, state, self.words),
            Turn::Stuck(why) => {
                self.board.set_stuck(task, Some(why.clone()));
                Some(Notice { kind: NoticeKind::Stuck, task: Some(task.clone()), text: notices::cut(why) })
            }
        };
        if let Some(notice) = notice {
            self.tell(notice);
        }
        self.show(Signal::Row(task));
        self.refresh();
    }

    /// Says that something a person asked for outside the page did not work.
    pub fn trouble(&self, text: &str) {
        self.tell(Notice { kind: NoticeKind::Trouble, task: None, text: notices::cut(text) });
        self.refresh();
    }

    fn tell(&self, notice: Notice) {
        self.board.tell(notice.clone());
        self.show(Signal::Notice(&notice));
    }

    pub fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Relaxed);
        self.refresh();
    }

    pub fn look(&self) -> Look {
        let (working, paused) = (self.working.load(Ordering::Relaxed), self.paused.load(Ordering::Relaxed));
        self.board.look(working, paused, self.words)
    }

    /// Tells how the tray should look, if that changed.
    pub fn refresh(&self) {
        let now = self.look();
        let mut last = self.look.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref() != Some(&now) {
            self.show(Signal::Look(&now));
            *last = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tray::TrayState;
    use super::super::words::words;
    use super::*;
    use starling_core::state::TaskEvent;
    use std::sync::Arc;

    #[test]
    fn tells_the_look_once_and_notices_failures() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let face = Face::new(Board::default(), words("en", ""), move |signal| {
            heard.lock().unwrap().push(match signal {
                Signal::Look(look) => format!("{:?}", look.state),
                Signal::Notice(notice) => notice.text.clone(),
                Signal::Row(_) => return,
                Signal::Task(..) | Signal::Progress(..) | Signal::Download(_) | Signal::Changed => "other".into(),
            });
        });
        let task = TaskId::new("1");
        face.refresh();
        face.refresh();
        face.turn(&task, &Turn::Begun);
        let failed = face.board.apply(&task, &TaskEvent::Failed { stage: "plan".into(), message: "x".into() });
        face.turn(&task, &Turn::Rests(Box::new(failed)));
        face.turn(&task, &Turn::Stuck("no model".into()));
        let states = [TrayState::Idle, TrayState::Working, TrayState::NeedsYou].map(|state| format!("{state:?}"));
        let [idle, working, needs] = states;
        assert_eq!(*told.lock().unwrap(), [idle, working, "The task failed".into(), needs, "no model".into()]);
    }
}
