//! A server for tests that says exactly what it is told, byte by byte, and remembers what it heard.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub head: String,
    pub body: Vec<u8>,
}

/// What one connection answers.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing for as long as the client waits.
    AndHang(Vec<u8>),
}

pub(crate) struct Fake {
    pub address: String,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Fake {
    /// `answer` gets the number of the connection and what was asked.
    pub fn start(answer: impl Fn(usize, &Heard) -> Say + Send + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let notes = Arc::clone(&heard);
        let answer: Arc<Answer> = Arc::new(Mutex::new(answer));
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let (notes, answer) = (Arc::clone(&notes), Arc::clone(&answer));
                std::thread::spawn(move || talk(stream.expect("a connection"), number, &notes, &answer));
            }
        });
        Fake { address, heard }
    }

    pub fn always(say: Say) -> Fake {
        Fake::start(move |_, _| say.clone())
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().expect("not poisoned").clone()
    }
}

type Answer = Mutex<dyn Fn(usize, &Heard) -> Say + Send>;

fn talk(mut stream: TcpStream, number: usize, notes: &Mutex<Vec<Heard>>, answer: &Answer) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let heard = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_string();
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if bytes.len() >= end + 4 + length.unwrap_or(0) {
                break Heard { head, body: bytes[end + 4..].to_vec() };
            }
        }
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => bytes.extend_from_slice(&buffer[..read]),
            Ok(_) | Err(_) => return,
        }
    };
    notes.lock().expect("not poisoned").push(heard.clone());
    let say = answer.lock().expect("not poisoned")(number, &heard);
    match say {
        Say::Bytes(bytes) => drop(stream.write_all(&bytes)),
        Say::AndHang(bytes) => {
            stream.write_all(&bytes).ok();
            // Until the client hangs up.
            while stream.read(&mut buffer).is_ok_and(|read| read > 0) {}
        }
    }
}

/// An answer with a length.
pub(crate) fn reply(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes =
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len())
            .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// A stream of events in pieces of `piece` bytes.
pub(crate) fn events(body: &[u8], piece: usize) -> Vec<u8> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut bytes = head.as_bytes().to_vec();
    for piece in body.chunks(piece) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}
