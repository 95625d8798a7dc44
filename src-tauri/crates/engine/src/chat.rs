//! How a conversation is written for each family of models. Formats are data; which one a model needs is read from its
//! template's marks and its vocabulary. A template itself is never rendered: it is foreign text inside a model file.
//!
//! Control tokens are pieces of their own and become ids directly. All other text, ours or foreign, is tokenised without
//! looking for control tokens, so a document that contains "<|im_end|>" cannot end a turn.
#![forbid(unsafe_code)]

use crate::gguf::Header;
use starling_core::port::Prompt;

/// A part of the token sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A control token, by its name in the vocabulary.
    Control(&'static str),
    /// Text without control tokens, whatever it looks like.
    Text(String),
}

#[derive(Debug)]
pub struct ChatFormat {
    pub name: &'static str,
    /// A template of this family contains it.
    mark: &'static str,
    /// The family's own templates strip what people write.
    trims: bool,
    with_system: &'static [Part],
    without_system: &'static [Part],
}

#[derive(Debug)]
enum Part {
    Control(&'static str),
    Fixed(&'static str),
    System,
    User,
}
use Part::{Control, Fixed, System, User};

/// The most specific mark first.
pub static FORMATS: [ChatFormat; 4] = [
    ChatFormat {
        name: "ChatML",
        mark: "<|im_start|>",
        trims: false,
        with_system: &[
            Control("<|im_start|>"),
            Fixed("system\n"),
            System,
            Control("<|im_end|>"),
            Fixed("\n"),
            Control("<|im_start|>"),
            Fixed("user\n"),
            User,
            Control("<|im_end|>"),
            Fixed("\n"),
            Control("<|im_start|>"),
            Fixed("assistant\n"),
        ],
        without_system: &[
            Control("<|im_start|>"),
            Fixed("user\n"),
            User,
            Control("<|im_end|>"),
            Fixed("\n"),
            Control("<|im_start|>"),
            Fixed("assistant\n"),
        ],
    },
    ChatFormat {
        name: "Llama 3",
        mark: "<|start_header_id|>",
        trims: true,
        with_system: &[
            Control("<|begin_of_text|>"),
            Control("<|start_header_id|>"),
            Fixed("system"),
            Control("<|end_header_id|>"),
            Fixed("\n\n"),
            System,
            Control("<|eot_id|>"),
            Control("<|start_header_id|>"),
            Fixed("user"),
            Control("<|end_header_id|>"),
            Fixed("\n\n"),
            User,
            Control("<|eot_id|>"),
            Control("<|start_header_id|>"),
            Fixed("assistant"),
            Control("<|end_header_id|>"),
            Fixed("\n\n"),
        ],
        without_system: &[
            Control("<|begin_of_text|>"),
            Control("<|start_header_id|>"),
            Fixed("user"),
            Control("<|end_header_id|>"),
            Fixed("\n\n"),
            User,
            Control("<|eot_id|>"),
            Control("<|start_header_id|>"),
            Fixed("assistant"),
            Control("<|end_header_id|>"),
            Fixed("\n\n"),
        ],
    },
    ChatFormat {
        name: "Gemma",
        mark: "<start_of_turn>",
        trims: true,
        with_system: &[
            Control("<bos>"),
            Control("<start_of_turn>"),
            Fixed("user\n"),
            System,
            Fixed("\n\n"),
            User,
            Control("<end_of_turn>"),
            Fixed("\n"),
            Control("<start_of_turn>"),
            Fixed("model\n"),
        ],
        without_system: &[
            Control("<bos>"),
            Control("<start_of_turn>"),
            Fixed("user\n"),
            User,
            Control("<end_of_turn>"),
            Fixed("\n"),
            Control("<start_of_turn>"),
            Fixed("model\n"),
        ],
    },
    ChatFormat {
        name: "Mistral",
        mark: "[INST]",
        trims: false,
        with_system: &[Control("<s>"), Control("[INST]"), System, Fixed("\n\n"), User, Control("[/INST]")],
        without_system: &[Control("<s>"), Control("[INST]"), User, Control("[/INST]")],
    },
];

impl ChatFormat {
    /// The format of a model, or `None` when no known one fits its template and vocabulary: a model without a template
    /// was not trained to talk, but its vocabulary may still tell the family.
    pub fn of(header: &Header) -> Option<&'static ChatFormat> {
        FORMATS.iter().find(|format| {
            let marked = header.chat_template.as_ref().is_none_or(|template| template.contains(format.mark));
            marked && format.controls().all(|name| header.bracket_tokens.contains(name))
        })
    }

    /// The names of all control tokens the format needs.
    pub fn controls(&self) -> impl Iterator<Item = &'static str> {
        self.with_system.iter().filter_map(|part| match part {
            Control(name) => Some(*name),
            Fixed(_) | System | User => None,
        })
    }

    /// The whole prompt, up to and including the answer's start.
    pub fn pieces(&self, prompt: &Prompt) -> Vec<Piece> {
        let trim = |text: &str| if self.trims { text.trim().to_owned() } else { text.to_owned() };
        let parts = if prompt.system.is_empty() { self.without_system } else { self.with_system };
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                Control(name) => pieces.push(Piece::Control(name)),
                Fixed(text) => add_text(&mut pieces, (*text).to_owned()),
                System => add_text(&mut pieces, trim(&prompt.system)),
                User => add_text(&mut pieces, trim(&prompt.user)),
            }
        }
        add_text(&mut pieces, prompt.answer_start.clone());
        pieces
    }
}

/// Neighbouring texts become one, because the models were trained on text that was tokenised as a whole.
fn add_text(pieces: &mut Vec<Piece>, text: String) {
    if text.is_empty() {
        return;
    }
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(&text),
        Some(Piece::Control(_)) | None => pieces.push(Piece::Text(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Control tokens in «», texts as they are.
    fn written(format: &str, system: &str, user: &str, answer_start: &str) -> String {
        let format = FORMATS.iter().find(|known| known.name == format).unwrap();
        let prompt = Prompt { system: system.into(), user: user.into(), answer_start: answer_start.into() };
        let show = |piece: Piece| match piece {
            Piece::Control(name) => format!("«{name}»"),
            Piece::Text(text) => text,
        };
        format.pieces(&prompt).into_iter().map(show).collect()
    }

    #[test]
    fn writes_each_family_as_its_own_template_does() {
        assert_eq!(
            written("ChatML", "Be brief.", "Hi", "```"),
            "«<|im_start|>»system\nBe brief.«<|im_end|>»\n«<|im_start|>»user\nHi«<|im_end|>»\n«<|im_start|>»assistant\n```"
        );
        assert_eq!(
            written("ChatML", "", " Hi\n", ""),
            "«<|im_start|>»user\n Hi\n«<|im_end|>»\n«<|im_start|>»assistant\n"
        );
        assert_eq!(
            written("Llama 3", "Be brief.", " Hi\n", "{"),
            "«<|begin_of_text|>»«<|start_header_id|>»system«<|end_header_id|>»\n\nBe brief.«<|eot_id|>»\
             «<|start_header_id|>»user«<|end_header_id|>»\n\nHi«<|eot_id|>»\
             «<|start_header_id|>»assistant«<|end_header_id|>»\n\n{"
        );
        assert_eq!(
            written("Gemma", "Be brief.", "Hi ", ""),
            "«<bos>»«<start_of_turn>»user\nBe brief.\n\nHi«<end_of_turn>»\n«<start_of_turn>»model\n"
        );
        assert_eq!(written("Mistral", "Be brief.", "Hi", ""), "«<s>»«[INST]»Be brief.\n\nHi«[/INST]»");
    }

    #[test]
    fn control_words_in_foreign_text_stay_text() {
        let prompt = Prompt { system: String::new(), user: "a<|im_end|>b".into(), answer_start: String::new() };
        let pieces = FORMATS[0].pieces(&prompt);
        assert_eq!(pieces[1], Piece::Text("user\na<|im_end|>b".into()));
        assert_eq!(pieces.len(), 6);
    }

    #[test]
    fn the_family_is_told_by_template_and_vocabulary() {
        let mut header = crate::gguf::check(&crate::gguf::tests::Draft::good().bytes()[..], 1 << 20).unwrap();
        let name = |header: &Header| ChatFormat::of(header).map(|format| format.name);
        assert_eq!(name(&header), Some("ChatML"));
        header.chat_template = None;
        assert_eq!(name(&header), Some("ChatML"));
        header.chat_template = Some("[INST]".into());
        assert_eq!(name(&header), None);
        header.bracket_tokens = ["<s>", "[INST]", "[/INST]"].map(str::to_owned).into();
        assert_eq!(name(&header), Some("Mistral"));
    }
}
