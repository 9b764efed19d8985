// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/runtime.h"

#include <dlfcn.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "backends/executorch/api.h"
#include "backends/executorch/platform.h"
#include "backends/executorch/shared_library.h"

namespace modelrun::executorch {
namespace {

namespace fs = std::filesystem;

struct DelegateLibrary {
  std::string_view delegate;
  const char* file;
};

constexpr std::array kDelegates{
    DelegateLibrary{"XnnpackBackend", "libexecutorch_backend_xnnpack.so"},
};

/// A library of kernels, and one of them: registering a second copy would end
/// the process.
struct KernelLibrary {
  const char* file;
  std::string_view sample;
};

constexpr std::array kKernels{
    KernelLibrary{"libexecutorch_kernels_optimized.so", "aten::add.out"},
    KernelLibrary{"libexecutorch_kernels_quantized.so",
                  "quantized_decomposed::quantize_per_tensor.out"},
};

/// The file of the ExecuTorch that this plugin calls.
std::string linked_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&et::runtime_init), &info) == 0 ||
      info.dli_fname == nullptr) {
    throw Failure(MODELRUN_BACKEND_ERROR,
                  "cannot tell where ExecuTorch was opened from");
  }
  return info.dli_fname;
}

/// From the version.py of the Python package, one folder up.
std::string read_version(const fs::path& folder) {
  constexpr std::string_view kKey = "__version__ = \"";
  std::ifstream file(folder.parent_path() / "version.py");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kKey)) continue;
    const auto end = line.find('"', kKey.size());
    return line.substr(kKey.size(), end - kKey.size());
  }
  return {};
}

bool is_registered(std::string_view name) {
  const auto kernels = et::get_registered_kernels();
  return std::any_of(
      kernels.begin(), kernels.end(),
      [&](const et::Kernel& each) { return each.name_ == name; });
}

std::vector<std::string> unregistered(const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  std::copy_if(names.begin(), names.end(), std::back_inserter(missing),
               [](const std::string& name) { return !is_registered(name); });
  return missing;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text.append(text.empty() ? "" : ", ").append(name);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Runtime::Runtime(std::string path)
    : path_(std::move(path)),
      folder_(fs::path(path_).parent_path()),
      version_(read_version(folder_)),
      threads_(folder_) {}

std::shared_ptr<Runtime> Runtime::open(const modelrun_host& host) {
  static std::mutex mutex;
  static std::shared_ptr<Runtime> opened;
  const std::lock_guard lock(mutex);
  const std::string path = linked_library();
  std::error_code error;
  if (host.runtime_path != nullptr &&
      !fs::equivalent(path, host.runtime_path, error)) {
    throw Failure(MODELRUN_UNSUPPORTED, "cannot use ExecuTorch at '" +
                                            std::string(host.runtime_path) +
                                            "': the process has '" + path +
                                            "' open, and can have one only");
  }
  if (opened != nullptr) return opened;
  take_over_platform();
  const LogCapture log;
  et::runtime_init();
  auto made = std::make_shared<Runtime>(path);
  const std::string_view release = MODELRUN_EXECUTORCH_RELEASE ".";
  if (!made->version().empty() && !made->version().starts_with(release)) {
    throw Failure(MODELRUN_UNSUPPORTED,
                  "cannot use ExecuTorch " + made->version() + " at '" + path +
                      "': this plugin was built for " +
                      MODELRUN_EXECUTORCH_RELEASE
                      "; install it with 'pip install "
                      "executorch==" MODELRUN_EXECUTORCH_VERSION "'");
  }
  return opened = std::move(made);
}

void Runtime::provide(const Plan& plan) {
  const std::lock_guard lock(mutex_);
  const LogCapture log;
  provide_delegates(plan.backends);
  provide_operators(plan.operators);
}

void Runtime::provide_delegates(const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    const auto library =
        std::find_if(kDelegates.begin(), kDelegates.end(),
                     [&](const auto& each) { return each.delegate == name; });
    const bool is_there = et::get_backend_class(name.c_str()) != nullptr;
    if (!is_there && library != kDelegates.end()) {
      static_cast<void>(open_library(folder_ + '/' + library->file));
    }
    if (et::get_backend_class(name.c_str()) == nullptr) missing.push_back(name);
  }
  if (missing.empty()) return;
  std::vector<std::string> present = delegates();
  for (const DelegateLibrary& each : kDelegates) {
    const auto found = std::find(present.begin(), present.end(), each.delegate);
    if (found == present.end()) present.emplace_back(each.delegate);
  }
  throw Failure(MODELRUN_UNSUPPORTED,
                "the program was lowered to delegates that are not here: " +
                    joined(missing) + "; here are: " + joined(present) +
                    "; export it for one of them (backend=\"xnnpack\")");
}

void Runtime::provide_operators(const std::vector<std::string>& names) {
  std::vector<std::string> missing = unregistered(names);
  for (const KernelLibrary& library : kKernels) {
    if (missing.empty()) return;
    if (is_registered(library.sample)) continue;
    static_cast<void>(open_library(folder_ + '/' + library.file));
    missing = unregistered(missing);
  }
  if (missing.empty()) return;
  throw Failure(MODELRUN_UNSUPPORTED,
                "the program has operators that ExecuTorch " + version_ +
                    " at '" + path_ +
                    "' has no kernel for: " + joined(missing));
}

std::vector<std::string> Runtime::delegates() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < et::get_num_registered_backends(); ++i) {
    const auto name = et::get_backend_name(i);
    if (name.ok()) names.emplace_back(*name);
  }
  return names;
}

}  // namespace modelrun::executorch
