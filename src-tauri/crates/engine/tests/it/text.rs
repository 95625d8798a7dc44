//! Free text: determinism, candidates, stop texts, streaming, reuse of prompts, limits.

use crate::{CODER, SMOL, ask, load, model_file, run, shared, texts};
use starling_core::ids::ModelName;
use starling_core::port::{Cancel, FinishReason, Flow, Model, ModelError, SampleEvent};
use starling_engine::{LoadOptions, LocalModel};

const FUNCTION: &str = "Write a Python function add(a, b) that returns their sum. Only the code.";

#[test]
fn greedy_is_the_same_every_time_and_sensible() {
    let Some(model) = shared(CODER) else { return };
    let first = run(model, &ask(FUNCTION, 1, 80)).unwrap();
    let second = run(model, &ask(FUNCTION, 1, 80)).unwrap();
    assert_eq!(texts(&first), texts(&second));
    assert!(first.completions[0].text.contains("return a + b"), "{}", first.completions[0].text);
    assert_eq!(first.completions[0].finish, FinishReason::Stop);
}

#[test]
fn seeds_differ_and_repeat_and_the_first_can_be_greedy() {
    let Some(model) = shared(CODER) else { return };
    let mut request = ask("Invent a name for a shop that sells clocks, and say why in one sentence.", 4, 12);
    request.temperature = 1.0;
    let first = run(model, &request).unwrap();
    assert_eq!(texts(&first), texts(&run(model, &request).unwrap()));
    let different: std::collections::BTreeSet<&str> = texts(&first).into_iter().collect();
    assert_eq!(different.len(), 4, "{different:?}");

    request.greedy_first = true;
    let greedy = run(model, &request).unwrap();
    assert_ne!(texts(&greedy)[0], texts(&first)[0]);
    assert_eq!(texts(&greedy)[1..], texts(&first)[1..]);

    // One token only: rows of other candidates in the same batch may change the last digits of later logits.
    (request.greedy_first, request.max_tokens, request.n) = (false, 1, 12);
    let draws = run(model, &request).unwrap();
    request.seed += 1;
    let shifted = run(model, &request).unwrap();
    assert_eq!(texts(&draws)[1..], texts(&shifted)[..11], "candidate i draws from seed + i");
}

#[test]
fn the_greedy_candidate_among_others_is_the_greedy_answer() {
    let Some(model) = shared(CODER) else { return };
    let mut request = ask(FUNCTION, 4, 40);
    (request.temperature, request.greedy_first) = (0.8, true);
    let among = run(model, &request).unwrap();
    let alone = run(model, &ask(FUNCTION, 1, 40)).unwrap();
    assert_eq!(texts(&among)[0], texts(&alone)[0]);
}

#[test]
fn the_answer_ends_before_a_stop_text_and_begins_with_its_start() {
    let Some(model) = shared(CODER) else { return };
    let mut request = ask(FUNCTION, 1, 80);
    request.prompt.answer_start = "```python\n".into();
    request.stop = vec!["```".into()];
    let sampled = run(model, &request).unwrap();
    let text = &sampled.completions[0].text;
    assert!(text.starts_with("```python\ndef add"), "{text}");
    assert!(!text["```python\n".len()..].contains('`'), "{text}");
    assert_eq!(sampled.completions[0].finish, FinishReason::Stop);

    let cut = run(model, &ask(FUNCTION, 1, 5)).unwrap();
    assert_eq!((cut.completions[0].finish, cut.completions[0].output_tokens), (FinishReason::Length, 5));
    let none = run(model, &ask(FUNCTION, 2, 0)).unwrap();
    assert_eq!((none.completions[1].finish, none.usage.output), (FinishReason::Length, 0));
}

#[test]
fn korean_streams_in_whole_characters() {
    let Some(model) = shared(CODER) else { return };
    let request = ask("서울에 대해 한국어로 두 문장을 써 주세요. 😀", 1, 60);
    let mut parts = Vec::new();
    let sampled = model
        .sample(&request, &Cancel::new(), &mut |event| {
            if let SampleEvent::Text { text, .. } = event {
                parts.push(text.to_owned());
            }
            Flow::Continue
        })
        .unwrap();
    let text = &sampled.completions[0].text;
    assert_eq!(&parts.concat(), text);
    assert!(text.contains("서울"), "{text}");
    assert!(!text.contains('\u{fffd}') && parts.len() > 5, "{parts:?}");
}

#[test]
fn a_kept_beginning_changes_nothing_but_the_time() {
    let Some(fresh) = load(CODER, 2_048) else { return };
    let Some(used) = load(CODER, 2_048) else { return };
    let facts = "The warehouse has shelves of oak, pine and steel, each with its own number and colour. ".repeat(12);
    let one = ask(&format!("{facts}\nWhich woods are named?"), 1, 30);
    let two = ask(&format!("{facts}\nWhich metal is named?"), 3, 30);
    run(&used, &one).unwrap();
    let warm = run(&used, &two).unwrap();
    let cold = run(&fresh, &two).unwrap();
    assert_eq!(texts(&warm), texts(&cold));
    assert_eq!(cold.usage.cache_read, 0);
    assert!(warm.usage.cache_read > 200, "{:?}", warm.usage);
    assert_eq!(warm.usage.cache_read + warm.usage.input, cold.usage.input);
    assert_eq!(warm.usage.cache_read % 32, 0);
}

#[test]
fn many_candidates_in_little_memory_wait_for_each_other() {
    let Some(model) = load(SMOL, 256) else { return };
    let mut request = ask("Tell a long story about a fox.", 4, 120);
    request.temperature = 1.0;
    let crowded = run(&model, &request).unwrap();
    assert_eq!(crowded.completions.len(), 4);
    assert!(crowded.completions.iter().all(|completion| completion.output_tokens > 20));
    assert!(crowded.usage.output > 256, "more than the memory holds: {:?}", crowded.usage);
    // More candidates than sequences.
    let mut request = ask("Say one word.", 40, 3);
    request.temperature = 1.5;
    assert_eq!(run(&model, &request).unwrap().completions.len(), 40);
}

#[test]
fn what_does_not_fit_is_refused_with_numbers() {
    let Some(model) = shared(CODER) else { return };
    let text = "word ".repeat(5_000);
    let tokens = model.count_tokens(&text).unwrap();
    assert!((5_000..=5_001).contains(&tokens), "{tokens}");
    match run(model, &ask(&text, 1, 100)) {
        Err(ModelError::ContextTooLarge { need, have, .. }) => {
            assert!(need > tokens + 100 && have == 4_096, "{need} {have}")
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(run(model, &ask("Hi", 1, 5_000)), Err(ModelError::ContextTooLarge { .. })));
    assert_eq!(run(model, &ask("Hi", 0, 10)).unwrap().completions, []);
}

#[test]
fn two_models_work_at_the_same_time() {
    let (Some(smol), Some(coder)) = (shared(SMOL), shared(CODER)) else { return };
    assert_ne!(smol.count_tokens("국밥").unwrap(), 0);
    let alone = run(coder, &ask(FUNCTION, 1, 60)).unwrap();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run(smol, &ask("Count from one to ten.", 2, 60)).unwrap());
        let together = run(coder, &ask(FUNCTION, 1, 60)).unwrap();
        assert_eq!(texts(&alone), texts(&together));
        assert_eq!(other.join().unwrap().completions.len(), 2);
    });
    assert_eq!(smol.chat_format(), "ChatML");
    assert_eq!((coder.header().n_layer, coder.header().kv_heads), (24, 2));
    assert_eq!(coder.header().kv_bytes_per_token(), 12_288);
}

#[test]
fn loading_fails_with_a_reason() {
    let name = || ModelName::new("x");
    let folder = tempfile::tempdir().unwrap();
    let junk = folder.path().join("junk.gguf");
    std::fs::write(&junk, b"GGUF but not really").unwrap();
    for file in [junk.as_path(), &folder.path().join("absent.gguf"), folder.path()] {
        let error = LocalModel::load(file, name(), 1, LoadOptions::new(512)).err();
        assert!(matches!(error, Some(ModelError::Load { .. })), "{error:?}");
    }
    let Some(file) = model_file(SMOL) else { return };
    let options = LoadOptions { available_mb: Some(100), ..LoadOptions::new(512) };
    match LocalModel::load(&file, name(), 1, options).err() {
        Some(ModelError::Memory { need_mb, have_mb, .. }) => assert!(need_mb > 600 && have_mb == 100),
        other => panic!("{other:?}"),
    }
    let options = LoadOptions::new(512);
    options.cancel.cancel();
    assert_eq!(LocalModel::load(&file, name(), 1, options).err(), Some(ModelError::Cancelled));
}

/// The header is sound, the weights are missing: C++ has to say so without taking the process along.
#[test]
fn a_model_without_weights_is_a_typed_error() {
    let Some(file) = model_file(SMOL) else { return };
    let bytes = std::fs::read(&file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.gguf");
    let at = bytes.windows(11).position(|window| window == b"attn_q.weig").unwrap();
    let mut renamed = bytes;
    renamed[at] = b'X';
    std::fs::write(&broken, renamed).unwrap();
    let error = LocalModel::load(&broken, ModelName::new("x"), 1, LoadOptions::new(512)).err();
    assert!(matches!(error, Some(ModelError::Load { .. })), "{error:?}");
}
