//! Beginnings of prompts that were read before: in the working memory, beside it, and on disk. A new prompt goes on behind
//! the longest of them, whichever request, task or start of the program it came from.
//!
//! Every beginning is a list of tokens from the start; two that share theirs share its cells in the working memory, so the
//! list is a tree without being stored as one.
#![forbid(unsafe_code)]

mod disk;
mod identity;

pub use disk::{Disk, DiskError};
pub use identity::key;

use crate::llama::{Session, StepError, TakenOut};
use crate::sample::Token;

/// Kept beginnings in the working memory while nothing is done: tokens of all together.
const LIVE_TOKENS: usize = 4_096;
/// Tokens of a kept beginning that may lie in the working memory beside the work without being part of it. Attention walks
/// over every cell in use, whoever holds it: measured, two thousand foreign tokens cost sixteen candidates a third of their
/// speed.
const IN_THE_WAY: usize = 256;
/// Bytes of the copies beside the working memory.
const COPIES: u64 = 192 * 1024 * 1024;
/// Shorter beginnings are read again as fast as they are found.
const WORTH_KEEPING: usize = 128;
/// Shorter ones are not worth a file.
const WORTH_A_FILE: usize = 256;

pub struct Library {
    entries: Vec<Entry>,
    disk: Option<Disk>,
    clock: u64,
}

struct Entry {
    tokens: Vec<Token>,
    /// Its sequence in the working memory.
    live: Option<u32>,
    copy: Option<TakenOut>,
    on_disk: bool,
    used: u64,
}

/// Where the beginning of a prompt was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    entry: usize,
    /// Tokens in common.
    pub common: usize,
}

impl Library {
    pub fn new(disk: Option<Disk>) -> Library {
        let mut library = Library { entries: Vec::new(), disk: None, clock: 0 };
        // The one used last is the youngest.
        for tokens in disk.iter().flat_map(Disk::known).rev() {
            let used = library.tick();
            library.entries.push(Entry { tokens, live: None, copy: None, on_disk: true, used });
        }
        library.disk = disk;
        library
    }

    /// The longest beginning of `prompt`, in whole pieces of `grid` tokens; its last token is never part of it.
    pub fn find(&self, prompt: &[Token], grid: usize) -> Option<Found> {
        let found = self
            .entries
            .iter()
            .enumerate()
            .map(|(entry, known)| Found { entry, common: common(&known.tokens, prompt, grid) });
        // Of equals the one that costs least.
        found.filter(|found| found.common > 0).max_by_key(|found| (found.common, self.nearness(found.entry)))
    }

    fn nearness(&self, entry: usize) -> u8 {
        match self.entries.get(entry) {
            Some(Entry { live: Some(_), .. }) => 2,
            Some(Entry { copy: Some(_), .. }) => 1,
            Some(_) | None => 0,
        }
    }

    /// Brings what was found into an empty sequence; the tokens it then holds, 0 when it could not be had.
    pub fn bring(&mut self, found: Found, sequence: u32, session: &mut Session<'_>) -> Result<usize, StepError> {
        let used = self.tick();
        let Some(entry) = self.entries.get_mut(found.entry) else { return Ok(0) };
        entry.used = used;
        let length = u32::try_from(found.common).unwrap_or(u32::MAX);
        if entry.live.is_none() && entry.tokens.len() > session.free() as usize {
            return Ok(0);
        }
        let brought = match (entry.live, &entry.copy) {
            (Some(live), _) => return session.share(live, sequence, length).map(|()| found.common),
            (None, Some(copy)) => session.put_back(copy, sequence),
            (None, None) => match &self.disk {
                Some(disk) => disk
                    .read(&entry.tokens, |file| session.restore(sequence, file, &entry.tokens).map_err(Failed::Step))
                    .map_err(Failed::into_step),
                None => Err(StepError::Wrong("it is nowhere".to_owned())),
            },
        };
        match brought {
            Ok(()) => session.shorten(sequence, length).map(|()| found.common),
            Err(error) => {
                tracing::warn!("a kept beginning was dropped: {error}");
                self.entries.remove(found.entry);
                session.shorten(sequence, 0).map(|()| 0)
            }
        }
    }

    /// Takes over a sequence that holds `tokens`; gives back sequences that are free again.
    pub fn keep(&mut self, sequence: u32, tokens: &[Token], session: &mut Session<'_>) -> Result<Vec<u32>, StepError> {
        let used = self.tick();
        let mut free = Vec::new();
        let longer = self.entries.iter_mut().find(|known| known.tokens.starts_with(tokens));
        if tokens.len() < WORTH_KEEPING {
            free.push(sequence);
        } else if let Some(known) = longer {
            known.used = used;
            // A file or a copy of the very same is in the working memory again.
            if known.live.is_none() && known.tokens.len() == tokens.len() {
                known.live = Some(sequence);
            } else {
                free.push(sequence);
            }
        } else {
            let mut shorter = Vec::new();
            self.entries.retain_mut(|known| {
                // What is on disk stays an entry: other prompts may need only it, and its file is paid for.
                let covered = tokens.starts_with(&known.tokens);
                if covered {
                    shorter.extend(known.live.take());
                    known.copy = None;
                }
                !covered || known.on_disk
            });
            free.extend(shorter);
            let tokens = tokens.to_vec();
            self.entries.push(Entry { tokens, live: Some(sequence), copy: None, on_disk: false, used });
        }
        for freed in &free {
            session.shorten(*freed, 0)?;
        }
        while self.live_tokens() > LIVE_TOKENS {
            match self.move_out(session)? {
                Some(freed) => free.push(freed),
                None => break,
            }
        }
        Ok(free)
    }

    fn live_tokens(&self) -> usize {
        self.entries.iter().filter(|entry| entry.live.is_some()).map(|entry| entry.tokens.len()).sum()
    }

    /// Moves the beginning used longest ago out of the working memory; the sequence that is free then.
    pub fn move_out(&mut self, session: &mut Session<'_>) -> Result<Option<u32>, StepError> {
        let live = self.entries.iter().enumerate().filter(|(_, entry)| entry.live.is_some());
        let Some((oldest, _)) = live.min_by_key(|(_, entry)| entry.used) else { return Ok(None) };
        self.move_out_entry(oldest, session)
    }

    /// Moves out what would lie in the way of prompts at work without being part of them; the sequences that are free then.
    pub fn make_way(&mut self, at_work: &[&[Token]], session: &mut Session<'_>) -> Result<Vec<u32>, StepError> {
        let mut free = Vec::new();
        let foreign = |entry: &Entry| {
            let shared = at_work.iter().map(|prompt| common(&entry.tokens, prompt, 1)).max().unwrap_or(0);
            entry.live.is_some() && entry.tokens.len() - shared > IN_THE_WAY
        };
        while let Some(at) = self.entries.iter().position(foreign) {
            free.extend(self.move_out_entry(at, session)?);
        }
        Ok(free)
    }

    fn move_out_entry(&mut self, at: usize, session: &mut Session<'_>) -> Result<Option<u32>, StepError> {
        let Some(entry) = self.entries.get_mut(at) else { return Ok(None) };
        let Some(sequence) = entry.live.take() else { return Ok(None) };
        if entry.copy.is_none() && !entry.on_disk {
            entry.copy = Some(session.take_out(sequence)?);
        }
        session.shorten(sequence, 0)?;
        while self.entries.iter().filter_map(|entry| entry.copy.as_ref()).map(TakenOut::bytes).sum::<u64>() > COPIES {
            let copies = self.entries.iter_mut().filter(|entry| entry.copy.is_some());
            if let Some(oldest) = copies.min_by_key(|entry| entry.used) {
                oldest.copy = None;
            }
        }
        self.entries.retain(|entry| entry.live.is_some() || entry.copy.is_some() || entry.on_disk);
        Ok(Some(sequence))
    }

    /// Writes one beginning that is not on disk yet; false when there is none. `spare`: an empty sequence.
    pub fn save_one(&mut self, spare: u32, session: &mut Session<'_>) -> bool {
        let Some(disk) = &self.disk else { return false };
        let known: Vec<&[Token]> =
            self.entries.iter().filter(|entry| entry.on_disk).map(|entry| entry.tokens.as_slice()).collect();
        // Nearly the same as a file: the rest is read faster than another file is written.
        let is_new = |entry: &Entry| {
            let covered = known.iter().map(|tokens| common(tokens, &entry.tokens, 1)).max().unwrap_or(0);
            entry.tokens.len() - covered >= WORTH_A_FILE.max(entry.tokens.len() / 4)
        };
        let unsaved = self.entries.iter().enumerate().filter(|(_, entry)| !entry.on_disk && is_new(entry));
        let Some((at, _)) = unsaved.max_by_key(|(_, entry)| entry.used) else { return false };
        let Some(entry) = self.entries.get_mut(at) else { return false };
        let source = match (entry.live, &entry.copy) {
            (Some(live), _) => Ok(live),
            (None, Some(copy)) => session.put_back(copy, spare).map(|()| spare),
            (None, None) => return false,
        };
        let saved = source.map_err(Failed::Step).and_then(|source| {
            let tokens = &entry.tokens;
            disk.write(tokens, |file| session.save(source, file, tokens).map_err(Failed::Step))
        });
        // Even a file that could not be written counts: it is not tried again and again.
        entry.on_disk = true;
        if let Err(error) = session.shorten(spare, 0) {
            tracing::warn!("the spare sequence could not be emptied: {error}");
        }
        match saved {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!("a beginning could not be kept on disk: {}", error.into_step());
                false
            }
        }
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

enum Failed {
    Step(StepError),
    Disk(DiskError),
}

impl Failed {
    fn into_step(self) -> StepError {
        match self {
            Failed::Step(error) => error,
            Failed::Disk(error) => StepError::Wrong(error.to_string()),
        }
    }
}

impl From<DiskError> for Failed {
    fn from(error: DiskError) -> Failed {
        Failed::Disk(error)
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Failed {
        Failed::Disk(error.into())
    }
}

/// Tokens that both begin with, in whole pieces of `grid`, without the last of `prompt`.
pub fn common(known: &[Token], prompt: &[Token], grid: usize) -> usize {
    let same = known.iter().zip(prompt).take_while(|(known, new)| known == new).count();
    let same = same.min(prompt.len().saturating_sub(1));
    same - same % grid.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_compared_in_whole_pieces_without_the_last_token() {
        let check = |known: &[Token], prompt: &[Token], expected: usize| {
            assert_eq!(common(known, prompt, 4), expected, "{known:?} {prompt:?}");
        };
        check(&[], &[], 0);
        check(&[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5], 4);
        check(&[1, 2, 3, 4], &[1, 2, 3, 4], 0);
        check(&[1, 2, 3, 4, 5, 6, 7, 8], &[1, 2, 3, 4, 9, 6, 7, 8, 9], 4);
        check(&[9, 2, 3, 4, 5], &[1, 2, 3, 4, 5], 0);
    }

    #[test]
    fn the_longest_is_found_and_of_equals_the_nearest() {
        let entry =
            |tokens: &[Token], live| Entry { tokens: tokens.to_vec(), live, copy: None, on_disk: true, used: 0 };
        let entries = vec![entry(&[1, 2, 3, 4], None), entry(&[1, 2, 9, 9], Some(3)), entry(&[1, 2, 3, 5], None)];
        let library = Library { entries, disk: None, clock: 0 };
        assert_eq!(library.find(&[1, 2, 3, 4, 7], 2), Some(Found { entry: 0, common: 4 }));
        assert_eq!(library.find(&[1, 2, 8, 8, 8], 2), Some(Found { entry: 1, common: 2 }));
        assert_eq!(library.find(&[7, 7, 7], 2), None);
    }
}
