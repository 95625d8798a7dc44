//! What blocks as small models write them do to a file.

use super::*;

const CART: &str = "\"\"\"A cart.\"\"\"\n\nimport os\n\n\nclass Cart:\n    \"\"\"Holds items.\"\"\"\n\n    def add(self, item):\n        \"\"\"Put an item in.\"\"\"\n        self.items.append(item)\n\n    def total(self):\n        return sum(self.items)\n\n\ndef tax(cents):\n    return cents // 10\n";

#[track_caller]
fn run(language: Language, source: &str, block: &str, symbols: &[&str], new: &[&str]) -> Result<String, SpliceFault> {
    let owned = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    let (symbols, new) = (owned(symbols), owned(new));
    let path = RelPath::new("a/cart").expect("a good path");
    let allowed = Allowed { symbols: &symbols, new_symbols: &new };
    let change = change_from_block(language, &path, source.as_bytes(), block, &allowed)?;
    let bytes = change.files[0].apply(Some(source.as_bytes())).expect("it fits");
    Ok(String::from_utf8(bytes).expect("text"))
}

#[track_caller]
fn python(block: &str, symbols: &[&str], new: &[&str], from: &str, to: &str) {
    assert_eq!(run(Language::Python, CART, block, symbols, new).expect("a change"), CART.replace(from, to));
}

#[test]
fn replaces_a_function() {
    python("def tax(cents):\n    return cents // 5\n", &["tax"], &[], "cents // 10", "cents // 5");
}

#[test]
fn takes_a_method_bare_or_in_its_class() {
    let to = "        return sum(self.items) + 1";
    python(
        "def total(self):\n    return sum(self.items) + 1\n",
        &["Cart.total"],
        &[],
        "        return sum(self.items)",
        to,
    );
    python(
        "class Cart:\n    def total(self):\n        return sum(self.items) + 1\n",
        &["Cart.total"],
        &[],
        "        return sum(self.items)",
        to,
    );
}

#[test]
fn a_class_cut_short_deletes_nothing() {
    python(
        "class Cart:\n    def total(self):\n        return 0\n",
        &["Cart"],
        &[],
        "        return sum(self.items)",
        "        return 0",
    );
}

#[test]
fn keeps_documentation_that_the_model_dropped() {
    python(
        "def add(self, item):\n    self.items.insert(0, item)\n",
        &["Cart.add"],
        &[],
        "self.items.append(item)",
        "self.items.insert(0, item)",
    );
    let source = "/// Adds one.\n#[inline]\npub fn inc(x: i32) -> i32 {\n    x + 2\n}\n";
    let got =
        run(Language::Rust, source, "pub fn inc(x: i32) -> i32 {\n    x + 1\n}", &["inc"], &[]).expect("a change");
    assert_eq!(got, source.replace("x + 2", "x + 1"));
}

#[test]
fn adds_a_method_after_its_siblings() {
    let to = "        return sum(self.items)\n\n    def clear(self):\n        self.items = []\n";
    python("def clear(self):\n    self.items = []\n", &[], &["Cart.clear"], "        return sum(self.items)\n", to);
    let source = "pub struct Count {\n    n: u32,\n}\n\nimpl Count {\n    pub fn get(&self) -> u32 {\n        self.n\n    }\n}\n";
    let block = "impl Count {\n    pub fn twice(&self) -> u32 {\n        self.n * 2\n    }\n}\n";
    let want = source.replace(
        "        self.n\n    }\n",
        "        self.n\n    }\n\n    pub fn twice(&self) -> u32 {\n        self.n * 2\n    }\n",
    );
    assert_eq!(run(Language::Rust, source, block, &[], &["Count.twice"]).expect("a change"), want);
    let bare = "pub fn twice(&self) -> u32 {\n    self.n * 2\n}\n";
    assert_eq!(run(Language::Rust, source, bare, &[], &["Count.twice"]).expect("a change"), want);
}

#[test]
fn adds_a_function_and_its_import_once() {
    let block = "import os\nimport math\n\ndef half(cents):\n    return math.floor(cents / 2)\n";
    let got = run(Language::Python, CART, block, &[], &["half"]).expect("a change");
    let want = CART.replace("import os\n", "import os\nimport math\n")
        + "\n\ndef half(cents):\n    return math.floor(cents / 2)\n";
    assert_eq!(got, want);
}

#[test]
fn does_not_touch_what_the_step_does_not_name() {
    let block = "def tax(cents):\n    return 0\n\nclass Cart:\n    def total(self):\n        return 1\n";
    python(block, &["Cart.total"], &[], "return sum(self.items)", "return 1");
}

#[test]
fn keeps_line_ends() {
    let source = CART.replace('\n', "\r\n");
    let got = run(Language::Python, &source, "def tax(cents):\n    x = 5\n    return cents // x\n", &["tax"], &[]);
    assert_eq!(got.expect("a change"), source.replace("return cents // 10", "x = 5\r\n    return cents // x"));
}

#[test]
fn says_why_a_block_is_no_change() {
    let fault = |block: &str, symbols: &[&str]| {
        run(Language::Python, CART, block, symbols, &[]).expect_err("a fault").to_string()
    };
    assert_eq!(fault("  \n", &["tax"]), "the answer holds no code");
    assert_eq!(fault("def tax(cents):\n    return cents // 10\n", &["tax"]), "the answer repeats the code as it is");
    assert_eq!(fault("x\n", &["tax"]), "the answer defines none of tax");
    assert!(fault("def tax(cents:\n", &["tax"]).starts_with("the code of the answer does not parse"));
}

const SHOP: &str = "import fs from 'node:fs';\n\n/** A price. */\nexport const price = (n) => n * 2;\n\nexport default class Cart {\n  #items = [];\n\n  add(item) {\n    this.#items.push(item);\n  }\n}\n\nexport async function load(path) {\n  return fs.promises.readFile(path);\n}\n";

#[track_caller]
fn javascript(block: &str, symbols: &[&str], new: &[&str], from: &str, to: &str) {
    let got = run(Language::JavaScript, SHOP, block, symbols, new).expect("a change");
    assert_eq!(got, SHOP.replace(from, to));
}

#[test]
fn javascript_stays_exported_in_every_form() {
    let arrow = "export const price = (n) => n * 2;";
    javascript("const price = (n) => n * 3;\n", &["price"], &[], arrow, "export const price = (n) => n * 3;");
    let function = "export function price(n) {\n  return n * 3;\n}";
    javascript("function price(n) {\n  return n * 3;\n}\n", &["price"], &[], arrow, function);
    javascript(
        "async function load(path) {\n  return null;\n}\n",
        &["load"],
        &[],
        "  return fs.promises.readFile(path);",
        "  return null;",
    );
    let add = "    this.#items.push(item);";
    let method = "add(item) {\n  this.#items.push(item, item);\n}\n";
    let inside = format!("class Cart {{\n  {}}}\n", method.replace('\n', "\n  ").trim_end_matches(' '));
    javascript(&inside, &["Cart.add"], &[], add, "    this.#items.push(item, item);");
    let block = "import path from 'node:path';\n\nfunction where(file) {\n  return path.dirname(file);\n}\n";
    let got = run(Language::JavaScript, SHOP, block, &[], &["where"]).expect("a change");
    let imported = SHOP.replace("'node:fs';\n", "'node:fs';\nimport path from 'node:path';\n");
    assert_eq!(got, format!("{imported}\nexport function where(file) {{\n  return path.dirname(file);\n}}\n"));
}
