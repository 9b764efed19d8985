// SPDX-License-Identifier: Apache-2.0
#include "tensor_file/flat_values.h"

#include <unordered_set>

#include "artifact/json_text.h"
#include "artifact/printable.h"
#include "modelrun/error.h"
#include "tensor_file/json_tensors.h"

namespace modelrun::detail {
namespace {

class Flattener {
 public:
  void add(const std::string& path, const Value& value) {
    if (value.is_tensor()) return add_tensor(path, value.tensor());
    if (value.is_scalar()) return add_scalar(path, value.scalar());
    const Structure& node = *value.structure();
    for (std::size_t i = 0; i < value.size(); ++i) {
      add(path + "." + node.step(i), value[i]);
    }
  }

  FlatValues take() { return std::move(flat_); }

 private:
  void add_tensor(const std::string& path, const Tensor& tensor) {
    claim(path);
    if (!tensor.defined()) {
      throw InvalidArgument("cannot save " + printable(path) +
                            ": the tensor is undefined");
    }
    if (tensor.device().type != DeviceType::cpu) {
      throw InvalidArgument("cannot save " + printable(path) + ": it is on " +
                            to_string(tensor.device()) +
                            ", copy it to the CPU first");
    }
    flat_.tensors.emplace_back(path, tensor.contiguous());
  }

  void add_scalar(const std::string& path, const Scalar& scalar) {
    claim(path);
    flat_.scalars.emplace_back(path, scalar);
  }

  void claim(const std::string& path) {
    if (find_invalid_utf8(path) != path.npos) {
      throw InvalidArgument("cannot save " + printable(path) +
                            ": the name is not UTF-8");
    }
    if (path == kScalarsName) {
      throw InvalidArgument("cannot save " + printable(path) +
                            ": scalars are kept under this name, rename it");
    }
    if (!names_.insert(path).second) {
      throw InvalidArgument("cannot save " + printable(path) +
                            ": two values have this name");
    }
  }

  FlatValues flat_;
  std::unordered_set<std::string> names_;
};

}  // namespace

FlatValues flatten(const NamedValues& values) {
  Flattener flattener;
  for (const auto& [name, value] : values) flattener.add(name, value);
  return flattener.take();
}

std::string scalars_to_json(
    const std::vector<std::pair<std::string, Scalar>>& scalars) {
  std::string text = "{";
  for (const auto& [name, scalar] : scalars) {
    if (text.size() > 1) text += ", ";
    text += json_quoted(name) + ": " + json_text(scalar);
  }
  return text + "}";
}

NamedValues scalars_from_json(std::string_view text, const std::string& what) {
  NamedValues values;
  const Json content = parse_json(text, what);
  for (const auto& [name, value] : json_object(content, what)) {
    values.emplace_back(name,
                        json_scalar(value, what + ": " + printable(name)));
  }
  return values;
}

}  // namespace modelrun::detail
