// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "backends/onnxruntime/options.h"
#include "backends/onnxruntime/runtime.h"
#include "backends/onnxruntime/signature.h"

namespace modelrun::onnxruntime {

/// One loaded program. Immutable; any number of threads may run it.
class Session {
 public:
  Session(std::shared_ptr<const Runtime> runtime, const std::string& path,
          const Options& options);

  [[nodiscard]] const std::shared_ptr<const Runtime>& runtime() const noexcept {
    return runtime_;
  }
  [[nodiscard]] OrtSession* handle() const noexcept { return session_.get(); }
  [[nodiscard]] const Signature& signature() const noexcept {
    return *signature_;
  }
  /// In the signature's order, as the runtime wants them for each run.
  [[nodiscard]] const char* const* input_names() const noexcept {
    return input_names_.data();
  }
  [[nodiscard]] const char* const* output_names() const noexcept {
    return output_names_.data();
  }
  /// An output that is an input, under the one name of both.
  struct PassedThrough {
    std::size_t output;
    std::size_t input;
  };
  [[nodiscard]] const std::vector<PassedThrough>& passed_through()
      const noexcept {
    return passed_through_;
  }
  [[nodiscard]] nlohmann::json describe() const;

 private:
  void find_passed_through();

  std::shared_ptr<const Runtime> runtime_;
  Options options_;
  std::string provider_;
  Handle<OrtSession> session_;
  std::unique_ptr<const Signature> signature_;
  std::vector<const char*> input_names_;
  std::vector<const char*> output_names_;
  std::vector<PassedThrough> passed_through_;
};

}  // namespace modelrun::onnxruntime
