//! Counting words.

use std::collections::HashMap;

/// How often each word occurs. Words are compared in lower case.
#[derive(Debug, Default)]
pub struct WordCount {
    counts: HashMap<String, usize>,
    total: usize,
}

impl WordCount {
    /// An empty count.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds all words of a text. A word is a run of letters and digits.
    pub fn add(&mut self, text: &str) {
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            if word.is_empty() {
                continue;
            }
            *self.counts.entry(word.to_lowercase()).or_insert(0) += 1;
            self.total += 1;
        }
    }

    /// How often one word occurred.
    pub fn get(&self, word: &str) -> usize {
        self.counts.get(&word.to_lowercase()).copied().unwrap_or(0)
    }

    /// How many words were added.
    pub fn total(&self) -> usize {
        self.total
    }
}
