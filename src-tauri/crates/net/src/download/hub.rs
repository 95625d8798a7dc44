//! A file of the model hub. The hub's first answer states size and sha256; a pinned sum must agree with it before anything
//! large is fetched, and an entry without one is fetched only after the user agreed to the stated sum.

use super::file::{Kind, Part, check_space};
use super::pull::{Puller, host, server};
use super::{DownloadError, From};
use reqwest::Url;
use reqwest::header::HeaderMap;
use starling_core::catalog::Entry;
use std::path::Path;

const HUB: &str = "https://huggingface.co";
const ANY: &str = "application/octet-stream, */*";

pub(super) fn address(repo: &str, file: &str) -> Result<Url, DownloadError> {
    let absent = |_| DownloadError::Absent { what: format!("{repo}/{file}"), place: HUB.to_owned() };
    Url::parse(&format!("{HUB}/{repo}/resolve/main/{file}")).map_err(absent)
}

pub(super) fn fetch(
    puller: &mut Puller<'_>,
    entry: &Entry,
    url: &Url,
    home: Option<&str>,
    target: &Path,
    from: &From,
) -> Result<(), DownloadError> {
    let mut part = Part::open(target, Kind::Hub, url.as_str())?;
    let mut found = puller.get(url, home, ANY, part.length())?;
    let stale = match found.status() {
        206 => range_begins_at(found.response.headers()) != Some(part.length()),
        416 => true,
        _ => false,
    };
    if found.status() == 404 {
        return Err(DownloadError::Absent { what: url.path().to_owned(), place: host(url) });
    }
    let (bytes, sha256) = expected(entry, &Stated::of(&found.heads), from)?;
    puller.total = bytes;
    if part.length() == bytes {
        return part.finish(bytes, &sha256);
    }
    if stale {
        // The part does not fit what is there now.
        found = puller.get(url, home, ANY, 0)?;
    }
    match found.status() {
        200 => part.restart()?,
        206 if !stale => {}
        status => return Err(server(url, &format!("it answered {status}"))),
    }
    check_space(target, bytes.saturating_sub(part.length()))?;
    part.note_origin()?;
    let before = part.length();
    puller.pieces(found.response, before, &mut |piece| {
        if part.length() + piece.len() as u64 > bytes {
            return Err(DownloadError::Wrong { message: format!("it is longer than {bytes} bytes") });
        }
        part.write(piece)
    })?;
    if part.length() < bytes {
        return Err(server(url, "the file broke off; the next try goes on from here"));
    }
    part.finish(bytes, &sha256)
}

struct Stated {
    sha256: Option<String>,
    bytes: Option<u64>,
}

impl Stated {
    fn of(heads: &[HeaderMap]) -> Stated {
        let find = |name: &str| {
            let value = heads.iter().find_map(|head| head.get(name))?.to_str().ok()?;
            Some(value.trim_start_matches("W/").trim_matches('"').to_owned())
        };
        let is_sum = |sum: &String| sum.len() == 64 && sum.chars().all(|c| c.is_ascii_hexdigit());
        Stated {
            sha256: find("x-linked-etag").filter(is_sum).map(|sum| sum.to_ascii_lowercase()),
            bytes: find("x-linked-size").and_then(|size| size.parse().ok()),
        }
    }
}

fn expected(entry: &Entry, stated: &Stated, from: &From) -> Result<(u64, String), DownloadError> {
    let wrong = |message: String| Err(DownloadError::Wrong { message });
    if !entry.sha256.is_empty() {
        return match &stated.sha256 {
            Some(sum) if *sum != entry.sha256 => {
                wrong(format!("the hub states sha256 {sum}, pinned is {}", entry.sha256))
            }
            Some(_) | None => Ok((entry.bytes, entry.sha256.clone())),
        };
    }
    let (Some(sha256), Some(bytes)) = (stated.sha256.clone(), stated.bytes) else {
        return wrong("the hub states no checksum and none is pinned".to_owned());
    };
    match &from.agreed_sha256 {
        Some(agreed) if *agreed == sha256 => Ok((bytes, sha256)),
        Some(_) | None => Err(DownloadError::Unpinned { sha256, bytes }),
    }
}

/// "bytes 100-199/200" begins at 100.
fn range_begins_at(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get("content-range")?.to_str().ok()?;
    text.strip_prefix("bytes ")?.split_once('-')?.0.parse().ok()
}
