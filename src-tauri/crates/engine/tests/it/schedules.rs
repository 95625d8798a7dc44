//! Many requests at once: what prompts have in common is read once, also after a restart; a person goes first; nobody is
//! kept out.

use crate::{CODER, SMOL, ask, load, model_file, run, texts};
use starling_core::ids::ModelName;
use starling_core::port::{Cancel, Flow, Model, ModelError, SampleEvent};
use starling_engine::{Kept, LoadOptions, LocalModel};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[test]
fn workers_with_one_beginning_read_it_once() {
    let Some(model) = load(CODER, 4_096) else { return };
    let file = "def area(width, height):\n    return width * height\n\n\n".repeat(30);
    let ask_worker = |number: usize| ask(&format!("{file}\nWorker {number}: name the function."), 1, 4);
    let prompt = model.count_tokens(&ask_worker(1).prompt.user).unwrap();
    let before = model.times();
    let usages = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..16 {
            let (model, usages) = (&model, &usages);
            scope.spawn(move || usages.lock().unwrap().push(run(model, &ask_worker(number)).unwrap().usage));
        }
    });
    let usages = usages.into_inner().unwrap();
    let fresh: u64 = usages.iter().map(|usage| usage.input).sum();
    let rows = model.times().rows - before.rows;
    assert!(prompt > 300, "{prompt}");
    assert!(fresh < u64::from(prompt) + 16 * 64, "{fresh} tokens of 16 prompts of {prompt} were read");
    assert!(rows < u64::from(prompt) + 16 * (64 + 4), "{rows} rows were computed");
    assert_eq!(usages.iter().filter(|usage| usage.cache_read == 0).count(), 1);
}

#[test]
fn what_a_person_waits_for_goes_first() {
    let Some(model) = load(SMOL, 4_096) else { return };
    let mut crowd = ask("Tell a long story about a fox and a crow.", 16, 160);
    (crowd.temperature, crowd.seed) = (1.0, 3);
    let mut question = ask("Say hello.", 1, 6);
    question.urgent = true;
    let (model, order) = (&model, &Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let (began, wait) = std::sync::mpsc::channel();
        scope.spawn(move || {
            let sampled = model.sample(&crowd, &Cancel::new(), &mut |_| {
                began.send(()).unwrap_or(());
                Flow::Continue
            });
            order.lock().unwrap().push(("crowd", sampled.unwrap().completions.len()));
        });
        wait.recv().unwrap();
        scope.spawn(move || {
            let sampled = run(model, &question).unwrap();
            order.lock().unwrap().push(("question", sampled.completions.len()));
        });
    });
    assert_eq!(*order.lock().unwrap(), [("question", 1), ("crowd", 16)]);
}

#[test]
fn a_request_with_many_candidates_does_not_keep_others_out() {
    let Some(model) = load(SMOL, 4_096) else { return };
    let mut crowd = ask("Tell a long story about a fox and a crow.", 48, 60);
    (crowd.temperature, crowd.seed) = (1.0, 3);
    let (model, late) = (&model, &Mutex::new(None));
    std::thread::scope(|scope| {
        let (began, wait) = std::sync::mpsc::channel();
        let crowd = scope.spawn(move || {
            let mut done = 0;
            model.sample(&crowd, &Cancel::new(), &mut |event| {
                began.send(()).unwrap_or(());
                done += u32::from(matches!(event, SampleEvent::Done(_)));
                if done == 40 {
                    assert!(late.lock().unwrap().is_some(), "40 of 48 went before one");
                }
                Flow::Continue
            })
        });
        wait.recv().unwrap();
        *late.lock().unwrap() = Some(run(model, &ask("Say hello.", 1, 6)).unwrap());
        assert_eq!(crowd.join().unwrap().unwrap().completions.len(), 48);
    });
}

#[test]
fn a_cancel_is_seen_at_once() {
    let Some(model) = load(CODER, 8_192) else { return };
    let request = ask(&"A sentence with seven words stands here. ".repeat(600), 1, 10);
    let cancel = Cancel::new();
    let took = std::thread::scope(|scope| {
        let sampling = scope.spawn(|| model.sample(&request, &cancel, &mut |_| Flow::Continue));
        std::thread::sleep(Duration::from_millis(400));
        let at = Instant::now();
        cancel.cancel();
        assert_eq!(sampling.join().unwrap(), Err(ModelError::Cancelled));
        at.elapsed()
    });
    assert!(took < Duration::from_millis(100), "{took:?}");
}

fn with_kept(name: &str, folder: &Path) -> Option<LocalModel> {
    let file = model_file(name)?;
    let kept = Some(Kept { folder: folder.to_owned(), quota: 1 << 30 });
    Some(LocalModel::load(&file, ModelName::new(name), 500, LoadOptions { kept, ..LoadOptions::new(2_048) }).unwrap())
}

#[test]
fn a_beginning_is_found_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let facts = "The warehouse has shelves of oak, pine and steel, each with its own number and colour. ".repeat(20);
    let one = ask(&format!("{facts}\nWhich woods are named?"), 1, 20);
    let two = ask(&format!("{facts}\nWhich metal is named?"), 1, 20);
    let Some(first) = with_kept(CODER, folder.path()) else { return };
    let cold = run(&first, &one).unwrap();
    assert_eq!(cold.usage.cache_read, 0);
    drop(first);

    let second = with_kept(CODER, folder.path()).unwrap();
    let warm = run(&second, &one).unwrap();
    assert_eq!(texts(&warm), texts(&cold));
    assert!(warm.usage.cache_read > 300 && warm.usage.input < 64, "{:?}", warm.usage);
    let other = run(&second, &two).unwrap();
    assert!(other.usage.cache_read > 300, "{:?}", other.usage);
    drop(second);

    // Another model finds nothing of it.
    let smol = with_kept(SMOL, folder.path()).unwrap();
    assert_eq!(run(&smol, &one).unwrap().usage.cache_read, 0);
    drop(smol);

    // What was damaged is dropped, the prompt is read, and a sound one is written again.
    for entry in walk(folder.path()).into_iter().filter(|path| path.extension().is_some_and(|e| e == "state")) {
        let mut bytes = std::fs::read(&entry).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&entry, bytes).unwrap();
    }
    let third = with_kept(CODER, folder.path()).unwrap();
    let again = run(&third, &one).unwrap();
    assert_eq!((texts(&again), again.usage.cache_read), (texts(&cold), 0));
    drop(third);
    let fourth = with_kept(CODER, folder.path()).unwrap();
    assert!(run(&fourth, &one).unwrap().usage.cache_read > 300);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let folders = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path())).collect()
}
