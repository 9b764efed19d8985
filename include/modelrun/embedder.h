// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "modelrun/exported_model.h"
#include "modelrun/tensor.h"

namespace modelrun {

/// How texts are embedded.
struct EmbedOptions {
  /// Texts in one call of the model. Texts are sorted by length first, so that
  /// a batch is padded little.
  int batch_size = 32;
  /// Called after each batch with the number of texts done and of all.
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

/// Turns texts into vectors, as sentence-transformers does.
///
/// Reads an export with its tokenizer and, where they are, the
/// sentence-transformers configs beside it: pooling, normalization, maximum
/// length and default prompt. Without a `modules.json` the mean of the token
/// embeddings is taken and not normalized, as sentence-transformers does with a
/// bare transformer. An output `sentence_embedding` is taken as it is.
///
/// ```
/// auto embedder = Embedder::from_pretrained("all-MiniLM-L6-v2");
/// Tensor vectors = embedder({"a cat", "a dog"});  // [2, 384]
/// ```
///
/// A handle that is cheap to copy. Thread-safe.
class Embedder {
 public:
  /// `path` is a directory, or a program file in one or in its `onnx` folder.
  /// Throws as `ExportedModel::from_pretrained` and
  /// `Tokenizer::from_pretrained` do, and Unsupported for a module of
  /// sentence-transformers that modelrun does not run.
  static Embedder from_pretrained(const std::filesystem::path& path,
                                  const LoadOptions& options = {});

  /// The vectors of `texts`, float32 `[texts, dimension]`, in their order.
  /// Throws InvalidArgument for text that is not UTF-8, and for a model whose
  /// outputs hold no token embeddings.
  [[nodiscard]] Tensor operator()(std::span<const std::string> texts,
                                  const EmbedOptions& options = {}) const;
  [[nodiscard]] Tensor operator()(std::initializer_list<std::string> texts,
                                  const EmbedOptions& options = {}) const {
    return (*this)(std::span(texts.begin(), texts.size()), options);
  }

  /// The longest text that is read, in tokens; what is past it is cut off. The
  /// largest number there is when nothing says.
  [[nodiscard]] std::int64_t max_length() const noexcept;
  [[nodiscard]] const ExportedModel& model() const noexcept;

 private:
  struct State;
  explicit Embedder(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

/// The cosine of every pair of rows: float32 `[a rows, b rows]` from two
/// float32 tensors `[rows, dimension]`. A row of zeros has a cosine of 0.
/// Throws InvalidArgument for other dtypes and shapes.
[[nodiscard]] Tensor cosine_similarity(const Tensor& a, const Tensor& b);

}  // namespace modelrun
