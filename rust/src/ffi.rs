// SPDX-License-Identifier: Apache-2.0
//! What every entry of the C ABI shares: status, texts, and the guard.

use std::any::Any;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::Once;
use std::{ptr, slice};

/// How a call ended; the values are those of `modelrun_rust_status`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok = 0,
    InvalidArgument = 1,
    Failed = 2,
}

/// Why a call failed, in words for the caller.
#[derive(Debug)]
pub struct Failure {
    pub status: Status,
    pub message: String,
}

pub type Outcome<T> = Result<T, Failure>;

/// The caller gave something that cannot be accepted.
pub fn invalid(message: impl Into<String>) -> Failure {
    Failure { status: Status::InvalidArgument, message: message.into() }
}

/// A crate failed on an input that looked right.
pub fn failed(message: impl ToString) -> Failure {
    Failure { status: Status::Failed, message: message.to_string() }
}

/// Bytes lent by the caller for the length of one call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    data: *const u8,
    size: usize,
}

impl Bytes {
    pub fn lend(bytes: &[u8]) -> Self {
        Bytes { data: bytes.as_ptr(), size: bytes.len() }
    }

    /// # Safety
    /// `data` points to `size` readable bytes, or `size` is 0.
    pub unsafe fn as_slice<'a>(&self) -> &'a [u8] {
        // SAFETY: the caller's promise above.
        unsafe { lent(self.data, self.size) }
    }
}

/// A text owned by the caller, who gives it back to
/// `modelrun_rust_text_destroy`. It may hold NUL and is not terminated.
#[repr(C)]
pub struct Text {
    data: *mut u8,
    size: usize,
}

impl Text {
    pub fn from_string(text: String) -> Self {
        let bytes = text.into_bytes().into_boxed_slice();
        let size = bytes.len();
        Text { data: Box::into_raw(bytes).cast(), size }
    }
}

/// A slice that C lends: a null pointer is allowed when it is empty.
///
/// # Safety
/// `data` points to `size` readable elements, or `size` is 0.
pub unsafe fn lent<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise above.
    unsafe { slice::from_raw_parts(data, size) }
}

/// Runs the body of an entry: a failure or a panic becomes a status and a
/// text in `error`.
///
/// # Safety
/// `error` is null or points to a writable `Text`.
pub unsafe fn guard(
    error: *mut Text,
    body: impl FnOnce() -> Outcome<()>,
) -> Status {
    silence_panics();
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => failure,
        Err(payload) => failed(panic_message(payload.as_ref())),
    };
    if !error.is_null() {
        // SAFETY: the caller's promise above.
        unsafe { ptr::write(error, Text::from_string(failure.message)) };
    }
    failure.status
}

// The default hook prints to stderr, which belongs to the program.
fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_hook(Box::new(|_| {})));
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let words = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!("panic: {words}")
}

/// Frees a text of this library; an empty one is allowed.
///
/// # Safety
/// `text` is zero, or came from this library and was not freed before.
#[no_mangle]
pub unsafe extern "C" fn modelrun_rust_text_destroy(text: Text) {
    if !text.data.is_null() {
        let bytes = ptr::slice_from_raw_parts_mut(text.data, text.size);
        // SAFETY: made by `Text::from_string` from a box of this size.
        drop(unsafe { Box::from_raw(bytes) });
    }
}
