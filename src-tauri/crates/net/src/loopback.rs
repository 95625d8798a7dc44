//! A program of this machine that speaks JSON over HTTP, for comparing with it. The address is always 127.0.0.1, so nothing
//! leaves the machine and no gate is asked.

use reqwest::Client;
use serde_json::Value;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum LoopbackError {
    #[error("the server does not answer: {0}")]
    Unreachable(#[from] reqwest::Error),
    #[error("the server refuses: {status} {text}")]
    Refused { status: u16, text: String },
    #[error("no runtime: {0}")]
    Runtime(#[from] std::io::Error),
}

/// Posts `body` to a path of the server at `port` and waits for the whole answer.
pub fn post(port: u16, path: &str, body: &Value, patience: Duration) -> Result<Value, LoopbackError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = Client::builder().no_proxy().timeout(patience).build()?;
        let response = client.post(format!("http://127.0.0.1:{port}/{path}")).json(body).send().await?;
        let status = response.status();
        if !status.is_success() {
            let text = response.text().await.unwrap_or_default();
            return Err(LoopbackError::Refused { status: status.as_u16(), text });
        }
        Ok(response.json().await?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    fn serve(answer: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut got = [0; 2_048];
            let _some = stream.read(&mut got).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        });
        port
    }

    #[test]
    fn gives_the_answer_or_says_what_was_wrong() {
        let wait = Duration::from_secs(5);
        let port = serve("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{\"a\":1}");
        assert_eq!(post(port, "x", &json!({}), wait).unwrap(), json!({"a": 1}));
        let port = serve("HTTP/1.1 400 Bad\r\ncontent-length: 2\r\n\r\nno");
        assert_eq!(post(port, "x", &json!({}), wait).unwrap_err().to_string(), "the server refuses: 400 no");
        assert!(matches!(post(1, "x", &json!({}), wait), Err(LoopbackError::Unreachable(_))));
    }
}
