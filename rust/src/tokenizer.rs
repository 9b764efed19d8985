// SPDX-License-Identifier: Apache-2.0
//! A tokenizer whose truncation and padding are options of each call.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokenizers::normalizers::{Lowercase, Sequence};
use tokenizers::utils::padding::PaddingParams;
use tokenizers::utils::truncation::{truncate_encodings, TruncationParams};
use tokenizers::{
    Encoding, NormalizerWrapper, PostProcessor, PostProcessorWrapper, Tokenizer,
};

use crate::ffi::{failed, invalid, Failure, Outcome};

/// Texts that one thread takes at a time; fewer are not worth a thread.
const BLOCK: usize = 32;

/// What one call to `BatchTokenizer::encode` is to do.
pub struct EncodeOptions {
    pub add_special_tokens: bool,
    pub truncation: Option<TruncationParams>,
    pub offsets: bool,
    pub threads: NonZeroUsize,
}

/// An immutable tokenizer: one serves any number of threads.
pub struct BatchTokenizer {
    /// Without the post-processor, truncation and padding of the file.
    inner: Tokenizer,
    post_processor: Option<PostProcessorWrapper>,
    pub baked_truncation: Option<TruncationParams>,
    pub baked_padding: Option<PaddingParams>,
}

impl BatchTokenizer {
    /// Reads a `tokenizer.json`. `lowercase` puts a lowercasing step before
    /// its normalizer unless it has one.
    pub fn from_json(json: &[u8], lowercase: bool) -> Outcome<Self> {
        let mut inner = Tokenizer::from_bytes(json)
            .map_err(|error| invalid(error.to_string()))?;
        let tokenizer = BatchTokenizer {
            post_processor: inner.get_post_processor().cloned(),
            baked_truncation: inner.get_truncation().cloned(),
            baked_padding: inner.get_padding().cloned(),
            inner: {
                inner.with_post_processor(None::<PostProcessorWrapper>);
                inner.with_truncation(None).map_err(failed)?;
                inner.with_padding(None);
                if lowercase {
                    prepend_lowercase(&mut inner)?;
                }
                inner
            },
        };
        Ok(tokenizer)
    }

    /// Encodes each text, with its pair where `pairs` is given.
    pub fn encode(
        &self,
        texts: &[&str],
        pairs: Option<&[&str]>,
        options: &EncodeOptions,
    ) -> Outcome<Vec<Encoding>> {
        let one = |index: usize| {
            let pair = pairs.map(|pairs| pairs[index]);
            self.encode_one(texts[index], pair, options).map_err(|failure| {
                let message = format!("text {index}: {}", failure.message);
                Failure { message, ..failure }
            })
        };
        let blocks = texts.len().div_ceil(BLOCK);
        let threads = options.threads.get().min(blocks);
        if threads <= 1 {
            return (0..texts.len()).map(one).collect();
        }
        in_parallel(texts.len(), threads, &one)
    }

    pub fn decode(&self, ids: &[u32], skip_special: bool) -> Outcome<String> {
        self.inner.decode(ids, skip_special).map_err(failed)
    }

    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    pub fn id_to_token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }

    pub fn vocab_size(&self) -> usize {
        self.inner.get_vocab_size(true)
    }

    pub fn is_bpe(&self) -> bool {
        matches!(self.inner.get_model(), tokenizers::ModelWrapper::BPE(_))
    }

    fn encode_one(
        &self,
        text: &str,
        pair: Option<&str>,
        options: &EncodeOptions,
    ) -> Outcome<Encoding> {
        let tokens = |text: &str| {
            let encoded = if options.offsets {
                self.inner.encode(text, false)
            } else {
                self.inner.encode_fast(text, false)
            };
            encoded.map_err(failed)
        };
        let mut first = tokens(text)?;
        let mut second = pair.map(tokens).transpose()?;
        // As when the tokenizer encodes both itself.
        if let Some(second) = &mut second {
            second.set_type_ids(vec![1; second.len()]);
        }
        if let Some(truncation) = &options.truncation {
            let special = options.add_special_tokens;
            (first, second) =
                self.truncate(first, second, truncation, special)?;
        }
        match &self.post_processor {
            Some(processor) => processor
                .process(first, second, options.add_special_tokens)
                .map_err(failed),
            None => Ok(join(first, second)),
        }
    }

    fn truncate(
        &self,
        first: Encoding,
        second: Option<Encoding>,
        truncation: &TruncationParams,
        add_special_tokens: bool,
    ) -> Outcome<(Encoding, Option<Encoding>)> {
        let special = match &self.post_processor {
            Some(processor) if add_special_tokens => {
                processor.added_tokens(second.is_some())
            }
            _ => 0,
        };
        let wanted = truncation.max_length;
        let Some(max_length) = wanted.checked_sub(special) else {
            return Err(invalid(format!(
                "max_length {wanted} leaves no room for the {special} special \
                 tokens; raise it or set add_special_tokens to false"
            )));
        };
        let params = TruncationParams { max_length, ..truncation.clone() };
        let (mut first, mut second) =
            truncate_encodings(first, second, &params)
                .map_err(|error| invalid(error.to_string()))?;
        // The cut-off rest would be post-processed too, for nothing.
        first.take_overflowing();
        if let Some(second) = &mut second {
            second.take_overflowing();
        }
        Ok((first, second))
    }
}

fn join(mut first: Encoding, second: Option<Encoding>) -> Encoding {
    let Some(mut second) = second else {
        return first;
    };
    first.set_sequence_id(0);
    second.set_sequence_id(1);
    Encoding::merge([first, second], false)
}

fn prepend_lowercase(tokenizer: &mut Tokenizer) -> Outcome<()> {
    let lowers = |normalizer: &NormalizerWrapper| {
        matches!(normalizer, NormalizerWrapper::Lowercase(_))
    };
    let mut steps = match tokenizer.get_normalizer().cloned() {
        Some(NormalizerWrapper::Sequence(steps)) => {
            steps.into_iter().collect::<Vec<_>>()
        }
        Some(step) => vec![step],
        None => Vec::new(),
    };
    if steps.iter().any(lowers) {
        return Ok(());
    }
    steps.insert(0, Lowercase.into());
    tokenizer.with_normalizer(Some(Sequence::new(steps))).map_err(failed)?;
    Ok(())
}

/// Blocks of texts taken in turn by threads that end with the call: no pool
/// outlives it, so a process may fork between calls.
fn in_parallel<F>(
    count: usize,
    threads: usize,
    one: &F,
) -> Outcome<Vec<Encoding>>
where
    F: Fn(usize) -> Outcome<Encoding> + Sync,
{
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let begin = next.fetch_add(BLOCK, Ordering::Relaxed);
            if begin >= count {
                return done;
            }
            let end = (begin + BLOCK).min(count);
            let block = (begin..end).map(one).collect::<Outcome<Vec<_>>>();
            done.push((begin, block));
        }
    };
    let mut blocks = thread::scope(|scope| {
        let started = (1..threads)
            .map(|_| thread::Builder::new().spawn_scoped(scope, work))
            .collect::<Vec<_>>();
        let mut blocks = work();
        // A thread that could not start leaves its share to the others.
        for handle in started.into_iter().flatten() {
            match handle.join() {
                Ok(done) => blocks.extend(done),
                Err(payload) => resume_unwind(payload),
            }
        }
        blocks
    });
    blocks.sort_by_key(|(begin, _)| *begin);
    let mut rows = Vec::with_capacity(count);
    for (_, block) in blocks {
        rows.extend(block?);
    }
    Ok(rows)
}
