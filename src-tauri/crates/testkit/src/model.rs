//! A model that says what a test wrote down.

use starling_core::port::{
    Cancel, Completion, FinishReason, Flow, Model, ModelCard, ModelError, Models, SampleEvent, SampleRequest, Sampled,
};
use starling_core::receipt::Usage;
use starling_core::review::Place;
use starling_core::{ModelName, Role};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Answers by the first words of the system prompt, each answer used once; the requests are kept.
pub struct ScriptedModel {
    answers: Mutex<Vec<(String, VecDeque<Vec<String>>)>>,
    requests: Mutex<Vec<SampleRequest>>,
}

impl ScriptedModel {
    pub fn new() -> ScriptedModel {
        ScriptedModel { answers: Mutex::new(Vec::new()), requests: Mutex::new(Vec::new()) }
    }

    /// The next request whose system prompt contains `words` gets these texts, one a candidate; a request for more
    /// candidates gets them again from the start.
    #[must_use]
    pub fn answer(self, words: &str, texts: &[&str]) -> ScriptedModel {
        {
            let mut answers = self.answers.lock().expect("no test panics with the lock");
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            match answers.iter_mut().find(|(known, _)| known == words) {
                Some((_, queue)) => queue.push_back(texts),
                None => answers.push((words.to_owned(), VecDeque::from([texts]))),
            }
        }
        self
    }

    pub fn requests(&self) -> Vec<SampleRequest> {
        self.requests.lock().expect("no test panics with the lock").clone()
    }
}

impl Default for ScriptedModel {
    fn default() -> Self {
        ScriptedModel::new()
    }
}

impl Model for ScriptedModel {
    fn card(&self) -> ModelCard {
        ModelCard {
            name: ModelName::new("scripted"),
            place: Place::Local,
            context: 8_192,
            schema: true,
            millions: 1_500,
            price: None,
        }
    }

    fn count_tokens(&self, text: &str) -> Result<u32, ModelError> {
        Ok((text.len() / 4) as u32)
    }

    fn sample(
        &self,
        request: &SampleRequest,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(SampleEvent<'_>) -> Flow,
    ) -> Result<Sampled, ModelError> {
        self.requests.lock().expect("no test panics with the lock").push(request.clone());
        let texts = {
            let mut answers = self.answers.lock().expect("no test panics with the lock");
            let queue =
                answers.iter_mut().find(|(words, queue)| request.prompt.system.contains(words) && !queue.is_empty());
            queue.and_then(|(_, queue)| queue.pop_front())
        };
        let Some(texts) = texts else {
            let message = format!(
                "the script has no answer for {:?}",
                request.prompt.system.chars().take(60).collect::<String>()
            );
            return Err(ModelError::Engine { message });
        };
        let mut completions = Vec::new();
        for candidate in 0..request.n {
            if cancel.is_cancelled() {
                return Err(ModelError::Cancelled);
            }
            let text = texts.iter().cycle().nth(candidate as usize).cloned().unwrap_or_default();
            let completion =
                Completion { candidate, output_tokens: text.len() as u32 / 4, text, finish: FinishReason::Stop };
            let flow = on_event(SampleEvent::Done(&completion));
            completions.push(completion);
            if flow == Flow::Stop {
                break;
            }
        }
        let output = completions.iter().map(|c| u64::from(c.output_tokens)).sum();
        let usage = Usage { input: request.prompt.user.len() as u64 / 4, output, ..Usage::default() };
        Ok(Sampled { completions, usage, millis: 1 })
    }
}

/// Every role is bound to the same model.
pub struct OneModel(pub Arc<dyn Model>);

impl Models for OneModel {
    fn bound(&self, _role: Role) -> Result<Arc<dyn Model>, ModelError> {
        Ok(self.0.clone())
    }
}
