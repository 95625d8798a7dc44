//! Chooses the next token from a row of logits: the best `k` by a moving threshold first (a vocabulary has 150,000
//! entries, so everything else works on those few), then temperature, top-p and a seeded draw.
//!
//! The same logits and seed always give the same token. Deliberately absent: repetition penalties and C++ samplers.
#![forbid(unsafe_code)]

/// Index into the vocabulary.
pub type Token = u32;

/// How many tokens stay in the draw when the request sets no top-k. The rest of the vocabulary never matters in sum.
const UNLIMITED_K: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// 0 or less: always the best token.
    pub temperature: f32,
    pub top_p: f32,
    /// 0: no limit.
    pub top_k: u32,
}

/// One candidate's sampler.
#[derive(Clone, Debug)]
pub struct Sampler {
    choice: Choice,
    random: Random,
    best: Vec<(f32, Token)>,
}

impl Sampler {
    pub fn new(choice: Choice, seed: u64) -> Sampler {
        Sampler { choice, random: Random::new(seed), best: Vec::new() }
    }

    /// `None` when no logit is a number above minus infinity.
    pub fn pick(&mut self, logits: &[f32]) -> Option<Token> {
        if self.choice.temperature <= 0.0 {
            return greedy(logits);
        }
        let k = match self.choice.top_k {
            0 => UNLIMITED_K,
            k => k as usize,
        };
        top_k(logits, k, &mut self.best);
        let &(most, first) = self.best.first()?;
        if self.best.len() == 1 {
            return Some(first);
        }
        // Weights relative to the best one, so the exponent never overflows.
        let weight = |logit: f32| f64::from((logit - most) / self.choice.temperature).exp();
        let total: f64 = self.best.iter().map(|(logit, _)| weight(*logit)).sum();
        let kept_mass = total * f64::from(self.choice.top_p.clamp(0.0, 1.0));
        let mut mass = 0.0;
        let kept = 1 + self
            .best
            .iter()
            .take_while(|(logit, _)| {
                mass += weight(*logit);
                mass < kept_mass
            })
            .count();
        let kept = self.best.get(..kept.min(self.best.len())).unwrap_or(&self.best);
        let mut left = self.random.fraction() * kept.iter().map(|(logit, _)| weight(*logit)).sum::<f64>();
        for (logit, token) in kept {
            left -= weight(*logit);
            if left < 0.0 {
                return Some(*token);
            }
        }
        kept.last().map(|(_, token)| *token)
    }
}

/// The best token; the lowest number among equals.
pub fn greedy(logits: &[f32]) -> Option<Token> {
    let mut best = None;
    let mut most = f32::NEG_INFINITY;
    for (block, chunk) in logits.chunks(BLOCK).enumerate() {
        if maximum(chunk) > most {
            for (place, logit) in chunk.iter().enumerate() {
                if *logit > most {
                    most = *logit;
                    best = Token::try_from(block * BLOCK + place).ok();
                }
            }
        }
    }
    best
}

/// Entries looked at together; one vector maximum decides whether any of them can matter.
const BLOCK: usize = 64;

/// Fills `best` with the `k` largest logits, largest first, the lower number first among equals.
pub fn top_k(logits: &[f32], k: usize, best: &mut Vec<(f32, Token)>) {
    best.clear();
    let mut threshold = f32::NEG_INFINITY;
    for (block, chunk) in logits.chunks(BLOCK).enumerate() {
        if maximum(chunk) <= threshold {
            continue;
        }
        for (place, &logit) in chunk.iter().enumerate() {
            if logit > threshold {
                let Ok(token) = Token::try_from(block * BLOCK + place) else { return };
                let at = best.partition_point(|(other, _)| *other >= logit);
                best.insert(at, (logit, token));
                best.truncate(k.max(1));
                if best.len() == k.max(1) {
                    threshold = best.last().map_or(threshold, |(least, _)| *least);
                }
            }
        }
    }
}

/// Written so that the compiler makes vector code of it: eight lanes, and a comparison that skips NaN.
fn maximum(chunk: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; 8];
    let mut groups = chunk.chunks_exact(8);
    for group in groups.by_ref() {
        for (lane, value) in lanes.iter_mut().zip(group) {
            *lane = if *value > *lane { *value } else { *lane };
        }
    }
    lanes
        .iter()
        .chain(groups.remainder())
        .fold(f32::NEG_INFINITY, |most, value| if *value > most { *value } else { most })
}

/// splitmix64: tiny, seeded, good enough to draw tokens; not for secrets.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// In `0.0..1.0`, 53 bits.
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Choice = Choice { temperature: 1.0, top_p: 1.0, top_k: 0 };

    fn counts(choice: Choice, logits: &[f32], draws: u32) -> Vec<u32> {
        let mut sampler = Sampler::new(choice, 7);
        let mut counts = vec![0; logits.len()];
        for _ in 0..draws {
            counts[sampler.pick(logits).unwrap() as usize] += 1;
        }
        counts
    }

    #[test]
    fn draws_follow_the_probabilities() {
        let logits: Vec<f32> = [0.5f32, 0.25, 0.125, 0.125].iter().map(|p| p.ln()).collect();
        let got = counts(ALL, &logits, 40_000);
        for (count, expected) in got.iter().zip([20_000f64, 10_000.0, 5_000.0, 5_000.0]) {
            assert!((f64::from(*count) - expected).abs() < 350.0, "{got:?}");
        }
    }

    #[test]
    fn limits_cut_the_tail() {
        let logits: Vec<f32> = [0.5f32, 0.25, 0.125, 0.125].iter().map(|p| p.ln()).collect();
        assert_eq!(counts(Choice { top_k: 2, ..ALL }, &logits, 1_000)[2..], [0, 0]);
        assert_eq!(counts(Choice { top_p: 0.7, ..ALL }, &logits, 1_000)[2..], [0, 0]);
        assert_eq!(counts(Choice { top_p: 0.0, ..ALL }, &logits, 100)[0], 100);
        assert_eq!(counts(Choice { temperature: 0.0, ..ALL }, &logits, 100)[0], 100);
        assert_eq!(counts(Choice { temperature: 0.01, ..ALL }, &logits, 100)[0], 100);
    }

    #[test]
    fn the_same_seed_draws_the_same_tokens() {
        let logits: Vec<f32> = (0..500).map(|i| (i as f32 * 0.37).sin()).collect();
        let draw = |seed| {
            let mut sampler = Sampler::new(ALL, seed);
            (0..50).map(|_| sampler.pick(&logits).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn nothing_to_choose_is_said() {
        let mut sampler = Sampler::new(ALL, 1);
        assert_eq!(sampler.pick(&[f32::NEG_INFINITY; 70]), None);
        assert_eq!(sampler.pick(&[f32::NAN; 3]), None);
        assert_eq!(sampler.pick(&[]), None);
        assert_eq!(greedy(&[f32::NAN, 1.0, 1.0]), Some(1));
    }

    proptest! {
        #[test]
        fn top_k_equals_sorting(values in prop::collection::vec(-50i32..50, 1..400), k in 1usize..60) {
            let logits: Vec<f32> = values.iter().map(|value| *value as f32 / 4.0).collect();
            let mut expected: Vec<(f32, Token)> = logits.iter().zip(0..).map(|(logit, token)| (*logit, token)).collect();
            expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            expected.truncate(k);
            let mut best = Vec::new();
            top_k(&logits, k, &mut best);
            prop_assert_eq!(Some(expected[0].1), greedy(&logits));
            prop_assert_eq!(best, expected);
        }
    }
}
