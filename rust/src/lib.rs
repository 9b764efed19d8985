// SPDX-License-Identifier: Apache-2.0
//! The crates that modelrun uses, behind one C ABI.
//!
//! The C side is `src/text/rust_api.h`; the two are changed together. No
//! panic and no Rust type crosses, and nothing is printed.
#![deny(unsafe_op_in_unsafe_fn)]

mod ffi;
mod tokenizer;
mod tokenizer_ffi;
