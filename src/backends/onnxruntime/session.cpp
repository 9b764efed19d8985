// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/session.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "backends/onnxruntime/device.h"

namespace modelrun::onnxruntime {
namespace {

Handle<OrtSessionOptions> make_session_options(const Runtime& runtime,
                                               const Options& options) {
  const OrtApi& api = runtime.api();
  OrtSessionOptions* raw = nullptr;
  runtime.check(api.CreateSessionOptions(&raw), "creating session options");
  Handle<OrtSessionOptions> made(raw, api.ReleaseSessionOptions);
  // A number that is given keeps the runtime from pinning its threads, which
  // fails in containers.
  runtime.check(api.SetIntraOpNumThreads(raw, options.threads),
                "setting the threads");
  // The runtime's default is to let waiting threads spin. On two cores that
  // others used too, a sentence of 128 tokens (MiniLM, int8) took 280 ms and
  // 82 ms of CPU that way, and 140 ms and 43 ms without; under a CPU quota it
  // is time that the process is then refused.
  runtime.check(api.AddSessionConfigEntry(raw, "session.intra_op.allow_spinning",
                                          "0"),
                "setting how threads wait");
  runtime.check(
      api.SetSessionGraphOptimizationLevel(raw, options.optimization),
      "setting the optimization level");
  return made;
}

}  // namespace

Session::Session(std::shared_ptr<const Runtime> runtime,
                 const std::string& path, const Options& options)
    : runtime_(std::move(runtime)),
      options_(options),
      session_(nullptr, runtime_->api().ReleaseSession) {
  const auto made = make_session_options(*runtime_, options_);
  provider_ = use_device(*runtime_, options_.device, made.get());
  OrtSession* session = nullptr;
  runtime_->check(
      runtime_->api().CreateSession(runtime_->environment(), path.c_str(),
                                    made.get(), &session),
      "loading '" + path + "'");
  session_.reset(session);
  signature_ = std::make_unique<const Signature>(*runtime_, session);
  for (const auto& port : signature_->inputs()) {
    input_names_.push_back(port.name);
  }
  for (const auto& port : signature_->outputs()) {
    output_names_.push_back(port.name);
  }
  find_passed_through();
}

void Session::find_passed_through() {
  std::unordered_map<std::string_view, std::size_t> inputs;
  for (const char* name : input_names_) inputs.emplace(name, inputs.size());
  for (std::size_t i = 0; i < output_names_.size(); ++i) {
    const auto found = inputs.find(output_names_[i]);
    if (found != inputs.end()) passed_through_.push_back({i, found->second});
  }
}

std::string Session::describe() const {
  // The dtypes of the program are what is computed with: no option of this
  // plugin changes them.
  return nlohmann::json{{"device", options_.device},
                        {"threads", options_.threads},
                        {"precision", "export"},
                        {"provider", provider_}}
      .dump();
}

}  // namespace modelrun::onnxruntime
