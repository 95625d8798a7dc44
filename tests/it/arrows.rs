//! The crate table of ARCHITECTURE.md, held against `cargo metadata`: who may use whom, and who alone may touch the network.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// A crate that is no part of the product.
const BESIDE: [&str; 1] = ["testkit"];

const DESKTOPS: [&str; 3] = ["x86_64-unknown-linux-gnu", "x86_64-pc-windows-msvc", "aarch64-apple-darwin"];

#[test]
fn crates_use_only_what_the_table_allows() {
    let used = our_arrows();
    let mut faults = Vec::new();
    let table = table();
    for (name, others) in used.iter().filter(|(name, _)| *name != "starling") {
        match table.get(name) {
            None => faults.push(format!("{name} is not in the table")),
            Some(allowed) => {
                faults.extend(others.iter().filter(|o| !allowed.contains(*o)).map(|o| format!("{name} uses {o}")));
            }
        }
    }
    faults.extend(table.keys().filter(|name| !used.contains_key(*name)).map(|name| format!("{name} does not exist")));
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn nothing_of_the_product_uses_test_crates() {
    for (name, used) in our_arrows() {
        let beside: Vec<_> = used.iter().filter(|other| BESIDE.contains(&other.as_str())).collect();
        assert!(BESIDE.contains(&name.as_str()) || beside.is_empty(), "{name} uses {beside:?}");
    }
}

#[test]
fn the_network_is_reached_through_net_alone() {
    for platform in DESKTOPS {
        let metadata = metadata(&["--filter-platform", platform]);
        let graph = resolved(&metadata);
        let root = graph.keys().find(|id| name_of(id) == "starling").expect("the app is resolved").clone();
        let without_net = reachable(&graph, &root, "starling-net");
        let clients: Vec<&String> =
            without_net.iter().filter(|id| ["reqwest", "hyper-util", "ureq"].contains(&name_of(id).as_str())).collect();
        assert!(clients.is_empty(), "on {platform} an HTTP client is reached past starling-net: {clients:?}");
        let tls: Vec<&String> = graph.keys().filter(|id| name_of(id).contains("openssl-sys")).collect();
        assert!(tls.is_empty(), "a second TLS stack: {tls:?}");
    }
}

/// Crate and the crates of ours it may use (not counting dev-dependencies), as ARCHITECTURE.md has it. The app may use all.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(super::root().join("ARCHITECTURE.md")).expect("there is an ARCHITECTURE.md");
    let rows =
        text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2).take_while(|l| l.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, _, uses, ..] = cells[..] else { panic!("not a row of the table: {line}") };
        let uses = uses.split(',').map(|word| word.trim().to_owned()).filter(|word| word != "-").collect();
        (name.to_owned(), uses)
    };
    let table: BTreeMap<_, _> = rows.map(row).filter(|(name, _)| name != "app (root)").collect();
    assert!(table.len() > 8, "the table was not found");
    table
}

/// Package name without the prefix, to the packages of ours it depends on (normal and build dependencies).
fn our_arrows() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = metadata(&["--no-deps"]);
    let short = |name: &str| name.strip_prefix("starling-").unwrap_or(name).to_owned();
    let mut arrows = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("cargo lists packages") {
        let uses = package["dependencies"].as_array().expect("cargo lists dependencies").iter();
        let uses = uses
            .filter(|dependency| dependency["kind"] != "dev")
            .filter_map(|dependency| dependency["name"].as_str())
            .filter(|name| name.starts_with("starling-"))
            .map(short)
            .collect();
        arrows.insert(short(package["name"].as_str().expect("a package has a name")), uses);
    }
    arrows
}

type Graph = BTreeMap<String, Vec<String>>;

/// Package id to the ids of its normal dependencies.
fn resolved(metadata: &Value) -> Graph {
    let nodes = metadata["resolve"]["nodes"].as_array().expect("cargo resolves");
    let normal = |dependency: &&Value| {
        dependency["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
    };
    let text = |value: &Value| value.as_str().expect("an id is text").to_owned();
    nodes
        .iter()
        .map(|node| {
            let deps = node["deps"].as_array().expect("a node has deps").iter().filter(normal);
            (text(&node["id"]), deps.map(|dependency| text(&dependency["pkg"])).collect())
        })
        .collect()
}

fn reachable(graph: &Graph, from: &str, closed: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(id) = open.pop() {
        if name_of(&id) == closed || !seen.insert(id.clone()) {
            continue;
        }
        open.extend(graph.get(&id).into_iter().flatten().cloned());
    }
    seen
}

/// "registry+https://...#reqwest@0.13.5" or "path+file:///.../crates/net#starling-net@0.1.0" or "path+file:///dir#0.1.0".
fn name_of(id: &str) -> String {
    let (source, fragment) = id.rsplit_once('#').unwrap_or(("", id));
    match fragment.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None if fragment.starts_with(|c: char| c.is_ascii_digit()) && source.starts_with("path+") => {
            "starling".to_owned()
        }
        None => source.rsplit('/').next().unwrap_or(source).to_owned(),
    }
}

fn metadata(more: &[&str]) -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(more)
        .current_dir(super::root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}
