// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/compiled_code.h"

#include <torch/csrc/inductor/aoti_runner/model_container_runner_cpu.h>

#include <string>
#include <utility>

#include "artifact/safe_path.h"
#include "backends/torch/code_cache.h"
#include "backends/torch/instruction_set.h"
#include "modelrun/error.h"

namespace modelrun::torch {

namespace fs = std::filesystem;

namespace {

fs::path library_in(const fs::path& folder, const std::string& archive) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".so") continue;
    if (!found.empty()) {
      throw InvalidArgument(archive + ": has several libraries in " +
                            kCodeFolder + "/, expected one");
    }
    found = entry.path();
  }
  if (found.empty()) {
    throw InvalidArgument(archive + ": has no library in " + kCodeFolder +
                          "/: compile the model again");
  }
  return found;
}

}  // namespace

CompiledCode::CompiledCode(const Archive& archive, int concurrency) {
  check_instruction_set(archive);
  folder_ = unpack_code(archive);
  const fs::path library = library_in(folder_, archive.file());
  try {
    runner_ = std::make_unique<::torch::inductor::AOTIModelContainerRunnerCpu>(
        library.string(), static_cast<std::size_t>(concurrency));
  } catch (const c10::Error& error) {
    throw BackendError(archive.file() + ": its compiled code at " +
                       display(library) +
                       " cannot be opened: " + error.what_without_backtrace() +
                       "; compile the model with the torch that runs it");
  }
}

CompiledCode::~CompiledCode() = default;

std::vector<at::Tensor> CompiledCode::run(
    std::vector<at::Tensor> inputs) const {
  return runner_->boxed_run(std::move(inputs));
}

}  // namespace modelrun::torch
