//! Random schedules: whatever arrives when, in whatever company, is cancelled or hurried, each request gets the tokens that
//! it gets alone. Played turn by turn on one thread, so a seed always plays the same game.
//!
//! Alone and in company other kernels run and keys lie in other cells, so the last digits of logits differ. Where the two
//! best tokens of the run alone are closer than that, either is right, and the comparison ends there.

use super::*;
use crate::llama::Session;
use crate::sample::{Choice, Token, top_k};
use starling_core::port::{Cancel, Completion};
use std::sync::mpsc::{self, Receiver};

const LONGEST: u32 = 20;
/// Logits closer than this are equal: measured, company moves them by less.
const TIE: f32 = 0.25;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % limit
    }
}

fn weights() -> Option<Weights> {
    let file = crate::test_models::file("smollm2-135m")?;
    Some(Weights::load(&file, |_| true).unwrap())
}

/// Prompts of different lengths, some of which begin alike.
fn prompts(weights: &Weights) -> Vec<Vec<Token>> {
    let stock = "The warehouse has shelves of oak, pine and steel, each with its own number and colour. ";
    let questions = ["The woods are", "A colour is", "One, two, three,", "def add(a, b):"];
    let texts = [0, 3, 9, 20].into_iter().flat_map(|n| questions.map(|q| format!("{}{q}", stock.repeat(n))));
    texts.map(|text| weights.tokenize(text.as_bytes()).unwrap()).collect()
}

/// Greedy, one token at a time, with the distance of the best token to the next.
struct Alone {
    text: Vec<u8>,
    /// Where each token begins in the text, and how far the second best was from it.
    tokens: Vec<(usize, f32)>,
}

fn alone(weights: &Weights, prompt: &[Token], grid: usize) -> Alone {
    let mut session = Session::open(weights, 1_024, 2).unwrap();
    let mut last = 0;
    for piece in prompt.chunks(grid) {
        session.begin();
        for token in piece {
            last = session.add(0, *token, true).unwrap();
        }
        session.step().unwrap();
    }
    let mut alone = Alone { text: Vec::new(), tokens: Vec::new() };
    let mut best = Vec::new();
    for _ in 0..LONGEST {
        top_k(session.logits(last).unwrap(), 2, &mut best);
        alone.tokens.push((alone.text.len(), best[0].0 - best[1].0));
        if weights.ends(best[0].1) {
            break;
        }
        alone.text.extend(weights.bytes(best[0].1));
        session.begin();
        last = session.add(0, best[0].1, true).unwrap();
        session.step().unwrap();
    }
    alone
}

enum Compared {
    Same,
    /// With the distance of the two best tokens where they part.
    Tie(f32),
    Different,
}

fn compare(alone: &Alone, completion: &Completion) -> Compared {
    let got = completion.text.as_bytes();
    let at = alone.text.iter().zip(got).take_while(|(a, b)| a == b).count();
    // A last character that is not whole is not told.
    if at == got.len() && (at > 0 || completion.output_tokens == 0 || alone.text.is_empty()) {
        return Compared::Same;
    }
    // The token in which they part, or the one before: two tokens can begin with the same bytes.
    let parted = alone.tokens.iter().rposition(|(begin, _)| *begin <= at).unwrap_or(0);
    let gap = alone.tokens[..=parted].iter().rev().take(2).map(|(_, gap)| *gap).fold(f32::INFINITY, f32::min);
    if gap < TIE { Compared::Tie(gap) } else { Compared::Different }
}

struct Asked {
    arrives: u64,
    prompt: usize,
    cancelled: Option<u64>,
    cancel: Cancel,
    work: Option<Work>,
    reports: Option<Receiver<Report>>,
}

fn asked(random: &mut Random, prompts: &[Vec<Token>]) -> Asked {
    let (prompt, cancel) = (random.below(prompts.len() as u64) as usize, Cancel::new());
    let work = Work {
        prompt: prompts[prompt].clone(),
        opening: Vec::new(),
        answer_start: String::new(),
        n: 1 + random.below(5) as u32,
        max_tokens: 1 + random.below(u64::from(LONGEST)) as u32,
        choice: Choice { temperature: 0.0, top_p: 1.0, top_k: 0 },
        greedy_first: false,
        seed: 1,
        stop: Vec::new(),
        grammar: None,
        urgent: random.below(4) == 0,
        cancel: cancel.clone(),
        enough: Arc::new(AtomicBool::new(false)),
    };
    let arrives = random.below(40);
    let cancelled = (random.below(4) == 0).then(|| arrives + random.below(20));
    Asked { arrives, prompt, cancelled, cancel, work: Some(work), reports: None }
}

/// What is only kept does not slow down what is done: attention walks over every cell in use.
#[test]
fn kept_beginnings_make_way_for_other_prompts() {
    let Some(weights) = weights() else { return };
    let (grid, mut random) = (32, Random(1));
    let long = prompts(&weights).pop().unwrap();
    let mut other = long.clone();
    other.reverse();
    let session = Session::open(&weights, 2_048, 2).unwrap();
    let closing = Arc::new(AtomicBool::new(false));
    let mut scheduler = Scheduler::new(&weights, session, Library::new(None), grid, closing, Arc::default());
    let mut play = |scheduler: &mut Scheduler<'_>, prompt: &[Token]| {
        let mut asked = asked(&mut random, &[prompt.to_vec()]);
        let (reports, receiver) = mpsc::channel();
        scheduler.admit(asked.work.take().unwrap(), reports);
        scheduler.turn();
        let taken = scheduler.session.cells() - scheduler.session.free();
        while !scheduler.is_idle() {
            scheduler.turn();
        }
        match receiver.try_iter().last() {
            Some(Report::End(Ok(sampled))) => (taken, sampled.usage.cache_read),
            _ => panic!("it did not end well"),
        }
    };
    assert_eq!(play(&mut scheduler, &long), (grid as u32, 0));
    assert_eq!(play(&mut scheduler, &other), (grid as u32, 0), "the first prompt is still in the working memory");
    let (_, known) = play(&mut scheduler, &long);
    assert!(known > 300, "the first prompt is still known: {known}");
}

fn state(scheduler: &Scheduler<'_>) -> String {
    let of = |r: &Request| {
        format!(
            "[urgent {}, prompt {}, read {}, base {:?}, live {}, waiting {}]",
            r.work.urgent,
            r.work.prompt.len(),
            r.read,
            r.base,
            r.live.len(),
            r.waiting.len()
        )
    };
    let requests: Vec<String> = scheduler.requests.iter().map(of).collect();
    format!("{} of {} cells free; {}", scheduler.session.free(), scheduler.session.cells(), requests.join(" "))
}

/// `STARLING_SCHEDULES` sets how many are played.
#[test]
fn every_request_gets_what_it_would_get_alone() {
    let Some(weights) = weights() else { return };
    let (prompts, grid) = (prompts(&weights), 32);
    let expected: Vec<Alone> = prompts.iter().map(|prompt| alone(&weights, prompt, grid)).collect();
    let schedules = std::env::var("STARLING_SCHEDULES").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
    let (mut same, mut ties, mut cancelled, mut wrong, mut widest) = (0, 0, 0, Vec::new(), 0.0f32);
    for seed in 0..schedules {
        let mut random = Random(seed);
        // Often too little for all of them at once.
        let cells = 512 + 256 * random.below(6) as u32;
        let session = Session::open(&weights, cells, 2).unwrap();
        let closing = Arc::new(AtomicBool::new(false));
        let mut scheduler = Scheduler::new(&weights, session, Library::new(None), grid, closing, Arc::default());
        let mut all: Vec<Asked> = (0..2 + random.below(9)).map(|_| asked(&mut random, &prompts)).collect();
        let mut turn = 0;
        loop {
            for asked in &mut all {
                if asked.arrives == turn
                    && let Some(work) = asked.work.take()
                {
                    let (reports, receiver) = mpsc::channel();
                    scheduler.admit(work, reports);
                    asked.reports = Some(receiver);
                }
                if asked.cancelled == Some(turn) {
                    asked.cancel.cancel();
                }
            }
            scheduler.turn();
            let taken: u32 = (0..SEQUENCES).map(|sequence| scheduler.session.length(sequence)).max().unwrap();
            assert!(taken <= cells, "a sequence is longer than the memory");
            turn += 1;
            assert!(turn < 5_000, "schedule {seed} does not end: {}", state(&scheduler));
            if scheduler.is_idle() && all.iter().all(|asked| asked.work.is_none()) {
                break;
            }
        }
        for asked in all {
            let reports: Vec<Report> = asked.reports.unwrap().try_iter().collect();
            let Some(Report::End(end)) = reports.into_iter().next_back() else { panic!("{seed}: no end was told") };
            match end {
                Ok(sampled) => {
                    for completion in &sampled.completions {
                        match compare(&expected[asked.prompt], completion) {
                            Compared::Same => same += 1,
                            Compared::Tie(gap) => (ties, widest) = (ties + 1, gap.max(widest)),
                            Compared::Different => wrong.push(format!(
                                "{seed}: {:?} is not {:?}",
                                completion.text,
                                String::from_utf8_lossy(&expected[asked.prompt].text)
                            )),
                        }
                    }
                }
                Err(ModelError::Cancelled) => cancelled += 1,
                Err(error) => panic!("{seed}: {error}"),
            }
        }
        // Whatever happened, everything is given back.
        scheduler.turn();
        while let Some(sequence) = scheduler.library.move_out(&mut scheduler.session).unwrap() {
            scheduler.free.push(sequence);
        }
        assert_eq!((scheduler.free.len(), scheduler.session.free()), (SEQUENCES as usize, scheduler.session.cells()));
    }
    let told = format!(
        "{schedules} schedules: {same} answers the same, {ties} up to a tie (widest {widest:.3}), {cancelled} requests cancelled"
    );
    eprintln!("{told}");
    assert!(wrong.is_empty(), "{told}\n{}", wrong.join("\n"));
    assert!(same > ties && same > schedules && cancelled > 0, "{told}");
}
