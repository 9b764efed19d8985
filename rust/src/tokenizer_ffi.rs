// SPDX-License-Identifier: Apache-2.0
//! The C entries of the tokenizer; `src/text/rust_api.h` documents them.

use std::num::NonZeroUsize;
use std::{ptr, slice, str};

use tokenizers::utils::padding::{PaddingDirection, PaddingStrategy};
use tokenizers::utils::truncation::{
    TruncationDirection, TruncationParams, TruncationStrategy,
};
use tokenizers::Encoding;

use crate::ffi::{guard, invalid, lent, Bytes, Outcome, Status, Text};
use crate::tokenizer::{BatchTokenizer, EncodeOptions};

#[repr(C)]
pub struct BakedOptions {
    truncation_max_length: i64,
    padding_length: i64,
    pad_to_multiple_of: i64,
    pad_id: i64,
    pad_type_id: i64,
    pad_token: Bytes,
    has_truncation: bool,
    has_padding: bool,
    truncate_left: bool,
    pad_left: bool,
}

#[repr(C)]
pub struct EncodeRequest {
    texts: *const Bytes,
    pairs: *const Bytes,
    batch: usize,
    max_length: u64,
    truncation: i32,
    threads: u32,
    truncate_left: bool,
    add_special_tokens: bool,
    offsets: bool,
}

#[repr(C)]
pub struct FillRequest {
    sequence: usize,
    pad_id: i64,
    pad_type_id: i64,
    pad_left: bool,
    input_ids: *mut i64,
    attention_mask: *mut i64,
    token_type_ids: *mut i64,
    special_tokens_mask: *mut i64,
    offsets: *mut [i64; 2],
}

/// Encoded rows before they are padded into one block.
pub struct Rows(Vec<Encoding>);

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_tokenizer_create(
    json: Bytes,
    lowercase: bool,
    out: *mut *mut BatchTokenizer,
    error: *mut Text,
) -> Status {
    // SAFETY: the header's contract for `json`, `out` and `error`.
    unsafe {
        guard(error, || {
            let made = BatchTokenizer::from_json(json.as_slice(), lowercase)?;
            ptr::write(out, Box::into_raw(Box::new(made)));
            Ok(())
        })
    }
}

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_tokenizer_destroy(
    tokenizer: *mut BatchTokenizer,
) {
    if !tokenizer.is_null() {
        // SAFETY: made by `modelrun_rust_tokenizer_create`, freed once.
        drop(unsafe { Box::from_raw(tokenizer) });
    }
}

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_tokenizer_baked_options(
    tokenizer: *const BatchTokenizer,
) -> BakedOptions {
    // SAFETY: the header's contract: a live tokenizer.
    let tokenizer = unsafe { &*tokenizer };
    let truncation = tokenizer.baked_truncation.as_ref();
    let padding = tokenizer.baked_padding.as_ref();
    let fixed = padding.and_then(|padding| match padding.strategy {
        PaddingStrategy::Fixed(length) => Some(length as i64),
        PaddingStrategy::BatchLongest => None,
    });
    let multiple = padding.and_then(|padding| padding.pad_to_multiple_of);
    BakedOptions {
        truncation_max_length: truncation
            .map_or(-1, |truncation| truncation.max_length as i64),
        padding_length: fixed.unwrap_or(-1),
        pad_to_multiple_of: multiple.map_or(-1, |multiple| multiple as i64),
        pad_id: padding.map_or(-1, |padding| padding.pad_id.into()),
        pad_type_id: padding.map_or(0, |padding| padding.pad_type_id.into()),
        pad_token: Bytes::lend(
            padding.map_or(&[], |padding| padding.pad_token.as_bytes()),
        ),
        has_truncation: truncation.is_some(),
        has_padding: padding.is_some(),
        truncate_left: truncation.is_some_and(|truncation| {
            truncation.direction == TruncationDirection::Left
        }),
        pad_left: padding.is_some_and(|padding| {
            matches!(padding.direction, PaddingDirection::Left)
        }),
    }
}

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_tokenizer_encode(
    tokenizer: *const BatchTokenizer,
    request: *const EncodeRequest,
    out: *mut *mut Rows,
    error: *mut Text,
) -> Status {
    // SAFETY: the header's contract for every pointer in the request.
    unsafe {
        guard(error, || {
            let request = &*request;
            let texts = utf8(lent(request.texts, request.batch), "text")?;
            let pairs = if request.pairs.is_null() {
                None
            } else {
                let pairs = lent(request.pairs, request.batch);
                Some(utf8(pairs, "text pair")?)
            };
            let options = encode_options(request)?;
            let rows =
                (*tokenizer).encode(&texts, pairs.as_deref(), &options)?;
            ptr::write(out, Box::into_raw(Box::new(Rows(rows))));
            Ok(())
        })
    }
}

/// Writes the token count of each row to `out`, which has `batch` places.
#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_rows_lengths(
    rows: *const Rows,
    out: *mut i64,
) {
    // SAFETY: the header's contract.
    unsafe {
        for (index, row) in (*rows).0.iter().enumerate() {
            ptr::write(out.add(index), row.len() as i64);
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_rows_fill(
    rows: *const Rows,
    request: *const FillRequest,
    error: *mut Text,
) -> Status {
    // SAFETY: the header's contract: arrays of `[batch, sequence]`.
    unsafe { guard(error, || fill(&(*rows).0, &*request)) }
}

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_rows_destroy(rows: *mut Rows) {
    if !rows.is_null() {
        // SAFETY: made by `modelrun_rust_tokenizer_encode`, freed once.
        drop(unsafe { Box::from_raw(rows) });
    }
}

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_tokenizer_decode(
    tokenizer: *const BatchTokenizer,
    ids: *const u32,
    count: usize,
    skip_special_tokens: bool,
    out: *mut Text,
    error: *mut Text,
) -> Status {
    // SAFETY: the header's contract.
    unsafe {
        guard(error, || {
            let ids = lent(ids, count);
            let text = (*tokenizer).decode(ids, skip_special_tokens)?;
            ptr::write(out, Text::from_string(text));
            Ok(())
        })
    }
}

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_tokenizer_token_to_id(
    tokenizer: *const BatchTokenizer,
    token: Bytes,
) -> i64 {
    // SAFETY: the header's contract.
    let (tokenizer, token) = unsafe { (&*tokenizer, token.as_slice()) };
    let id = str::from_utf8(token).ok().and_then(|t| tokenizer.token_to_id(t));
    id.map_or(-1, i64::from)
}

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_tokenizer_id_to_token(
    tokenizer: *const BatchTokenizer,
    id: u32,
    out: *mut Text,
) -> bool {
    // SAFETY: the header's contract.
    unsafe {
        let Some(token) = (*tokenizer).id_to_token(id) else {
            return false;
        };
        ptr::write(out, Text::from_string(token));
        true
    }
}

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_tokenizer_vocab_size(
    tokenizer: *const BatchTokenizer,
) -> usize {
    // SAFETY: the header's contract.
    unsafe { (*tokenizer).vocab_size() }
}

#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_tokenizer_is_bpe(
    tokenizer: *const BatchTokenizer,
) -> bool {
    // SAFETY: the header's contract.
    unsafe { (*tokenizer).is_bpe() }
}

unsafe fn utf8<'a>(texts: &[Bytes], what: &str) -> Outcome<Vec<&'a str>> {
    let one = |(index, text): (usize, &Bytes)| {
        // SAFETY: the header's contract for the texts of a request.
        let bytes = unsafe { text.as_slice() };
        str::from_utf8(bytes).map_err(|error| {
            invalid(format!(
                "{what} {index} is not valid UTF-8 at byte {}",
                error.valid_up_to()
            ))
        })
    };
    texts.iter().enumerate().map(one).collect()
}

fn encode_options(request: &EncodeRequest) -> Outcome<EncodeOptions> {
    let strategy = match request.truncation {
        0 => None,
        1 => Some(TruncationStrategy::LongestFirst),
        2 => Some(TruncationStrategy::OnlyFirst),
        3 => Some(TruncationStrategy::OnlySecond),
        other => return Err(invalid(format!("unknown truncation {other}"))),
    };
    let direction = if request.truncate_left {
        TruncationDirection::Left
    } else {
        TruncationDirection::Right
    };
    Ok(EncodeOptions {
        add_special_tokens: request.add_special_tokens,
        truncation: strategy.map(|strategy| TruncationParams {
            direction,
            max_length: request.max_length as usize,
            strategy,
            stride: 0,
        }),
        offsets: request.offsets,
        threads: NonZeroUsize::new(request.threads as usize)
            .unwrap_or(NonZeroUsize::MIN),
    })
}

/// # Safety
/// The arrays of the request are null or hold `[rows, sequence]` elements.
unsafe fn fill(rows: &[Encoding], request: &FillRequest) -> Outcome<()> {
    let sequence = request.sequence;
    if let Some(long) = rows.iter().position(|row| row.len() > sequence) {
        return Err(invalid(format!("row {long} is longer than {sequence}")));
    }
    // SAFETY: the caller's promise above.
    unsafe {
        let to = Target { rows, sequence, left: request.pad_left };
        let wide = |ids: &[u32], index: usize| i64::from(ids[index]);
        to.write(request.input_ids, request.pad_id, |row, index| {
            wide(row.get_ids(), index)
        });
        to.write(request.attention_mask, 0, |row, index| {
            wide(row.get_attention_mask(), index)
        });
        to.write(request.token_type_ids, request.pad_type_id, |row, index| {
            wide(row.get_type_ids(), index)
        });
        to.write(request.special_tokens_mask, 1, |row, index| {
            wide(row.get_special_tokens_mask(), index)
        });
        to.write(request.offsets, [0, 0], |row, index| {
            let (begin, end) = row.get_offsets()[index];
            [begin as i64, end as i64]
        });
    }
    Ok(())
}

struct Target<'a> {
    rows: &'a [Encoding],
    sequence: usize,
    left: bool,
}

impl Target<'_> {
    /// # Safety
    /// `out` is null or holds `[rows, sequence]` writable elements.
    unsafe fn write<T: Copy>(
        &self,
        out: *mut T,
        pad: T,
        value: impl Fn(&Encoding, usize) -> T,
    ) {
        if out.is_null() || self.sequence == 0 || self.rows.is_empty() {
            return;
        }
        let count = self.rows.len() * self.sequence;
        // SAFETY: the caller's promise above; the caller initialised it.
        let out = unsafe { slice::from_raw_parts_mut(out, count) };
        out.fill(pad);
        for (row, out) in self.rows.iter().zip(out.chunks_mut(self.sequence)) {
            let begin = if self.left { self.sequence - row.len() } else { 0 };
            for index in 0..row.len() {
                out[begin + index] = value(row, index);
            }
        }
    }
}
