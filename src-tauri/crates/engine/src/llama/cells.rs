//! The book of the working memory: which cells each sequence holds. A cell that sequences share is counted once, so the free
//! room is exact and a row that does not fit is refused before C++ sees it.
#![forbid(unsafe_code)]

pub struct Cells {
    /// Of each sequence, its cells in order of position.
    held: Vec<Vec<u32>>,
    /// Of each cell, how many sequences hold it.
    holders: Vec<u16>,
    free: Vec<u32>,
}

impl Cells {
    pub fn new(cells: u32, sequences: u32) -> Cells {
        Cells {
            held: vec![Vec::new(); sequences as usize],
            holders: vec![0; cells as usize],
            free: (0..cells).rev().collect(),
        }
    }

    pub fn free(&self) -> u32 {
        u32::try_from(self.free.len()).unwrap_or(u32::MAX)
    }

    /// Tokens of a sequence.
    pub fn length(&self, sequence: u32) -> u32 {
        self.held.get(sequence as usize).map_or(0, |held| u32::try_from(held.len()).unwrap_or(u32::MAX))
    }

    /// One more token; false when there is no room.
    pub fn push(&mut self, sequence: u32) -> bool {
        let Some(held) = self.held.get_mut(sequence as usize) else { return false };
        let Some(cell) = self.free.pop() else { return false };
        held.push(cell);
        if let Some(holders) = self.holders.get_mut(cell as usize) {
            *holders = 1;
        }
        true
    }

    /// Cuts a sequence down to its first `length` tokens.
    pub fn shorten(&mut self, sequence: u32, length: u32) {
        let Some(held) = self.held.get_mut(sequence as usize) else { return };
        while held.len() > length as usize {
            let Some(cell) = held.pop() else { return };
            if let Some(holders) = self.holders.get_mut(cell as usize) {
                *holders = holders.saturating_sub(1);
                if *holders == 0 {
                    self.free.push(cell);
                }
            }
        }
    }

    /// Makes `to` an equal of the first `length` tokens of `from`.
    pub fn share(&mut self, from: u32, to: u32, length: u32) {
        self.shorten(to, 0);
        let Some(source) = self.held.get(from as usize) else { return };
        let shared: Vec<u32> = source.iter().take(length as usize).copied().collect();
        for cell in &shared {
            if let Some(holders) = self.holders.get_mut(*cell as usize) {
                *holders = holders.saturating_add(1);
            }
        }
        if let Some(held) = self.held.get_mut(to as usize) {
            *held = shared;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_shared_cell_is_free_when_its_last_holder_lets_go() {
        let mut cells = Cells::new(4, 3);
        assert!((0..3).all(|_| cells.push(0)));
        cells.share(0, 1, 2);
        assert_eq!((cells.length(1), cells.free()), (2, 1));
        assert!(cells.push(1) && !cells.push(1), "full");
        cells.shorten(0, 0);
        assert_eq!(cells.free(), 1, "two of three are held by sequence 1");
        cells.share(1, 1, 3);
        cells.shorten(1, 0);
        assert_eq!(cells.free(), 4);
        assert!(!cells.push(9), "no such sequence");
    }

    proptest! {
        /// Whatever is done, every cell is either free or held, and never both.
        #[test]
        fn no_cell_is_lost_or_held_twice(steps in prop::collection::vec((0u8..3, 0u32..4, 0u32..4, 0u32..12), 1..200)) {
            let mut cells = Cells::new(20, 4);
            for (what, a, b, length) in steps {
                match what {
                    0 => drop(cells.push(a)),
                    1 => cells.shorten(a, length),
                    _ if a != b => cells.share(a, b, length),
                    _ => {}
                }
                let mut holders = vec![0u16; 20];
                cells.held.iter().flatten().for_each(|cell| holders[*cell as usize] += 1);
                prop_assert_eq!(&holders, &cells.holders);
                let mut free = cells.free.clone();
                free.sort_unstable();
                let expected: Vec<u32> = (0..20).filter(|cell| holders[*cell as usize] == 0).collect();
                prop_assert_eq!(free, expected);
            }
        }
    }
}
