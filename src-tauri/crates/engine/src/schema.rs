//! Binds a candidate's tokens to a JSON schema with llguidance, in Rust: a sampled token is checked first, and the mask
//! over the whole vocabulary is computed only when it is refused. Tokens the schema leaves no choice about are not
//! sampled at all.
//!
//! JSON is written without optional whitespace: every space would cost a token. Deliberately absent: llama.cpp's own
//! grammar sampler, whose exceptions end the process.
#![forbid(unsafe_code)]

use crate::sample::{Sampler, Token};
use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::InferenceCapabilities;
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};
use starling_core::port::ModelError;
use toktrie::TokEnv;

/// Compiles schemas for one model's vocabulary.
pub struct Grammars {
    factory: ParserFactory,
    words: TokEnv,
}

impl Grammars {
    /// Takes some tenths of a second for a large vocabulary: once per model.
    pub fn new(words: TokEnv) -> Result<Grammars, ModelError> {
        let can = InferenceCapabilities { ff_tokens: true, ..InferenceCapabilities::default() };
        let slices = llguidance::earley::SlicedBiasComputer::general_slices();
        let mut factory = ParserFactory::new(&words, can, &slices).map_err(|error| shape(&error))?;
        factory.quiet();
        // Otherwise an error message carries the whole schema and text.
        factory.limits_mut().verbose_errors = false;
        Ok(Grammars { factory, words })
    }

    /// `answer_start` must be a beginning of a valid answer.
    pub fn grammar(&self, schema: &Value, answer_start: &str) -> Result<Grammar, ModelError> {
        let mut schema = schema.clone();
        if let Some(object) = schema.as_object_mut() {
            object.insert("x-guidance".to_owned(), json!({ "whitespace_flexible": false }));
        }
        let parser = self.factory.create_parser(TopLevelGrammar::from_json_schema(schema)).map_err(|e| shape(&e))?;
        let mut grammar = Grammar { matcher: Matcher::new(Ok(parser)), scratch: Vec::new() };
        if !answer_start.is_empty() {
            grammar.consume(&self.words.tokenize_bytes(answer_start.as_bytes()))?;
        }
        Ok(grammar)
    }
}

/// Where one candidate stands in its schema.
pub struct Grammar {
    matcher: Matcher,
    scratch: Vec<f32>,
}

impl Grammar {
    /// An independent copy, for the next candidate.
    pub fn fork(&self) -> Grammar {
        Grammar { matcher: self.matcher.deep_clone(), scratch: Vec::new() }
    }

    /// Nothing can follow any more: the value is complete.
    pub fn is_complete(&self) -> bool {
        self.matcher.is_stopped()
    }

    /// A token the schema allows, or `None` when the answer ends here. `ends` tells which tokens end an answer.
    pub fn pick(
        &mut self,
        sampler: &mut Sampler,
        logits: &[f32],
        ends: impl Fn(Token) -> bool,
    ) -> Result<Option<Token>, ModelError> {
        let Some(token) = sampler.pick(logits) else { return Err(no_token("the model gave no usable logits")) };
        if ends(token) {
            if self.matcher.is_accepting().map_err(|e| shape(&e))? {
                return Ok(None);
            }
        } else if self.matcher.validate_tokens(&[token]).map_err(|e| shape(&e))? == 1 {
            return Ok(Some(token));
        }
        let mask = self.matcher.compute_mask().map_err(|e| shape(&e))?;
        self.scratch.clear();
        self.scratch.resize(logits.len(), f32::NEG_INFINITY);
        mask.iter_set_entries(|index| {
            if let (Some(slot), Some(logit)) = (self.scratch.get_mut(index), logits.get(index)) {
                *slot = *logit;
            }
        });
        match sampler.pick(&self.scratch) {
            None => Err(no_token("the schema leaves no token")),
            Some(token) if ends(token) => Ok(None),
            Some(token) => Ok(Some(token)),
        }
    }

    pub fn consume(&mut self, tokens: &[Token]) -> Result<(), ModelError> {
        self.matcher.consume_tokens(tokens).map_err(|error| shape(&error))
    }

    /// The tokens that must follow, already consumed; empty when there is a choice.
    pub fn forced(&mut self, limit: usize) -> Result<Vec<Token>, ModelError> {
        if self.is_complete() {
            return Ok(Vec::new());
        }
        let mut tokens = self.matcher.compute_ff_tokens();
        tokens.truncate(limit);
        self.consume(&tokens)?;
        Ok(tokens)
    }
}

fn no_token(message: &str) -> ModelError {
    ModelError::Shape { message: message.to_owned() }
}

fn shape(error: &impl std::fmt::Display) -> ModelError {
    ModelError::Shape { message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Choice;
    use toktrie::ApproximateTokEnv;

    /// The end token of the toy vocabulary, in which every byte is a token.
    const END: Token = 261;

    fn grammar(schema: Value, start: &str) -> Result<Grammar, ModelError> {
        Grammars::new(ApproximateTokEnv::single_byte_env()).unwrap().grammar(&schema, start)
    }

    /// Answers with random bytes that the schema allows.
    fn babble(schema: Value, start: &str, seed: u64) -> (String, u32) {
        let mut grammar = grammar(schema, start).unwrap();
        let mut sampler = Sampler::new(Choice { temperature: 1.0, top_p: 1.0, top_k: 0 }, seed);
        let (mut bytes, mut forced) = (start.as_bytes().to_vec(), 0);
        while !grammar.is_complete() && bytes.len() < 4_000 {
            let ahead = grammar.forced(100).unwrap();
            forced += ahead.len() as u32;
            bytes.extend(ahead.iter().map(|token| *token as u8));
            if grammar.is_complete() {
                break;
            }
            match grammar.pick(&mut sampler, &[0.0; 262], |token| token == END).unwrap() {
                None => break,
                Some(token) => {
                    grammar.consume(&[token]).unwrap();
                    bytes.push(token as u8);
                }
            }
        }
        (String::from_utf8_lossy(&bytes).into_owned(), forced)
    }

    #[test]
    fn random_bytes_become_valid_compact_json() {
        let schema = json!({ "type": "object", "additionalProperties": false, "required": ["kind", "items", "on"],
            "properties": {
                "kind": { "enum": ["edit", "test"] },
                "items": { "type": "array", "maxItems": 3, "items": { "type": "integer", "minimum": 0, "maximum": 99 } },
                "on": { "type": "boolean" } } });
        for seed in 0..20 {
            let (text, forced) = babble(schema.clone(), "", seed);
            let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert!(["edit", "test"].contains(&value["kind"].as_str().unwrap()), "{text}");
            assert!(value["items"].as_array().unwrap().len() <= 3, "{text}");
            assert_eq!(serde_json::to_string(&value["on"]).unwrap(), value["on"].to_string());
            assert!(!text.contains(' '), "{text}");
            assert!(forced > 20, "{forced} bytes forced in {text}");
        }
    }

    #[test]
    fn the_start_of_the_answer_counts() {
        let schema = json!({ "type": "object", "properties": { "a": { "const": 1 } }, "required": ["a"], "additionalProperties": false });
        assert_eq!(babble(schema.clone(), "{\"a\"", 1).0, "{\"a\":1}");
        assert!(matches!(grammar(schema, "[").err(), Some(ModelError::Shape { .. })));
    }

    #[test]
    fn an_impossible_schema_is_a_typed_error() {
        for schema in
            [json!({ "type": "nonsense" }), json!({ "type": "integer", "minimum": 5, "maximum": 1 }), json!(false)]
        {
            assert!(matches!(grammar(schema.clone(), "").err(), Some(ModelError::Shape { .. })), "{schema}");
        }
    }

    #[test]
    fn unusable_logits_are_a_typed_error() {
        let mut grammar = grammar(json!({ "type": "boolean" }), "").unwrap();
        let mut sampler = Sampler::new(Choice { temperature: 0.0, top_p: 1.0, top_k: 0 }, 1);
        let picked = grammar.pick(&mut sampler, &[f32::NAN; 262], |token| token == END);
        assert!(matches!(picked, Err(ModelError::Shape { .. })));
        // Only a forbidden token has a logit.
        let mut logits = [f32::NEG_INFINITY; 262];
        logits[usize::from(b'x')] = 1.0;
        let picked = grammar.pick(&mut sampler, &logits, |token| token == END);
        assert_eq!(picked, Err(ModelError::Shape { message: "the schema leaves no token".into() }));
    }
}
