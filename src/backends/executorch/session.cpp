// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/session.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "backends/common/option_reader.h"
#include "backends/executorch/api.h"
#include "backends/executorch/error_words.h"
#include "backends/executorch/scalar.h"

namespace modelrun::executorch {
namespace {

using Json = nlohmann::json;

/// What bounds the ports whose shapes may vary.
Json bounds_of(const std::vector<modelrun_port>& ports,
               const std::vector<PortFacts>& facts) {
  Json bounds = Json::object();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (facts[i].is_static || !facts[i].is_bounded) continue;
    bounds[ports[i].name] = facts[i].bounds;
  }
  return bounds;
}

}  // namespace

Session::Session(std::shared_ptr<Runtime> runtime, const std::string& path,
                 const Options& options)
    : runtime_(std::move(runtime)),
      program_(path),
      threads_(runtime_->threads().use(options.threads)) {
  try {
    runtime_->provide(program_.plan());
  } catch (const Failure& failure) {
    throw Failure(failure.status(),
                  "loading '" + path + "': " + failure.what());
  }
  first_method_ = load_method();
  signature_ = std::make_unique<const Signature>(program_, *first_method_);
  check_constants(options);
  set_scalars(*first_method_);
}

std::unique_ptr<LoadedMethod> Session::load_method() const {
  // A delegate takes the threads that there are when it is made.
  const auto scope = use_threads();
  return std::make_unique<LoadedMethod>(program_);
}

std::unique_ptr<LoadedMethod> Session::make_method() const {
  {
    const std::lock_guard lock(mutex_);
    if (first_method_ != nullptr) return std::move(first_method_);
  }
  auto method = load_method();
  set_scalars(*method);
  return method;
}

void Session::check_constants(const Options& options) const {
  const auto& scalars = signature_->scalars();
  for (const auto& [position, given] : options.in_constants) {
    if (std::find(scalars.begin(), scalars.end(), position) == scalars.end()) {
      const bool is_input = position < program_.meta().num_inputs();
      throw Failure(
          MODELRUN_INVALID_ARGUMENT,
          "executorch option 'in_constants': input '#" +
              std::to_string(position) + "' of '" + program_.path() +
              "' cannot be " + plugin::shown_json(given) + ": " +
              (is_input ? "it takes a tensor"
                        : "the program has " +
                              std::to_string(program_.meta().num_inputs()) +
                              " inputs"));
    }
    check_scalar(position, first_method_->input(position), given);
  }
}

void Session::set_scalars(LoadedMethod& method) const {
  LogCapture log;
  for (const std::size_t position : signature_->scalars()) {
    // The one that a slot takes is the one that is in the program.
    const et::EValue value = method.input(position);
    if (value.isNone()) continue;
    check(method.handle().set_input(value, position),
          "setting '#" + std::to_string(position) + "'", log);
  }
}

nlohmann::json Session::describe() const {
  const auto& signature = *signature_;
  Json bounds = {
      {"inputs", bounds_of(signature.inputs(), signature.input_facts())},
      {"outputs", bounds_of(signature.outputs(), signature.output_facts())}};
  // The dtypes of the program are what is computed with: no option of this
  // plugin changes them.
  return Json{{"device", "cpu"},
              {"threads", threads_},
              {"precision", "export"},
              {"method", program_.method()},
              {"delegates", program_.plan().backends},
              {"upper_bounds", std::move(bounds)}};
}

}  // namespace modelrun::executorch
