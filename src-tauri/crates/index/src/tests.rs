//! The index over small trees in temporary folders.

use crate::watch::{Limits, WatchNotice};
use crate::{IndexStats, ProjectIndex};
use starling_core::RelPath;
use starling_core::port::CodeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tempfile::TempDir;

/// A project with a database beside it.
struct Tree {
    folder: TempDir,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Tree {
        let tree = Tree { folder: tempfile::tempdir().expect("a folder") };
        std::fs::create_dir(tree.project()).expect("a project");
        files.iter().for_each(|(path, text)| tree.write(path, text));
        tree
    }
    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }
    fn database(&self) -> PathBuf {
        self.folder.path().join("index/map.db")
    }
    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.project().join(path);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        std::fs::write(file, text).expect("written");
    }
    fn open(&self) -> ProjectIndex {
        ProjectIndex::open(&self.project(), &self.database()).expect("an index")
    }
}

fn rel(path: &str) -> RelPath {
    RelPath::new(path).expect("a good path")
}

fn files(index: &ProjectIndex) -> Vec<String> {
    index.files().expect("files").into_iter().map(|entry| entry.path.to_string()).collect()
}

fn hits(index: &ProjectIndex, query: &str) -> Vec<String> {
    let hits = index.search(query, 5).expect("hits");
    hits.into_iter().map(|hit| format!("{}:{} {}", hit.path, hit.line, hit.text)).collect()
}

fn defined(index: &ProjectIndex, name: &str) -> Vec<String> {
    let found = index.definitions(name).expect("definitions");
    found.into_iter().map(|d| format!("{} {}", d.path, d.symbol.qualified)).collect()
}

fn used(index: &ProjectIndex, name: &str) -> Vec<String> {
    let found = index.references(name, 20).expect("references");
    found.into_iter().map(|r| format!("{}:{} [{}] {}", r.path, r.line, r.within, r.text)).collect()
}

const CART: &str = "# The cart.\nclass Cart:\n    \"\"\"Holds items.\"\"\"\n\n    def add_item(self, item):\n        self.items.append(item)\n\n    def total(self):\n        return sum(item.price for item in self.items)\n\n\ndef test_total():\n    cart = Cart()\n    assert cart.total() == 0\n";
const MAIN: &str = "from shop.cart import Cart\n\ndef main():\n    cart = Cart()\n    cart.add_item(None)  # add_item is fine\n    print(cart.total())\n";

fn shop() -> Tree {
    Tree::new(&[
        ("shop/cart.py", CART),
        ("main.py", MAIN),
        ("README.md", "Call `add_item` to add an item.\n장바구니에 담습니다.\n"),
    ])
}

#[test]
fn lists_what_is_not_ignored() {
    let tree = Tree::new(&[
        (".gitignore", "*.log\n/target\n"),
        ("a.log", "x"),
        ("target/out.rs", "fn out() {}"),
        ("src/.gitignore", "generated.py\n"),
        ("src/generated.py", "x = 1"),
        ("src/lib.rs", "pub fn kept() {}"),
        (".git/config", "secret"),
        (".github/ci.yml", "on: push"),
        (".starlingignore", "big.txt\n"),
        ("big.txt", "x"),
    ]);
    let expected = [".github/ci.yml", ".gitignore", ".starlingignore", "src/.gitignore", "src/lib.rs"];
    assert_eq!(files(&tree.open()), expected);
    std::fs::remove_dir_all(tree.project().join(".git")).expect("removed");
    assert_eq!(files(&tree.open()), expected, "the rules count without git, too");
}

#[test]
fn reads_a_project_inside_a_repository_that_ignores_it() {
    let tree = Tree::new(&[("a.py", "def f(): pass")]);
    std::fs::create_dir(tree.folder.path().join(".git")).expect("a repository");
    std::fs::write(tree.folder.path().join(".gitignore"), "*\n").expect("rules");
    assert_eq!(files(&tree.open()), ["a.py"]);
}

#[test]
fn leaves_the_insides_of_binary_and_large_files_alone() {
    let tree = Tree::new(&[("a.py", "def needle(): pass\n")]);
    tree.write("b.bin", b"needle\0needle");
    tree.write("c.py", format!("def needle(): pass\n#{}\n", "x".repeat(1024 * 1024)));
    let index = tree.open();
    assert_eq!(files(&index), ["a.py", "b.bin", "c.py"]);
    assert_eq!(defined(&index, "needle"), ["a.py needle"]);
    assert_eq!(hits(&index, "needle"), ["a.py:1 def needle()"]);
    assert!(index.text(&rel("c.py")).expect("text").starts_with("def needle"));
}

#[test]
fn finds_definitions_by_every_way_to_write_them() {
    let tree = shop();
    let index = tree.open();
    let method = ["shop/cart.py Cart.add_item"];
    for name in ["add_item", "Cart.add_item", "Cart::add_item", "cart.Cart.add_item", "shop::cart::Cart::add_item()"] {
        assert_eq!(defined(&index, name), method, "{name}");
    }
    assert_eq!(defined(&index, "cart.test_total"), ["shop/cart.py test_total"]);
    for name in ["Add_Item", "Basket.add_item", "", "item", "::"] {
        assert!(defined(&index, name).is_empty(), "{name}");
    }
}

#[test]
fn keeps_of_a_symbol_what_the_outline_says() {
    let tree = shop();
    let index = tree.open();
    for symbol in index.outline(&rel("shop/cart.py")).expect("an outline").symbols {
        let found = index.definitions(&symbol.qualified).expect("definitions");
        assert_eq!(found.into_iter().map(|d| d.symbol).collect::<Vec<_>>(), [symbol]);
    }
}

#[test]
fn finds_uses_with_the_symbol_around_them() {
    let tree = shop();
    let index = tree.open();
    assert_eq!(
        used(&index, "Cart.add_item"),
        ["README.md:1 [] Call `add_item` to add an item.", "main.py:5 [main] cart.add_item(None)  # add_item is fine",]
    );
    assert_eq!(
        used(&index, "total"),
        ["main.py:6 [main] print(cart.total())", "shop/cart.py:14 [test_total] assert cart.total() == 0"]
    );
    assert_eq!(index.references("Cart", 1).expect("references").len(), 1);
    assert!(used(&index, "tota").is_empty());
}

#[test]
fn ranks_names_before_parts_before_text() {
    let tree = shop();
    tree.write("b.py", "def add_item_twice():\n    pass\n\nNOTE = 'add item'\n");
    let index = tree.open();
    let found = hits(&index, "add_item");
    assert_eq!(
        found.get(..2).expect("two hits"),
        ["shop/cart.py:5 def add_item(self, item)", "b.py:1 def add_item_twice()"]
    );
    assert!(found.iter().any(|hit| hit.starts_with("README.md:1")), "{found:?}");
    assert_eq!(hits(&index, "Cart.total").first().expect("a hit"), "shop/cart.py:8 def total(self)");
    assert_eq!(hits(&index, "AddItemTwice").first().expect("a hit"), "b.py:1 def add_item_twice()");
    assert_eq!(
        hits(&index, "price of an item in the cart").first().expect("a hit"),
        "shop/cart.py:9 return sum(item.price for item in self.items)"
    );
}

#[test]
fn finds_two_characters_of_korean() {
    let tree = shop();
    let index = tree.open();
    for query in ["장바구니", "바구", "장바구니에서", "담"] {
        assert_eq!(hits(&index, query), ["README.md:2 장바구니에 담습니다."], "{query}");
    }
}

#[test]
fn takes_any_text_as_a_query() {
    let tree = shop();
    let index = tree.open();
    for query in ["", "\"", "add OR", "a* NEAR(", "'; DROP TABLE file; --", "NOT", "(((", "{x}: -y", "é 한 \u{0}"] {
        index.search(query, 5).expect(query);
        index.definitions(query).expect(query);
        index.references(query, 5).expect(query);
    }
}

#[cfg(unix)]
#[test]
fn follows_no_link_and_survives_what_it_cannot_read() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let tree = Tree::new(&[("a/b.py", "def inside(): pass\n"), ("locked/c.py", "x"), ("shut.py", "x")]);
    std::fs::write(tree.folder.path().join("outside.py"), "def outside(): pass\n").expect("written");
    let link = |to: &Path, at: &str| symlink(to, tree.project().join(at)).expect("a link");
    link(&tree.project(), "a/loop");
    link(&tree.folder.path().join("outside.py"), "out.py");
    link(tree.folder.path(), "up");
    link(Path::new("/nowhere/at/all"), "dangling");
    link(Path::new("a/b.py"), "within.py");
    let shut = |path: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(tree.project().join(path), permissions).expect("permissions");
    };
    shut("locked", 0o000);
    shut("shut.py", 0o000);
    let index = tree.open();
    let found = files(&index);
    shut("locked", 0o755);
    assert!(found.contains(&"a/b.py".to_owned()), "{found:?}");
    assert!(!found.iter().any(|path| path.contains("loop") || path.contains("out.py") || path.contains("up/")));
    assert!(defined(&index, "outside").is_empty());
    for path in ["out.py", "up/outside.py", "a/loop/../../outside.py"] {
        assert!(RelPath::new(path).is_err() || index.text(&rel(path)).is_err(), "{path}");
    }
    assert_eq!(index.text(&rel("within.py")).expect("a link inside"), "def inside(): pass\n");
}

#[cfg(target_os = "linux")]
#[test]
fn does_not_wait_for_a_pipe() {
    let tree = Tree::new(&[("a.py", "x = 1\n")]);
    let index = tree.open();
    std::fs::remove_file(tree.project().join("a.py")).expect("removed");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        tree.project().join("a.py"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .expect("a pipe");
    assert!(index.text(&rel("a.py")).is_err());
    index.refresh().expect("refreshed");
    assert!(files(&index).is_empty());
}

#[test]
fn reads_nothing_again_when_nothing_changed() {
    let tree = shop();
    let first = tree.open().stats();
    assert_eq!((first.files, first.changed, first.reused), (3, 3, 0));
    let index = tree.open();
    let second = index.stats();
    assert_eq!((second.files, second.changed, second.reused, second.symbols), (3, 0, 3, first.symbols));
    assert_eq!(defined(&index, "add_item").len(), 1);
}

#[test]
fn follows_edits_renames_and_removals() {
    let tree = shop();
    let index = tree.open();
    tree.write("shop/cart.py", "def fresh():\n    return 'zebra'\n");
    assert_eq!(defined(&index, "add_item"), [""; 0], "a changed file is looked at, even before the refresh");
    let stats = index.refresh().expect("refreshed");
    assert_eq!((stats.changed, stats.reused), (1, 2));
    assert_eq!(hits(&index, "zebra"), ["shop/cart.py:2 return 'zebra'"]);
    assert_eq!(defined(&index, "fresh"), ["shop/cart.py fresh"]);
    assert!(hits(&index, "price").is_empty());
    std::fs::rename(tree.project().join("main.py"), tree.project().join("start.py")).expect("renamed");
    std::fs::remove_file(tree.project().join("README.md")).expect("removed");
    index.refresh().expect("refreshed");
    assert_eq!(files(&index), ["shop/cart.py", "start.py"]);
    assert_eq!(defined(&index, "main"), ["start.py main"]);
    assert!(hits(&index, "장바구니").is_empty());
}

#[test]
fn makes_a_bad_database_anew() {
    let tree = shop();
    let symbols = tree.open().stats().symbols;
    let spoil: [&dyn Fn(); 4] = [
        &|| std::fs::write(tree.database(), "no database at all, and longer than a header of one").expect("written"),
        &|| std::fs::write(tree.database(), "").expect("written"),
        &|| sql(&tree, "UPDATE origin SET version = 999"),
        &|| sql(&tree, "DROP TABLE symbol"),
    ];
    for spoil in spoil {
        spoil();
        let stats = tree.open().stats();
        assert_eq!((stats.changed, stats.symbols), (3, symbols));
    }
    // Another project with the same database file.
    let other = Tree::new(&[("only.py", "def only(): pass\n")]);
    let index = ProjectIndex::open(&other.project(), &tree.database()).expect("an index");
    assert_eq!(files(&index), ["only.py"]);
}

fn sql(tree: &Tree, statement: &str) {
    rusqlite::Connection::open(tree.database()).expect("a database").execute_batch(statement).expect(statement);
}

#[test]
fn refuses_what_is_no_folder() {
    let tree = shop();
    assert!(ProjectIndex::open(&tree.project().join("absent"), &tree.database()).is_err());
    assert!(ProjectIndex::open(&tree.project().join("main.py"), &tree.database()).is_err());
}

fn limits(folders: usize) -> Limits {
    Limits { folders, debounce: Duration::from_millis(20), poll: Duration::from_millis(20) }
}

/// Waits until the map is as wanted; every refresh of the watcher is a chance.
#[track_caller]
fn await_map(index: &ProjectIndex, refreshed: &mpsc::Receiver<IndexStats>, wanted: impl Fn(&ProjectIndex) -> bool) {
    while !wanted(index) {
        refreshed.recv_timeout(Duration::from_secs(10)).expect("the watcher saw the change");
    }
}

#[track_caller]
fn check_watch(folders: usize, polling: bool) {
    let tree = shop();
    let index = Arc::new(tree.open());
    let (to, refreshed) = mpsc::channel();
    let guard = crate::watch::start(Arc::clone(&index), limits(folders), move |stats| {
        to.send(stats).expect("the test listens")
    });
    let guard = guard.expect("a watcher");
    assert_eq!(matches!(guard.notice(), Some(WatchNotice::Polling { .. })), polling);
    tree.write("shop/cart.py", "def changed(): pass\n");
    await_map(&index, &refreshed, |index| !defined(index, "changed").is_empty() && hits(index, "price").is_empty());
    tree.write("new/deep/er.py", "def nested(): pass\n");
    await_map(&index, &refreshed, |index| !defined(index, "nested").is_empty());
    tree.write("new/deep/er.py", "def nested_more(): pass\n");
    await_map(&index, &refreshed, |index| !defined(index, "nested_more").is_empty());
    std::fs::remove_file(tree.project().join("main.py")).expect("removed");
    await_map(&index, &refreshed, |index| !files(index).contains(&"main.py".to_owned()));
    tree.write(".gitignore", "new\n");
    await_map(&index, &refreshed, |index| files(index) == [".gitignore", "README.md", "shop/cart.py"]);
    drop(guard);
    while refreshed.try_recv().is_ok() {}
    assert_eq!(refreshed.try_recv(), Err(mpsc::TryRecvError::Disconnected), "the thread has ended");
}

#[test]
fn watches() {
    check_watch(1000, false);
}

#[test]
fn looks_by_itself_when_there_are_too_few_watches() {
    check_watch(1, true);
}
