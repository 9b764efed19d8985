// SPDX-License-Identifier: Apache-2.0
#include "class_lookup.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "array_output.h"
#include "modelrun/log.h"

namespace modelrun::python {
namespace {

bool is_dotted_name(std::string_view text) {
  return !text.empty() && text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.';
         });
}

// The modules of transformers that define outputs and caches.
bool defines_outputs(std::string_view module) {
  if (!module.starts_with("transformers.")) return false;
  const std::string_view leaf = module.substr(module.rfind('.') + 1);
  return leaf.starts_with("modeling_") || leaf == "cache_utils" ||
         module == "transformers.utils.generic";
}

nb::object import_class(const std::string& module, const std::string& name) {
  try {
    const nb::object found =
        nb::module_::import_(module.c_str()).attr(name.c_str());
    const bool is_data =
        PyType_Check(found.ptr()) != 0 &&
        nb::cast<std::string>(found.attr("__module__")) == module &&
        !has_base(found, "torch.nn.modules.module.Module");
    if (is_data) return found;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
  }
  return {};
}

nb::object look_up(const std::string& dotted) {
  const std::size_t dot = dotted.rfind('.');
  if (dot == std::string::npos || !is_dotted_name(dotted)) return {};
  const std::string module = dotted.substr(0, dot);
  if (!defines_outputs(module) || !is_installed("transformers")) return {};
  return import_class(module, dotted.substr(dot + 1));
}

}  // namespace

nb::object find_class(const std::string& dotted) {
  auto& known = immortal<std::map<std::string, nb::object>>();
  const auto found = known.find(dotted);
  if (found != known.end()) return found->second;
  nb::object made = look_up(dotted);
  if (!made.is_valid()) {
    log(LogLevel::warning,
        "the class '" + dotted +
            "' that an export names is not one of the installed transformers: "
            "a plain structure takes its place");
  }
  return known.emplace(dotted, std::move(made)).first->second;
}

bool is_model_output(nb::handle type) {
  return has_base(type, "transformers.utils.generic.ModelOutput");
}

}  // namespace modelrun::python
