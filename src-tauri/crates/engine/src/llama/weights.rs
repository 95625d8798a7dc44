//! A loaded model: its weights and its vocabulary. Shared by the owner thread, which computes, and by callers, who only
//! tokenise.

use super::process::backend;
use crate::chat::Piece;
use crate::sample::Token;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// llama.cpp cannot take longer texts than 2 GB; nothing near that ever fits a context.
const LONGEST_TEXT: usize = 256 * 1024 * 1024;

pub struct Weights {
    model: LlamaModel,
    vocabulary: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub enum LoadFailure {
    /// The progress callback said no.
    Stopped,
    Failed(String),
}

impl Weights {
    /// `progress` is told the part that is done (0 to 1) and returns false to stop.
    pub fn load(path: &Path, mut progress: impl FnMut(f32) -> bool + Send + 'static) -> Result<Weights, LoadFailure> {
        let backend = backend().map_err(LoadFailure::Failed)?;
        let stopped = Arc::new(AtomicBool::new(false));
        let said_no = Arc::clone(&stopped);
        let params = LlamaModelParams::default().with_n_gpu_layers(0).with_progress_callback(move |part| {
            let go_on = progress(part);
            said_no.fetch_or(!go_on, Ordering::Relaxed);
            go_on
        });
        let model = LlamaModel::load_from_file(backend, path, &params).map_err(|error| {
            if stopped.load(Ordering::Relaxed) {
                LoadFailure::Stopped
            } else {
                LoadFailure::Failed(format!("llama.cpp refuses the file ({error})"))
            }
        })?;
        if model.is_hybrid() || model.is_recurrent() {
            return Err(LoadFailure::Failed("models that cannot go back to an earlier state are not supported".into()));
        }
        let vocabulary = u32::try_from(model.n_vocab()).unwrap_or(0);
        Ok(Weights { model, vocabulary })
    }

    pub(super) fn model(&self) -> &LlamaModel {
        &self.model
    }

    /// Entries of the vocabulary; every token is below.
    pub fn vocabulary(&self) -> u32 {
        self.vocabulary
    }

    /// Text to tokens; control tokens are not looked for.
    pub fn tokenize(&self, text: &[u8]) -> Result<Vec<Token>, String> {
        self.tokens_of(text, false)
    }

    /// The id of a control token, by its name. It must really be one: anything else is also found in foreign text.
    pub fn control(&self, name: &str) -> Result<Token, String> {
        match self.tokens_of(name.as_bytes(), true)?.as_slice() {
            [token] if self.is_control(*token) => Ok(*token),
            _ => Err(format!("the vocabulary has no control token {name}")),
        }
    }

    pub fn tokens(&self, pieces: &[Piece]) -> Result<Vec<Token>, String> {
        let mut tokens = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Control(name) => tokens.push(self.control(name)?),
                Piece::Text(text) => tokens.extend(self.tokenize(text.as_bytes())?),
            }
        }
        Ok(tokens)
    }

    /// The bytes a token stands for; none for a control token.
    pub fn bytes(&self, token: Token) -> Vec<u8> {
        match self.known(token) {
            Some(token) => self.model.vocab().token_to_piece(token, false, None),
            None => Vec::new(),
        }
    }

    /// Whether the token ends an answer.
    pub fn ends(&self, token: Token) -> bool {
        self.known(token).is_some_and(|token| self.model.vocab().is_eog(token))
    }

    fn is_control(&self, token: Token) -> bool {
        self.known(token).is_some_and(|token| self.model.vocab().is_control(token))
    }

    /// llama.cpp throws an exception at ids outside the vocabulary.
    fn known(&self, token: Token) -> Option<LlamaToken> {
        if token < self.vocabulary { i32::try_from(token).ok().map(LlamaToken) } else { None }
    }

    fn tokens_of(&self, text: &[u8], control: bool) -> Result<Vec<Token>, String> {
        if text.len() > LONGEST_TEXT {
            return Err(format!("a text of {} MB is too long to tokenise", text.len() / 1_000_000));
        }
        let tokens = self.model.vocab().tokenize(text, false, control);
        tokens.into_iter().map(|LlamaToken(id)| Token::try_from(id).map_err(|e| e.to_string())).collect()
    }
}
