// SPDX-License-Identifier: Apache-2.0
#include "model/save_export.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "artifact/json_text.h"
#include "artifact/safe_path.h"
#include "model/describe.h"
#include "modelrun/error.h"
#include "tensor_file/atomic_file.h"

namespace modelrun::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifestFile = "export.json";
constexpr std::size_t kMaxJson = std::size_t{16} << 20;

// Files that appear together, once all of them are written.
class StagedFiles {
 public:
  explicit StagedFiles(const fs::path& directory) : directory_(directory) {}

  void copy(const fs::path& source, const fs::path& name) {
    if (!names_.insert(name).second) return;
    AtomicFile& file = add(name);
    std::error_code error;
    fs::copy_file(source, file.temporary(),
                  fs::copy_options::overwrite_existing, error);
    if (!error) return;
    const std::string message = "cannot copy " + display(source) + " to " +
                                display(directory_) + ": " + error.message();
    if (!fs::exists(source)) throw NotFound(message);
    throw Error(message);
  }
  void write(const std::string& text, const fs::path& name) {
    add(name).write(text.data(), text.size());
  }
  void commit() {
    for (const auto& file : files_) file->commit();
  }

 private:
  AtomicFile& add(const fs::path& name) {
    const fs::path path = directory_ / name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      throw Error("cannot make the folder " + display(path.parent_path()) +
                  ": " + error.message());
    }
    files_.push_back(std::make_unique<AtomicFile>(path));
    return *files_.back();
  }

  fs::path directory_;
  std::set<fs::path> names_;
  std::vector<std::unique_ptr<AtomicFile>> files_;
};

// The manifest as it is, or without the components that are not saved.
std::string manifest_text(const ModelState& state) {
  const fs::path path = state.directory / kManifestFile;
  std::string text = load_text(path, kMaxJson);
  Json manifest = parse_json(text, display(path));
  std::set<std::string> names;
  for (const LoadedComponent& loaded : state.components) {
    names.insert(loaded.component->name);
  }
  Json& components = manifest["components"];
  Json kept = Json::object();
  for (const auto& [name, entry] : components.items()) {
    if (names.contains(name)) kept[name] = entry;
  }
  if (kept.size() == components.size()) return text;
  components = std::move(kept);
  return manifest.dump(2) + "\n";
}

}  // namespace

void save_export(const ModelState& state, const fs::path& directory) {
  StagedFiles files(directory);
  bool described = false;
  for (const LoadedComponent& loaded : state.components) {
    const Component& component = *loaded.component;
    const ComponentDescription description = describe_component(component);
    const auto below = [&state](const fs::path& file) {
      return file.lexically_relative(state.directory);
    };
    files.copy(component.file, below(component.file));
    for (const fs::path& weights : description.weight_files) {
      files.copy(weights, below(weights));
    }
    described = described || component.metadata.has_value();
  }
  if (described) files.write(manifest_text(state), kManifestFile);
  const auto copy_config = [&](const Value& config, const char* name) {
    if (!config.is_none()) files.copy(state.directory / name, name);
  };
  copy_config(state.config, "config.json");
  copy_config(state.generation_config, "generation_config.json");
  files.commit();
}

}  // namespace modelrun::detail
