// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/session.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "backends/onnxruntime/device.h"
#include "backends/onnxruntime/foreign_operators.h"
#include "backends/onnxruntime/linked_weights.h"

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
  runtime.check(
      api.AddSessionConfigEntry(raw, "session.intra_op.allow_spinning", "0"),
      "setting how threads wait");
  runtime.check(api.SetSessionGraphOptimizationLevel(raw, options.optimization),
                "setting the optimization level");
  if (!options.custom_op_library.empty()) {
    // A bare name would be looked for among the system's libraries.
    const std::string library =
        std::filesystem::absolute(options.custom_op_library).string();
    runtime.check(api.RegisterCustomOpsLibrary_V2(raw, library.c_str()),
                  "taking the custom operators of '" + library + "'");
  }
  return made;
}

// Whether the runtime did not open a weight file for where it lies.
bool refuses_place(const OrtApi& api, const OrtStatus* status) {
  return status != nullptr &&
         std::string_view(api.GetErrorMessage(status))
                 .find("External data path") != std::string_view::npos;
}

Handle<OrtSession> create_session(const Runtime& runtime,
                                  const std::string& path,
                                  OrtSessionOptions* options,
                                  bool has_custom_operators) {
  const OrtApi& api = runtime.api();
  OrtSession* session = nullptr;
  OrtStatus* status =
      api.CreateSession(runtime.environment(), path.c_str(), options, &session);
  const std::string doing = "loading '" + path + "'";
  if (refuses_place(api, status)) {
    Handle<OrtStatus> refusal(status, api.ReleaseStatus);
    const LinkedWeights weights(path);
    if (weights.empty()) runtime.check(refusal.release(), doing);
    weights.add_to(runtime, options);
    status = api.CreateSession(runtime.environment(), path.c_str(), options,
                               &session);
  }
  // A library that the caller named has said itself what it lacks.
  if (status != nullptr && !has_custom_operators) {
    const std::string foreign = foreign_operators(path);
    if (!foreign.empty()) {
      const Handle<OrtStatus> refusal(status, api.ReleaseStatus);
      throw Failure(MODELRUN_UNSUPPORTED,
                    "ONNX Runtime " + runtime.version() + ", " + doing +
                        ": it does not have the operators " + foreign +
                        ", which no standard defines: name the library "
                        "that has them by the option custom_op_library, or "
                        "export the model without them (it says: " +
                        api.GetErrorMessage(status) + ")");
    }
  }
  runtime.check(status, doing);
  return {session, api.ReleaseSession};
}

}  // namespace

Session::Session(std::shared_ptr<const Runtime> runtime,
                 const std::string& path, const Options& options)
    : runtime_(std::move(runtime)),
      options_(options),
      session_(nullptr, runtime_->api().ReleaseSession) {
  const auto made = make_session_options(*runtime_, options_);
  provider_ = use_device(*runtime_, options_.device, made.get());
  session_ = create_session(*runtime_, path, made.get(),
                            !options_.custom_op_library.empty());
  signature_ = std::make_unique<const Signature>(*runtime_, session_.get());
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

nlohmann::json Session::describe() const {
  // The dtypes of the program are what is computed with: no option of this
  // plugin changes them.
  return nlohmann::json{{"device", options_.device},
                        {"threads", options_.threads},
                        {"precision", "export"},
                        {"provider", provider_}};
}

}  // namespace modelrun::onnxruntime
