//! What a call costs, in whole microdollars, from the price table that is built in. A model it does not know has no price.

use crate::cloud::Api;
use genai_prices::{PriceRequest, Usage as Tokens, UsageKey};
use starling_core::receipt::Usage;

fn provider(api: Api) -> &'static str {
    match api {
        Api::Anthropic => "anthropic",
        Api::OpenAi => "openai",
    }
}

pub(crate) fn cost(api: Api, model: &str, usage: Usage) -> Option<u64> {
    dollars(api, model, usage).map(|dollars| (dollars * 1e6).ceil() as u64)
}

/// Microdollars per million tokens, input and output.
pub(crate) fn per_million(api: Api, model: &str) -> Option<(u64, u64)> {
    // A small amount: large ones fall into dearer tiers.
    let of = |usage| dollars(api, model, usage).map(|dollars| (dollars * 1e9).round() as u64);
    Some((of(Usage { input: 1_000, ..Usage::default() })?, of(Usage { output: 1_000, ..Usage::default() })?))
}

fn dollars(api: Api, model: &str, usage: Usage) -> Option<f64> {
    // The table counts cached tokens as part of the input.
    let input = usage.input + usage.cache_read + usage.cache_write;
    let tokens = Tokens::from([
        (UsageKey::INPUT_TOKENS, input as f64),
        (UsageKey::CACHE_READ_TOKENS, usage.cache_read as f64),
        (UsageKey::CACHE_WRITE_TOKENS, usage.cache_write as f64),
        (UsageKey::OUTPUT_TOKENS, usage.output as f64),
    ]);
    let request = PriceRequest::new(model, &tokens).with_provider_id(provider(api));
    genai_prices::calculate(&request).ok().map(|price| price.total_price).filter(|price| price.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_those_of_the_lists() {
        assert_eq!(per_million(Api::Anthropic, "claude-sonnet-4-5"), Some((3_000_000, 15_000_000)));
        assert_eq!(per_million(Api::OpenAi, "gpt-4o-mini"), Some((150_000, 600_000)));
        assert_eq!(per_million(Api::OpenAi, "no-such-model"), None);
        let usage = Usage { input: 1_000, cache_read: 10_000, cache_write: 0, output: 100 };
        assert_eq!(cost(Api::Anthropic, "claude-sonnet-4-5", usage), Some(3_000 + 3_000 + 1_500));
    }
}
