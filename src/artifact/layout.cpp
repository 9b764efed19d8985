// SPDX-License-Identifier: Apache-2.0
#include "artifact/layout.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <system_error>

#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPrograms = 1000;
constexpr std::size_t kMaxListed = 20;

// The endings that exporters give to variants of one program.
constexpr std::array<std::string_view, 22> kVariants = {
    "_quantized", "_optimized", "_qint8",  "_quint8", "_fp16", "_fp32",
    "_bf16",      "_int8",      "_uint8",  "_int4",   "_q8",   "_q4",
    "_q4f16",     "_q2",        "_q2f16",  "_bnb4",   "_O1",   "_O2",
    "_O3",        "_O4",        "_static", "_dynamic"};

// The parts that exporters split models into: several of them side by side
// belong together.
constexpr std::array<std::string_view, 24> kParts = {
    "model",
    "encoder_model",
    "decoder_model",
    "decoder_with_past_model",
    "decoder_model_merged",
    "decoder_postnet_and_vocoder",
    "encoder",
    "decoder",
    "text_model",
    "vision_model",
    "audio_model",
    "text_encoder",
    "text_encoder_2",
    "vision_encoder",
    "audio_encoder",
    "prompt_encoder_mask_decoder",
    "language_model",
    "embed_tokens",
    "lm_head",
    "text_embeddings_model",
    "vision_embeddings_model",
    "vision_embeddings_merger_model",
    "unet",
    "vae_decoder"};

// OpenVINO's converted tokenizers are programs, but not of the model.
bool is_tokenizer(std::string_view role) {
  return role == "tokenizer" || role == "detokenizer";
}

// One ending off a program's name: "_quantized", or "_qint8_avx512_vnni".
bool drop_variant(std::string& stem) {
  for (const std::string_view variant : kVariants) {
    if (stem.size() > variant.size() && stem.ends_with(variant)) {
      stem.resize(stem.size() - variant.size());
      return true;
    }
  }
  for (const std::string_view mark : {"_qint8_", "_quint8_"}) {
    const std::size_t at = stem.find(mark);
    if (at != std::string::npos && at > 0) {
      stem.resize(at);
      return true;
    }
  }
  return false;
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == kMaxListed) {
      return text + ", and " + std::to_string(names.size() - i) + " more";
    }
    if (i > 0) text += ", ";
    text += names[i];
  }
  return text;
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator it(directory, error);
  while (!error && it != fs::directory_iterator()) {
    names.push_back(it->path().filename().string());
    it.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// An .xml may be anything; OpenVINO's has its weights beside it.
bool is_program(const fs::path& file) {
  const std::string format = format_of(file);
  if (format.empty() || is_tokenizer(role_of(file)) ||
      !is_safe_relative(file.filename().string())) {
    return false;
  }
  std::error_code error;
  if (fs::is_directory(file, error)) return false;
  const fs::path weights = fs::path(file).replace_extension(".bin");
  return format != "openvino" || fs::exists(fs::symlink_status(weights, error));
}

// Paths of programs below the directory.
std::vector<std::string> list_programs(const fs::path& directory) {
  std::vector<std::string> programs;
  for (const std::string folder : {"", "onnx/", "openvino/"}) {
    for (const std::string& name : names_in(directory / folder)) {
      if (is_program(directory / folder / name)) {
        programs.push_back(folder + name);
      }
    }
  }
  if (programs.size() > kMaxPrograms) {
    throw InvalidArgument(display(directory) + ": holds more than " +
                          std::to_string(kMaxPrograms) + " programs");
  }
  return programs;
}

Component make_component(const fs::path& directory, const std::string& name) {
  Component component;
  component.name = role_of(name);
  component.file = resolve_within(directory, name, display(directory));
  component.format = format_of(name);
  return component;
}

[[noreturn]] void fail_nothing_found(const fs::path& directory) {
  std::vector<std::string> found;
  for (const std::string& name : names_in(directory)) {
    found.push_back(display(name));
  }
  const auto ends_with = [&](std::string_view suffix) {
    return std::any_of(found.begin(), found.end(), [&](const auto& name) {
      return name.ends_with(suffix);
    });
  };
  const bool weights = ends_with(".safetensors") ||
                       ends_with("pytorch_model.bin") || ends_with(".gguf");
  throw NotFound(
      display(directory) +
      ": holds no export: looked for export.json, and for .onnx, .xml (with "
      "its .bin), .pt2 and .pte files there and in onnx/ and openvino/; "
      "found " +
      (found.empty() ? "nothing" : join(found)) +
      (weights ? "; these are a model's own weights: export it first, in "
                 "Python with transformers.exporters (OnnxExporter().export("
                 "model, inputs, OnnxConfig(dynamic=True)).save_pretrained("
                 "directory))"
               : ""));
}

Component pick(const fs::path& directory,
               const std::vector<std::string>& programs,
               std::string_view file_name) {
  std::vector<std::string> matches;
  for (const std::string& program : programs) {
    if (program == file_name) return make_component(directory, program);
    if (fs::path(program).filename() == file_name) matches.push_back(program);
  }
  if (matches.size() == 1) return make_component(directory, matches[0]);
  if (matches.size() > 1) {
    throw InvalidArgument(
        display(directory) + ": file_name " + printable(file_name) +
        " is the name of several: " + join(matches) + "; give the path of one");
  }
  const fs::path path =
      resolve_within(directory, file_name, "the option file_name");
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    throw NotFound(display(directory) + ": has no " + printable(file_name) +
                   ", which the option file_name asks for; its programs are " +
                   (programs.empty() ? "none" : join(programs)));
  }
  if (format_of(path).empty()) {
    throw Unsupported(display(path) +
                      ": is no program: expected a .onnx, .xml, .pt2 or .pte "
                      "file in the option file_name");
  }
  return make_component(directory, std::string(file_name));
}

using Roles = std::map<std::string, std::vector<std::string>>;

// Throws unless each role has one program and the roles go together.
void check_unambiguous(const fs::path& directory,
                       const std::vector<std::string>& programs,
                       const Roles& by_role) {
  bool parts = true;
  for (const auto& [role, files] : by_role) {
    if (files.size() > 1) {
      throw InvalidArgument(display(directory) +
                            ": holds several variants of " + printable(role) +
                            ": " + join(files) +
                            "; pick one with the option file_name, such as "
                            "file_name=" +
                            printable(files[0]));
    }
    parts =
        parts && std::find(kParts.begin(), kParts.end(), role) != kParts.end();
  }
  if (parts || programs.size() == 1) return;
  throw InvalidArgument(
      display(directory) +
      ": holds several programs that are no known parts of one model: " +
      join(programs) +
      "; pick one with the option file_name, such as file_name=" +
      printable(programs[0]));
}

}  // namespace

std::string format_of(const fs::path& file) {
  const std::string suffix = file.extension().string();
  if (suffix == ".onnx") return "onnx";
  if (suffix == ".xml") return "openvino";
  if (suffix == ".pt2") return "dynamo";
  if (suffix == ".pte") return "executorch";
  return "";
}

std::string role_of(const fs::path& file) {
  std::string stem = file.stem().string();
  constexpr std::string_view kPrefix = "openvino_";
  if (file.extension() == ".xml" && stem.size() > kPrefix.size() &&
      stem.starts_with(kPrefix)) {
    stem.erase(0, kPrefix.size());
  }
  while (drop_variant(stem)) {
  }
  return stem;
}

std::vector<Component> find_programs(const fs::path& directory,
                                     std::string_view file_name) {
  const std::vector<std::string> programs = list_programs(directory);
  std::vector<Component> components;
  if (!file_name.empty()) {
    components.push_back(pick(directory, programs, file_name));
    return components;
  }
  if (programs.empty()) fail_nothing_found(directory);
  Roles by_role;
  for (const std::string& program : programs) {
    by_role[role_of(program)].push_back(program);
  }
  check_unambiguous(directory, programs, by_role);
  for (const auto& [role, files] : by_role) {
    components.push_back(make_component(directory, files[0]));
  }
  return components;
}

}  // namespace modelrun
