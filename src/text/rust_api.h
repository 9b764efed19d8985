// SPDX-License-Identifier: Apache-2.0
// The C ABI of the Rust library: the twin of rust/src/ffi.rs and
// rust/src/tokenizer_ffi.rs. Pointers are valid for one call unless stated;
// a pointer to zero elements may be null.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

enum modelrun_rust_status : int32_t {
  modelrun_rust_ok = 0,
  modelrun_rust_invalid_argument = 1,
  modelrun_rust_failed = 2,
};

// Borrowed bytes; texts need no terminator and may hold NUL.
struct modelrun_rust_bytes {
  const uint8_t* data;
  size_t size;
};

// An owned text, to be given to modelrun_rust_text_destroy; zero is empty.
struct modelrun_rust_text {
  char* data;
  size_t size;
};

void modelrun_rust_text_destroy(modelrun_rust_text text);

struct modelrun_rust_tokenizer;
struct modelrun_rust_rows;

// Reads the bytes of a tokenizer.json. `lowercase` puts a lowercasing step
// before the normalizer unless it has one. The tokenizer is immutable and
// serves any number of threads.
modelrun_rust_status modelrun_rust_tokenizer_create(
    modelrun_rust_bytes json, bool lowercase, modelrun_rust_tokenizer** out,
    modelrun_rust_text* error);
void modelrun_rust_tokenizer_destroy(modelrun_rust_tokenizer* tokenizer);

// What tokenizer.json itself asks for; no call applies it. -1 is absent (a
// `padding_length` of -1 with `has_padding` is "longest"). `pad_token` lives
// as long as the tokenizer.
struct modelrun_rust_baked_options {
  int64_t truncation_max_length;
  int64_t padding_length;
  int64_t pad_to_multiple_of;
  int64_t pad_id;
  int64_t pad_type_id;
  modelrun_rust_bytes pad_token;
  bool has_truncation;
  bool has_padding;
  bool truncate_left;
  bool pad_left;
};
modelrun_rust_baked_options modelrun_rust_tokenizer_baked_options(
    const modelrun_rust_tokenizer* tokenizer);

struct modelrun_rust_encode_request {
  const modelrun_rust_bytes* texts;  // [batch]
  const modelrun_rust_bytes* pairs;  // [batch], or null for single texts
  size_t batch;
  uint64_t max_length;  // tokens, special ones included; see `truncation`
  int32_t truncation;   // 0 none, 1 longest first, 2 only first, 3 second
  uint32_t threads;     // at most this many, the caller's included
  bool truncate_left;
  bool add_special_tokens;
  bool offsets;  // byte offsets are computed; else they are all zero
};
modelrun_rust_status modelrun_rust_tokenizer_encode(
    const modelrun_rust_tokenizer* tokenizer,
    const modelrun_rust_encode_request* request, modelrun_rust_rows** out,
    modelrun_rust_text* error);

// The token count of each row.
void modelrun_rust_rows_lengths(const modelrun_rust_rows* rows,
                                int64_t* out /* [batch] */);

// Arrays are initialised, [batch, sequence], or null when not wanted.
struct modelrun_rust_fill_request {
  size_t sequence;  // at least the longest row
  int64_t pad_id;
  int64_t pad_type_id;
  bool pad_left;
  int64_t* input_ids;
  int64_t* attention_mask;
  int64_t* token_type_ids;
  int64_t* special_tokens_mask;
  int64_t (*offsets)[2];
};
modelrun_rust_status modelrun_rust_rows_fill(
    const modelrun_rust_rows* rows, const modelrun_rust_fill_request* request,
    modelrun_rust_text* error);
void modelrun_rust_rows_destroy(modelrun_rust_rows* rows);

// Ids that the vocabulary lacks are left out.
modelrun_rust_status modelrun_rust_tokenizer_decode(
    const modelrun_rust_tokenizer* tokenizer, const uint32_t* ids, size_t count,
    bool skip_special_tokens, modelrun_rust_text* out,
    modelrun_rust_text* error);

// -1 when the vocabulary lacks it.
int64_t modelrun_rust_tokenizer_token_to_id(
    const modelrun_rust_tokenizer* tokenizer, modelrun_rust_bytes token);
// False, and nothing written, when the vocabulary lacks it.
bool modelrun_rust_tokenizer_id_to_token(
    const modelrun_rust_tokenizer* tokenizer, uint32_t id,
    modelrun_rust_text* out);
size_t modelrun_rust_tokenizer_vocab_size(
    const modelrun_rust_tokenizer* tokenizer);
bool modelrun_rust_tokenizer_is_bpe(const modelrun_rust_tokenizer* tokenizer);

}  // extern "C"
