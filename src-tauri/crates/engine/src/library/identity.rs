//! What a kept beginning belongs to: one model, one layout of the working memory, one version of the engine.
#![forbid(unsafe_code)]

use crate::gguf::Header;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Samples of the file that go into its identity: one of any part that a training changed is enough to tell two files apart,
/// and a hash over all of it would take a second a gigabyte at every start.
const SAMPLES: u64 = 512;
const SAMPLE_BYTES: u64 = 8 * 1024;
/// The form of llama.cpp's sequence states, and how this program lays out its memory.
const LAYOUT: &str = "llama-cpp-2 0.1.160, k f16, v f16, no flash attention, unified";

/// Reads samples all over the file; its position afterwards is undefined.
pub fn key(file: &mut File, header: &Header) -> io::Result<String> {
    let mut hasher = Sha256::new();
    for tensor in &header.tensors {
        hasher.update(format!("{} {} {:?};", tensor.name, tensor.kind.as_str(), tensor.dims));
    }
    let mut sample = Vec::new();
    for at in 0..SAMPLES {
        file.seek(SeekFrom::Start(header.file_bytes.saturating_sub(SAMPLE_BYTES) / (SAMPLES - 1) * at))?;
        sample.clear();
        file.take(SAMPLE_BYTES).read_to_end(&mut sample)?;
        hasher.update(&sample);
    }
    let sum: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{sum} of {} bytes; {LAYOUT}", header.file_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gguf::tests::Draft;
    use std::io::Write;

    #[test]
    fn a_file_with_other_weights_is_another_model() {
        let mut header = crate::gguf::check(&Draft::good().bytes()[..], 1 << 20).unwrap();
        header.file_bytes = 8 << 20;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 8 << 20]).unwrap();
        let one = key(&mut file, &header).unwrap();
        assert_eq!(one, key(&mut file, &header).unwrap());
        // Any stretch as long as the distance of two samples is seen.
        file.seek(SeekFrom::Start(5 << 20)).unwrap();
        file.write_all(&[8; 24 * 1024]).unwrap();
        assert_ne!(one, key(&mut file, &header).unwrap());
        header.tensors[0].dims = vec![1];
        assert_ne!(one, key(&mut file, &header).unwrap());
    }
}
