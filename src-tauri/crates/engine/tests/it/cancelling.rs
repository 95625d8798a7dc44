//! Ending early: by cancel while reading and while writing, by the caller's word, and by dropping the model.

use crate::{CODER, SMOL, ask, load, run, shared, texts};
use starling_core::port::{Cancel, FinishReason, Flow, Model, ModelError, SampleEvent};
use std::time::{Duration, Instant};

/// Far more than it takes, far less than the work would.
const SOON: Duration = Duration::from_millis(900);

#[test]
fn cancel_while_reading_a_prompt() {
    let Some(model) = load(CODER, 8_192) else { return };
    let request = ask(&"A sentence with seven words stands here. ".repeat(900), 1, 10);
    let cancel = Cancel::new();
    let begun = Instant::now();
    let cancelled = std::thread::scope(|scope| {
        let sampling = scope.spawn(|| model.sample(&request, &cancel, &mut |_| Flow::Continue));
        while begun.elapsed() < Duration::from_millis(300) {
            std::thread::yield_now();
        }
        cancel.cancel();
        let at = Instant::now();
        let result = sampling.join().unwrap();
        (result, at.elapsed())
    });
    assert_eq!(cancelled.0, Err(ModelError::Cancelled));
    assert!(cancelled.1 < SOON, "{:?}", cancelled.1);
    // What was read until then is still right.
    let short =
        ask(&format!("{}Which word comes first?", "A sentence with seven words stands here. ".repeat(8)), 1, 12);
    let after = run(&model, &short).unwrap();
    let Some(other) = shared(CODER) else { return };
    assert_eq!(texts(&after), texts(&run(other, &short).unwrap()));
}

#[test]
fn cancel_while_writing_and_before_beginning() {
    let Some(model) = shared(SMOL) else { return };
    let request = ask("Count from one to a thousand in words.", 2, 3_000);
    let cancel = Cancel::new();
    let mut at = None;
    let result = model.sample(&request, &cancel, &mut |_| {
        cancel.cancel();
        at.get_or_insert_with(Instant::now);
        Flow::Continue
    });
    assert_eq!(result, Err(ModelError::Cancelled));
    assert!(at.unwrap().elapsed() < SOON);
    let never = model.sample(&request, &cancel, &mut |_| panic!("no event after a cancel"));
    assert_eq!(never, Err(ModelError::Cancelled));
}

#[test]
fn the_caller_has_enough() {
    let Some(model) = shared(SMOL) else { return };
    let mut request = ask("Say a number, then tell a very long story.", 4, 1_000);
    request.temperature = 1.0;
    let (mut events, mut stopped) = (0, false);
    let begun = Instant::now();
    let sampled = model
        .sample(&request, &Cancel::new(), &mut |event| {
            assert!(!stopped, "an event after the caller had enough");
            events += 1;
            if events < 40 {
                return Flow::Continue;
            }
            stopped = true;
            assert!(matches!(event, SampleEvent::Text { .. } | SampleEvent::Done(_)));
            Flow::Stop
        })
        .unwrap();
    assert_eq!(sampled.completions.len(), 4);
    assert!(sampled.completions.iter().any(|completion| completion.finish == FinishReason::Cancelled));
    assert!(sampled.completions.iter().all(|completion| !completion.text.is_empty()));
    assert!(sampled.usage.output < 400 && begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_request_in_the_queue_can_be_cancelled_and_others_go_on() {
    let Some(model) = shared(SMOL) else { return };
    let long = ask("Count from one to a thousand in words.", 1, 400);
    let (request, cancel) = (ask("Hi", 1, 5), Cancel::new());
    std::thread::scope(|scope| {
        let (began, wait) = std::sync::mpsc::channel();
        let first = scope.spawn(move || {
            model.sample(&long, &Cancel::new(), &mut |_| {
                began.send(()).unwrap_or(());
                Flow::Continue
            })
        });
        wait.recv().unwrap();
        let second = scope.spawn(|| model.sample(&request, &cancel, &mut |_| Flow::Continue));
        cancel.cancel();
        assert_eq!(second.join().unwrap(), Err(ModelError::Cancelled));
        assert!(first.join().unwrap().unwrap().usage.output > 0);
    });
}

#[test]
fn a_panic_in_the_callback_hurts_nobody_else() {
    let Some(model) = load(SMOL, 1_024) else { return };
    let request = ask("Count from one to a thousand in words.", 1, 900);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        model.sample(&request, &Cancel::new(), &mut |_| std::panic::resume_unwind(Box::new("the caller's fault")))
    }));
    assert!(caught.is_err());
    let begun = Instant::now();
    let after = model.sample(&ask("Hi", 1, 5), &Cancel::new(), &mut |_| Flow::Continue).unwrap();
    assert_eq!(after.completions.len(), 1);
    drop(model);
    assert!(begun.elapsed() < Duration::from_secs(5));
}
