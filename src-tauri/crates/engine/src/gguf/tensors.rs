//! The table of tensors: names, types, shapes, and that each lies where its predecessor ends and inside the file.

use super::reader::HeaderReader;
use super::{GgufError, limits, refused};
use std::collections::BTreeSet;
use std::io::Read;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub name: String,
    pub kind: TensorType,
    pub dims: Vec<u64>,
    pub bytes: u64,
}

macro_rules! tensor_types {
    ($($name:ident = $id:literal, $text:literal, $block:literal, $bytes:literal;)*) => {
        /// How weights are packed. Types that no released model uses, or that llama.cpp dropped, are unknown on purpose.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum TensorType { $($name),* }
        impl TensorType {
            pub fn from_id(id: u32) -> Option<TensorType> {
                match id { $($id => Some(TensorType::$name),)* _ => None }
            }
            pub fn as_str(self) -> &'static str {
                match self { $(TensorType::$name => $text),* }
            }
            /// Weights in a block, and the bytes the block takes.
            pub fn block(self) -> (u64, u64) {
                match self { $(TensorType::$name => ($block, $bytes)),* }
            }
        }
    };
}

tensor_types! {
    F32 = 0, "F32", 1, 4;
    F16 = 1, "F16", 1, 2;
    Q4_0 = 2, "Q4_0", 32, 18;
    Q4_1 = 3, "Q4_1", 32, 20;
    Q5_0 = 6, "Q5_0", 32, 22;
    Q5_1 = 7, "Q5_1", 32, 24;
    Q8_0 = 8, "Q8_0", 32, 34;
    Q2K = 10, "Q2_K", 256, 84;
    Q3K = 11, "Q3_K", 256, 110;
    Q4K = 12, "Q4_K", 256, 144;
    Q5K = 13, "Q5_K", 256, 176;
    Q6K = 14, "Q6_K", 256, 210;
    Iq2Xxs = 16, "IQ2_XXS", 256, 66;
    Iq2Xs = 17, "IQ2_XS", 256, 74;
    Iq3Xxs = 18, "IQ3_XXS", 256, 98;
    Iq1S = 19, "IQ1_S", 256, 50;
    Iq4Nl = 20, "IQ4_NL", 32, 18;
    Iq3S = 21, "IQ3_S", 256, 110;
    Iq2S = 22, "IQ2_S", 256, 82;
    Iq4Xs = 23, "IQ4_XS", 256, 136;
    Iq1M = 29, "IQ1_M", 256, 56;
    Bf16 = 30, "BF16", 1, 2;
}

pub fn read(
    reader: &mut HeaderReader<impl Read>,
    count: u64,
    alignment: u64,
    file_bytes: u64,
) -> Result<Vec<Tensor>, GgufError> {
    let mut tensors = Vec::new();
    let mut names = BTreeSet::new();
    // Where the next tensor must begin, counted from the start of the data.
    let mut end: u64 = 0;
    for _ in 0..count {
        let tensor = read_one(reader)?;
        if !names.insert(tensor.name.clone()) {
            return Err(refused(tensor.name, "stands twice in the table of tensors"));
        }
        let offset = reader.u64(&tensor.name)?;
        if offset != end {
            return Err(refused(tensor.name, format!("begins at {offset} instead of {end}")));
        }
        end = end
            .checked_add(tensor.bytes)
            .and_then(|end| end.checked_next_multiple_of(alignment))
            .ok_or_else(|| refused(tensor.name.clone(), "ends beyond any file"))?;
        tensors.push(tensor);
    }
    check_room(reader.position(), end, alignment, file_bytes, &tensors)?;
    Ok(tensors)
}

fn read_one(reader: &mut HeaderReader<impl Read>) -> Result<Tensor, GgufError> {
    let name = String::from_utf8(reader.string("tensor name", limits::TENSOR_NAME)?)
        .ok()
        .filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()))
        .ok_or_else(|| refused("tensor name", "is not 1 to 63 printable characters"))?;
    let n_dims = reader.u32(&name)?;
    if n_dims == 0 || u64::from(n_dims) > limits::DIMS {
        return Err(refused(name, format!("has {n_dims} dimensions")));
    }
    let mut dims = Vec::new();
    for _ in 0..n_dims {
        dims.push(reader.u64(&name)?);
    }
    let id = reader.u32(&name)?;
    let kind = TensorType::from_id(id).ok_or_else(|| refused(name.clone(), format!("has the unknown type {id}")))?;
    let bytes = bytes_of(kind, &dims).ok_or_else(|| refused(name.clone(), "has an impossible shape"))?;
    Ok(Tensor { name, kind, dims, bytes })
}

/// `None` when a dimension is 0, a row is not made of whole blocks, or the product does not fit.
fn bytes_of(kind: TensorType, dims: &[u64]) -> Option<u64> {
    let (block, block_bytes) = kind.block();
    let row = *dims.first()?;
    if row % block != 0 {
        return None;
    }
    let elements = dims.iter().try_fold(1u64, |product, dim| match dim {
        0 => None,
        dim => product.checked_mul(*dim).filter(|product| i64::try_from(*product).is_ok()),
    })?;
    (elements / block).checked_mul(block_bytes)
}

/// The last tensor may end without padding.
fn check_room(header: u64, end: u64, alignment: u64, file_bytes: u64, tensors: &[Tensor]) -> Result<(), GgufError> {
    let start = header.checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
    let padding = tensors.last().map_or(0, |last| last.bytes.next_multiple_of(alignment) - last.bytes);
    let needed = start.saturating_add(end - padding);
    if needed > file_bytes {
        let reason = format!("has {file_bytes} bytes, its tensors need {needed}");
        return Err(refused("the file", reason));
    }
    Ok(())
}
