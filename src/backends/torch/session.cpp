// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/session.h"

#include <c10/core/InferenceMode.h>

#include <utility>

#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "backends/common/log_hosts.h"
#include "backends/torch/program_reader.h"
#include "core/usable_cores.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

c10::Device checked_device(const std::string& name) {
  for (const std::string& known : device_names()) {
    if (name == known) return c10::Device(name);
  }
  throw Unsupported("torch option 'device': cannot run on " + printable(name) +
                    ", expected 'cpu': this plugin opens the CPU part of torch "
                    "only");
}

Program read_in_inference_mode(const Archive& archive, c10::Device device,
                               const Options& options) {
  if (archive.holds_compiled_code() && !options.allow_native_code) {
    throw Unsupported(archive.file() +
                      ": holds native code, which is run when it is opened: "
                      "give the option allow_native_code=true if you trust "
                      "where it comes from");
  }
  const c10::InferenceMode inference;
  return read_program(archive, device, options.in_constants);
}

}  // namespace

std::vector<std::string> device_names() { return {"cpu"}; }

Session::Session(const std::string& path, Options options)
    : options_(std::move(options)),
      device_(checked_device(options_.device)),
      archive_(path),
      program_(read_in_inference_mode(archive_, device_, options_)),
      signature_(program_) {
  if (archive_.holds_compiled_code()) {
    code_ = std::make_unique<const CompiledCode>(archive_, usable_cores());
  }
  for (const std::string& guard : program_.unread_guards) {
    plugin::log_to_host(MODELRUN_LOG_WARNING,
                        archive_.file() +
                            ": this condition on its inputs "
                            "cannot be checked outside of Python: " +
                            printable(guard));
  }
}

nlohmann::json Session::describe() const {
  // The dtypes of the program are what is computed with: no option of this
  // plugin changes them.
  return Json{
      {"device", options_.device},
      {"threads", options_.threads},
      {"precision", "export"},
      {"nodes", program_.graph.nodes.size()},
      {"exported_by", program_.torch_version},
      {"compiled", code_ ? Json(display(code_->folder())) : Json(nullptr)}};
}

}  // namespace modelrun::torch
