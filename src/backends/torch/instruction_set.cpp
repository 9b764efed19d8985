// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/instruction_set.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "artifact/json_text.h"
#include "artifact/printable.h"
#include "backends/torch/code_cache.h"
#include "backends/torch/fields.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

using Features = std::set<std::string, std::less<>>;

/// A name that AOTInductor has for an instruction set, and the features of the
/// processor that it stands for, as the kernel lists them.
struct InstructionSet {
  std::string_view name;
  std::string_view features;
};

constexpr std::array kInstructionSets{
    InstructionSet{"AVX2", "avx2 fma f16c"},
    InstructionSet{"AVX512", "avx512f avx512dq avx512bw avx512vl fma"},
    InstructionSet{"AVX512_VNNI", "avx512_vnni"},
    InstructionSet{"AVX512_BF16", "avx512_bf16"},
    InstructionSet{"AVX512_FP16", "avx512_fp16"},
    InstructionSet{"AMX_TILE", "amx_tile amx_bf16 amx_int8"},
    InstructionSet{"AMX_FP16", "amx_fp16"},
    InstructionSet{"ASIMD", "asimd"},
    InstructionSet{"NEON", "asimd"},
    InstructionSet{"SVE", "sve"},
    InstructionSet{"SVE256", "sve"},
    InstructionSet{"INVALID_VEC_ISA", ""},
};

Features words(const std::string& text) {
  Features found;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) found.insert(word);
  return found;
}

/// Of the first processor; they are all alike where Linux runs on them.
Features processor_features() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    const auto colon = line.find(':');
    if (colon != std::string::npos) return words(line.substr(colon + 1));
  }
  return {};
}

class Check {
 public:
  explicit Check(const Archive& archive)
      : archive_(archive), available_(processor_features()) {}

  void run() {
    const std::string folder = std::string(kCodeFolder) + '/';
    bool is_told = false;
    for (const std::string& name : archive_.names_below(folder)) {
      if (!name.ends_with("_metadata.json")) continue;
      const Json metadata = parse_json(archive_.text(name), shown(name));
      is_told = check_metadata(metadata, name) || is_told;
    }
    const std::string listed = folder + "modelrun.json";
    if (archive_.contains(listed)) {
      const Json json = parse_json(archive_.text(listed), shown(listed));
      for (const Json& feature : list_of(json, "processor_features")) {
        need(json_string(feature, "processor_features"), listed);
      }
    }
    if (!is_told) {
      throw Unsupported(archive_.file() +
                        ": does not say which instructions its compiled code "
                        "uses, so it is not opened: compile the model again");
    }
  }

 private:
  [[nodiscard]] std::string shown(const std::string& record) const {
    return archive_.file() + ": " + record;
  }

  /// Whether it names an instruction set.
  bool check_metadata(const Json& metadata, const std::string& record) const {
    utsname system{};
    uname(&system);
    check_text(metadata, record, "AOTI_PLATFORM", "linux");
    check_text(metadata, record, "AOTI_MACHINE", system.machine);
    check_text(metadata, record, "AOTI_DEVICE_KEY", "cpu");
    const Json* sets = optional_member(metadata, "AOTI_CPU_ISA");
    if (sets == nullptr) return false;
    for (const std::string& name : words(json_string(*sets, "AOTI_CPU_ISA"))) {
      const auto* const known = std::find_if(
          kInstructionSets.begin(), kInstructionSets.end(),
          [&](const InstructionSet& each) { return each.name == name; });
      if (known == kInstructionSets.end()) refuse(name, record);
      for (const std::string& feature : words(std::string(known->features))) {
        need(feature, record);
      }
    }
    return true;
  }

  void check_text(const Json& metadata, const std::string& record,
                  const char* key, const std::string& here) const {
    const Json* value = optional_member(metadata, key);
    if (value == nullptr) return;
    const std::string& recorded = json_string(*value, key);
    if (recorded == here) return;
    throw Unsupported(shown(record) + ": " + key + " is " +
                      printable(recorded) + ", expected " + printable(here) +
                      ": compile the model on a machine like this one");
  }

  void need(const std::string& feature, const std::string& record) const {
    if (!available_.contains(feature)) refuse(feature, record);
  }

  [[noreturn]] void refuse(const std::string& feature,
                           const std::string& record) const {
    throw Unsupported(shown(record) + ": its compiled code uses " +
                      printable(feature) +
                      " instructions, which this processor does not have: "
                      "compile the model on a machine like this one");
  }

  const Archive& archive_;
  Features available_;
};

}  // namespace

void check_instruction_set(const Archive& archive) { Check(archive).run(); }

}  // namespace modelrun::torch
