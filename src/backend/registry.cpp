// SPDX-License-Identifier: Apache-2.0
#include "backend/registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "artifact/json_text.h"
#include "backend/plugin_file.h"
#include "backend/runtime_library.h"
#include "backend/runtime_search.h"
#include "core/nearest.h"
#include "modelrun/error.h"
#include "modelrun/log.h"

namespace modelrun {

namespace fs = std::filesystem;

namespace {

/// Where one backend is, or will be, opened with one runtime.
struct Slot {
  std::mutex opening;
  std::shared_ptr<Backend> backend;
};

struct Registry {
  std::mutex mutex;
  std::vector<BackendRegistration> registrations;
  /// Format to the name of its default backend.
  std::map<std::string, std::string, std::less<>> defaults;
  /// By name and runtime.
  std::map<std::pair<std::string, fs::path>, std::shared_ptr<Slot>> slots;

  BackendRegistration* find(std::string_view name) {
    const auto found = std::find_if(
        registrations.begin(), registrations.end(),
        [&](const BackendRegistration& each) { return each.name == name; });
    return found == registrations.end() ? nullptr : &*found;
  }

  const BackendRegistration& at(std::string_view name) {
    if (const BackendRegistration* found = find(name)) return *found;
    const std::vector<std::string> known = names();
    throw NotFound("no backend '" + std::string(name) + "' is registered" +
                   did_you_mean(name, known) +
                   "; registered are: " + quoted_list(known));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& each : registrations) names.push_back(each.name);
    return names;
  }

  /// Returns whether it took the place of another.
  bool add(BackendRegistration registration) {
    BackendRegistration* same = find(registration.name);
    const bool replaces = same != nullptr;
    if (replaces) {
      std::erase_if(slots, [&](const auto& slot) {
        return slot.first.first == registration.name;
      });
      *same = std::move(registration);
    } else {
      registrations.push_back(std::move(registration));
    }
    choose_defaults();
    return replaces;
  }

  /// Keeps each default that still reads its format, and gives the formats
  /// without one to the first that does.
  void choose_defaults() {
    std::erase_if(defaults, [&](const auto& entry) {
      const auto& formats = find(entry.second)->formats;
      return std::find(formats.begin(), formats.end(), entry.first) ==
             formats.end();
    });
    for (const BackendRegistration& each : registrations) {
      for (const std::string& format : each.formats) {
        defaults.emplace(format, each.name);
      }
    }
  }
};

Registry* make_registry() {
  auto* registry = new Registry();
  registry->add({.name = "onnxruntime",
                 .formats = {"onnx"},
                 .plugin = "modelrun_onnxruntime.so"});
  registry->add({.name = "openvino",
                 .formats = {"openvino", "onnx"},
                 .plugin = "modelrun_openvino.so"});
  registry->add({.name = "executorch",
                 .formats = {"executorch"},
                 .plugin = "modelrun_executorch.so"});
  registry->add(
      {.name = "torch", .formats = {"dynamo"}, .plugin = "modelrun_torch.so"});
  return registry;
}

// Never destroyed: a model in a static variable may outlive every order of
// destruction.
Registry& registry() {
  static Registry* const instance = make_registry();
  return *instance;
}

BackendRegistration registration_of(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.at(name);
}

/// A backend of whose runtime nothing is known, if it has one at all, gets the
/// one that the user names.
RuntimeSearch named_runtime(const std::string& backend, const fs::path& path) {
  RuntimeSearch search;
  search.backend = backend;
  const std::string variable = runtime_variable(backend);
  const std::string in_variable =
      process_environment(variable).variable(variable);
  const fs::path named = path.empty() ? fs::path(in_variable) : path;
  if (named.empty()) return search;
  std::error_code error;
  const bool exists = fs::exists(named, error);
  if (exists) search.library = fs::absolute(named, error);
  search.tried.push_back({path.empty() ? variable : "option runtime_path",
                          named.string(),
                          exists ? "found" : "no such file or folder"});
  return search;
}

std::shared_ptr<Backend> create_backend(const BackendRegistration& from,
                                        const RuntimeSearch& runtime) {
  if (from.table != nullptr) {
    return Backend::create(from.table, nullptr, runtime.library);
  }
  const RuntimeDescription* description = runtime_description(from.name);
  const bool tied = description != nullptr && description->release_tied;
  const fs::path file =
      tied ? find_release_plugin(from.plugin, from.name, runtime)
           : find_plugin(from.plugin, from.name);
  if (tied) open_runtime_library(runtime.library, description->library);
  OpenedPlugin plugin = open_plugin(file);
  return Backend::create(plugin.table, std::move(plugin.library),
                         runtime.library);
}

}  // namespace

void register_backend(BackendRegistration registration) {
  const std::string name = registration.name;
  if (name.empty()) {
    throw InvalidArgument("a backend cannot be registered without a name");
  }
  if (registration.plugin.empty() == (registration.table == nullptr)) {
    throw InvalidArgument("backend '" + name +
                          "' cannot be registered: expected either a plugin "
                          "or a table, got " +
                          (registration.table ? "both" : "neither"));
  }
  Registry& all = registry();
  bool replaces = false;
  {
    const std::lock_guard lock(all.mutex);
    replaces = all.add(std::move(registration));
  }
  // Not under the lock: the callback is the user's.
  if (replaces) {
    log(LogLevel::warning, "backend '" + name +
                               "' is registered anew; models "
                               "that are loaded keep the one before");
  }
}

std::vector<std::string> registered_backends() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.names();
}

std::string default_backend(std::string_view format) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.defaults.find(format);
  return found == all.defaults.end() ? std::string() : found->second;
}

std::vector<std::string> backend_options(std::string_view backend,
                                         const fs::path& runtime_path) {
  const auto opened = open_backend(backend, runtime_path);
  const Json description = parse_json(opened->describe(), opened->name());
  std::vector<std::string> options;
  if (!description.contains("options")) return options;
  for (const Json& option : description["options"]) {
    std::string name = json_string(option, opened->name() + " options");
    // Those that the library itself sets.
    if (name == "device" || name == "threads" || name == "in_constants") {
      continue;
    }
    options.push_back(std::move(name));
  }
  return options;
}

std::vector<std::string> backend_formats(std::string_view name) {
  return registration_of(name).formats;
}

RuntimeSearch find_runtime(std::string_view backend,
                           const fs::path& explicit_path) {
  const BackendRegistration registration = registration_of(backend);
  const RuntimeDescription* description = runtime_description(backend);
  if (description == nullptr || registration.table != nullptr) {
    return named_runtime(registration.name, explicit_path);
  }
  return search_runtime(*description, explicit_path,
                        process_environment(runtime_variable(backend)));
}

std::shared_ptr<Backend> open_backend(std::string_view name,
                                      const fs::path& runtime_path) {
  const RuntimeSearch search = find_runtime(name, runtime_path);
  if (search.library.empty() && !search.tried.empty()) {
    throw NotFound(missing_runtime(search));
  }
  Registry& all = registry();
  BackendRegistration registration;
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock(all.mutex);
    registration = all.at(name);
    auto& entry = all.slots[{registration.name, search.library}];
    if (!entry) entry = std::make_shared<Slot>();
    slot = entry;
  }
  // Other backends can be opened meanwhile; this one is opened once.
  const std::lock_guard lock(slot->opening);
  if (!slot->backend) {
    slot->backend = create_backend(registration, search);
  }
  return slot->backend;
}

}  // namespace modelrun
