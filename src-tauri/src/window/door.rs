//! What the window may open: its own page and nothing else. A foreign address, a new window, a redirect: all refused.

use tauri::Url;

/// Whether the page may go to `url`: the app's own scheme on each system.
pub fn may_navigate(url: &Url) -> bool {
    match (url.scheme(), url.host_str()) {
        ("tauri", Some("localhost")) => true,
        // Windows serves the same page under this name.
        ("http" | "https", Some("tauri.localhost")) => true,
        ("about", _) => url.path() == "blank",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: bool) {
        assert_eq!(may_navigate(&Url::parse(url).expect("a valid address")), expected, "{url}");
    }

    #[test]
    fn only_its_own_page() {
        check("tauri://localhost/index.html", true);
        check("http://tauri.localhost/", true);
        check("about:blank", true);
        check("https://example.org/", false);
        check("http://localhost:8080/", false);
        check("file:///etc/passwd", false);
        check("tauri://evil/", false);
        check("data:text/html,x", false);
    }
}
