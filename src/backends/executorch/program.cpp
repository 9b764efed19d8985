// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/program.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "backends/executorch/api.h"
#include "backends/executorch/error_words.h"

namespace modelrun::executorch {
namespace {

void check_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw Failure(MODELRUN_NOT_FOUND,
                  "loading '" + path + "': there is no such file");
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw Failure(MODELRUN_INVALID_ARGUMENT,
                  "loading '" + path + "': expected a file");
  }
}

template <typename T>
T taken(et::Result<T> result, const std::string& doing, LogCapture& log) {
  check(result.error(), doing, log);
  return std::move(result.get());
}

}  // namespace

Program::Program(const std::string& path) : path_(path) {
  check_file(path);
  const std::string doing = "loading '" + path + "'";
  LogCapture log;
  // Pages are read as they are needed, and may be dropped again.
  loader_.emplace(taken(
      Loader::from(path.c_str(), Loader::MlockConfig::NoMlock), doing, log));
  program_.emplace(
      taken(et::Program::load(&*loader_,
                              et::Program::Verification::InternalConsistency),
            doing, log));
  const std::size_t size = taken(loader_->size(), doing, log);
  const auto file =
      taken(loader_->load(0, size,
                          et::DataLoader::SegmentInfo(
                              et::DataLoader::SegmentInfo::Type::Program)),
            doing, log);
  try {
    read({static_cast<const std::byte*>(file.data()), file.size()});
  } catch (const Failure& failure) {
    throw Failure(failure.status(), doing + ": " + failure.what());
  }
}

void Program::read(std::span<const std::byte> file) {
  const ProgramFacts facts = read_facts(file);
  constexpr auto kNewest = et::Program::kMaxSupportedSchemaVersion;
  if (facts.version > kNewest) {
    throw Failure(
        MODELRUN_UNSUPPORTED,
        "it is of schema version " + std::to_string(facts.version) +
            ", expected " + std::to_string(kNewest) +
            ": export it with executorch " MODELRUN_EXECUTORCH_VERSION);
  }
  choose_method(facts);
  plan_ = read_plan(file, method_);
}

void Program::choose_method(const ProgramFacts& facts) {
  const auto& methods = facts.methods;
  const auto forward = std::find(methods.begin(), methods.end(), "forward");
  if (forward != methods.end()) {
    method_ = *forward;
    return;
  }
  if (methods.size() == 1) {
    method_ = methods.front();
    return;
  }
  std::string message = "expected a method 'forward', got ";
  message += methods.empty() ? "none" : "";
  for (const std::string& method : methods) {
    message.append(&method == &methods.front() ? "'" : ", '")
        .append(method)
        .append("'");
  }
  throw Failure(MODELRUN_UNSUPPORTED, std::move(message));
}

et::MethodMeta Program::meta() const {
  LogCapture log;
  return taken(program_->method_meta(method_.c_str()),
               "reading the method '" + method_ + "'", log);
}

}  // namespace modelrun::executorch
