//! Little-endian reading under one byte budget. Memory grows only with bytes that really arrived, so a claimed length of
//! 2^62 costs nothing.

use super::{GgufError, limits, refused};
use std::io::Read;

pub struct HeaderReader<R> {
    stream: R,
    /// Bytes read so far; the header must end before [`limits::HEADER`].
    position: u64,
}

impl<R: Read> HeaderReader<R> {
    pub fn new(stream: R) -> Self {
        HeaderReader { stream, position: 0 }
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn bytes<const N: usize>(&mut self, field: &str) -> Result<[u8; N], GgufError> {
        let mut buffer = [0; N];
        self.fill(field, &mut buffer)?;
        Ok(buffer)
    }

    pub fn u32(&mut self, field: &str) -> Result<u32, GgufError> {
        Ok(u32::from_le_bytes(self.bytes(field)?))
    }

    pub fn u64(&mut self, field: &str) -> Result<u64, GgufError> {
        Ok(u64::from_le_bytes(self.bytes(field)?))
    }

    /// A number that must lie in `least..=most`.
    pub fn count(&mut self, field: &str, least: u64, most: u64) -> Result<u64, GgufError> {
        let value = self.u64(field)?;
        if (least..=most).contains(&value) {
            Ok(value)
        } else {
            Err(refused(field, format!("counts {value}, allowed are {least} to {most}")))
        }
    }

    pub fn string(&mut self, field: &str, limit: u64) -> Result<Vec<u8>, GgufError> {
        let len = self.u64(field)?;
        if len > limit {
            return Err(refused(field, format!("has {len} bytes, allowed are {limit}")));
        }
        // `limit` is at most 1 MiB, so this allocation is small whatever the header claims.
        let mut text = vec![0; usize::try_from(len).unwrap_or(0)];
        self.fill(field, &mut text)?;
        Ok(text)
    }

    /// A key: its own alphabet, so that error messages and logs cannot be forged with it.
    pub fn key(&mut self) -> Result<String, GgufError> {
        let key = self.string("key", limits::KEY)?;
        let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(byte);
        match String::from_utf8(key) {
            Ok(key) if !key.is_empty() && key.bytes().all(|byte| plain(&byte)) => Ok(key),
            Ok(_) | Err(_) => Err(refused("key", "has characters outside a-z 0-9 . _ -")),
        }
    }

    fn fill(&mut self, field: &str, buffer: &mut [u8]) -> Result<(), GgufError> {
        self.position = self.position.saturating_add(buffer.len() as u64);
        if self.position > limits::HEADER {
            return Err(refused(field, format!("lies beyond the first {} bytes", limits::HEADER)));
        }
        self.stream.read_exact(buffer).map_err(|source| {
            if source.kind() == std::io::ErrorKind::UnexpectedEof {
                refused(field, "is cut off by the end of the file")
            } else {
                GgufError::Read { field: field.to_owned(), source }
            }
        })
    }
}
