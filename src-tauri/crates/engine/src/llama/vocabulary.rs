//! The vocabulary as llguidance wants to see it: a trie of all tokens, and the model's own way to tokenise, so that
//! forced text becomes the tokens the model would have written.

use super::weights::Weights;
use llama_cpp_2::sampling::LlamaSampler;
use std::sync::Arc;
use toktrie::{TokEnv, TokTrie, TokenId, TokenizerEnv};

struct Words {
    trie: TokTrie,
    weights: Arc<Weights>,
}

/// Walks the whole vocabulary: some tenths of a second, once per model.
pub fn words(weights: Arc<Weights>) -> TokEnv {
    let trie = LlamaSampler::llguidance_tok_env(weights.model()).tok_trie().clone();
    Arc::new(Words { trie, weights })
}

impl TokenizerEnv for Words {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        // Bytes that are no text (half a character) go to the trie's own tokeniser.
        self.trie.tokenize_with_greedy_fallback(bytes, |text| {
            self.weights.tokenize(text.as_bytes()).unwrap_or_else(|_| self.trie.greedy_tokenize(text.as_bytes()))
        })
    }

    fn tokenize_is_canonical(&self) -> bool {
        true
    }
}
