use wordkit::count::WordCount;
use wordkit::cut::{first_line, truncate};
use wordkit::slug::slugify;

#[test]
fn truncates_long_texts() {
    assert_eq!(truncate("hello world", 8), "hello w…");
    assert_eq!(truncate("short", 8), "short");
}

#[test]
fn takes_the_first_line() {
    assert_eq!(first_line("one\ntwo"), "one");
    assert_eq!(first_line(""), "");
}

#[test]
fn makes_slugs() {
    assert_eq!(slugify("Hello,  World!"), "hello-world");
}

#[test]
fn counts_words() {
    let mut count = WordCount::new();
    count.add("the cat and the hat");
    assert_eq!(count.get("The"), 2);
    assert_eq!(count.total(), 5);
}
