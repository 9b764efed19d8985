// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modelrun/error.h"
#include "modelrun/exported_model.h"
#include "modelrun/log.h"
#include "support/golden.h"

namespace modelrun::testing {

/// Opens a committed ONNX export by its name.
[[nodiscard]] inline ExportedModel open_export(
    const std::string& name, const LoadOptions& options = {}) {
  return ExportedModel::from_pretrained(fixture(name).path, options);
}

/// A hand-made graph of the fixtures.
[[nodiscard]] inline std::filesystem::path graph_file(const std::string& name) {
  return std::filesystem::path(MODELRUN_TEST_MODELS) / "graphs" / name;
}
[[nodiscard]] inline ExportedModel open_graph(const std::string& name) {
  return ExportedModel::from_pretrained(graph_file(name));
}

/// The kwargs of a golden case.
[[nodiscard]] inline NamedValues kwargs_of(const std::string& name,
                                           const std::string& case_name) {
  for (const GoldenCase& golden : fixture(name).cases) {
    if (golden.name == case_name) {
      return nested_kwargs(load_golden(golden.inputs));
    }
  }
  throw std::runtime_error("no case " + case_name + " of " + name);
}

/// The kwargs with one more, or with another value for one.
[[nodiscard]] inline NamedValues with(NamedValues kwargs,
                                      const std::string& name,
                                      const Value& value) {
  for (auto& [key, old] : kwargs) {
    if (key != name) continue;
    old = value;
    return kwargs;
  }
  kwargs.emplace_back(name, value);
  return kwargs;
}
[[nodiscard]] inline NamedValues without(NamedValues kwargs,
                                         const std::string& name) {
  std::erase_if(kwargs, [&](const auto& entry) { return entry.first == name; });
  return kwargs;
}
[[nodiscard]] inline const Tensor& tensor_of(const NamedValues& kwargs,
                                             std::string_view name) {
  for (const auto& [key, value] : kwargs) {
    if (key == name) return value.tensor();
  }
  throw std::runtime_error("no kwarg " + std::string(name));
}

[[nodiscard]] inline Outputs call(const ExportedModel& model,
                                  const NamedValues& kwargs,
                                  const CallOptions& options = {}) {
  return model(as_kwargs(kwargs), options);
}

[[nodiscard]] inline Tensor int64s(const Shape& shape, std::int64_t value) {
  Tensor tensor = Tensor::empty(DType::int64, shape);
  for (std::int64_t& element : tensor.data<std::int64_t>()) element = value;
  return tensor;
}

/// Token ids that differ from one another, below 60.
[[nodiscard]] inline Tensor token_ids(const Shape& shape,
                                      std::int64_t seed = 0) {
  Tensor tensor = Tensor::empty(DType::int64, shape);
  std::int64_t next = seed;
  for (std::int64_t& element : tensor.data<std::int64_t>()) {
    element = 5 + (next * 17 + next / 7) % 55;
    ++next;
  }
  return tensor;
}

/// The message of the exception that `body` throws.
template <typename E, typename Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}
template <typename E = InvalidArgument>
std::string refusal(const ExportedModel& model, const NamedValues& kwargs) {
  return message_of<E>([&] { (void)call(model, kwargs); });
}
template <typename E = InvalidArgument>
std::string load_refusal(const std::filesystem::path& path,
                         const LoadOptions& options = {}) {
  return message_of<E>(
      [&] { (void)ExportedModel::from_pretrained(path, options); });
}

/// The warnings of the library while this object lives.
class Warnings {
 public:
  Warnings() {
    set_log_callback([this](LogLevel, std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    });
  }
  ~Warnings() { set_log_callback({}); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;

  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace modelrun::testing
