// SPDX-License-Identifier: Apache-2.0
#include "torch_output.h"

#include <string>
#include <utility>

#include "class_lookup.h"
#include "errors.h"
#include "model_output.h"
#include "outputs.h"

namespace modelrun::python {
namespace {

nb::object interned(const std::string& text) {
  return checked(PyUnicode_InternFromString(text.c_str()));
}

nb::object key_object(const Structure::Key& key) {
  if (const auto* text = std::get_if<std::string>(&key)) return interned(*text);
  return nb::cast(std::get<std::int64_t>(key));
}

// A dtype, device, layout or class, which a structure holds by its name; None
// when torch has none of that name.
nb::object named_constant(const Structure& node) {
  const Structure* name = node.find("name");
  const auto* text = name != nullptr && name->is_constant()
                         ? std::get_if<std::string>(&name->value())
                         : nullptr;
  if (text == nullptr) return nb::none();
  if (node.class_name() == "builtins.type") {
    nb::object found = find_class(*text);
    return found.is_valid() ? found : nb::none();
  }
  const nb::object torch = nb::module_::import_("torch");
  try {
    if (node.class_name() == "torch.device") return torch.attr("device")(*text);
    const char* const kind =
        node.class_name() == "torch.dtype" ? "dtype" : "layout";
    nb::object found = torch.attr(text->c_str());
    if (nb::isinstance(found, torch.attr(kind))) return found;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
  }
  return nb::none();
}

bool is_named_constant(const Structure& node) {
  const std::string& name = node.class_name();
  return name == "torch.dtype" || name == "torch.device" ||
         name == "torch.layout" || name == "builtins.type";
}

}  // namespace

// How one node of the structure is built: decided once.
class TorchOutputs::Node {
 public:
  explicit Node(const Structure& structure) {
    if (structure.is_leaf()) return;
    if (structure.is_constant()) {
      kind_ = Kind::constant;
      constant_ = to_python(structure.value());
      return;
    }
    if (is_named_constant(structure)) {
      kind_ = Kind::constant;
      constant_ = named_constant(structure);
      return;
    }
    choose(structure);
    if (kind_ == Kind::plain) return;
    for (std::size_t i = 0; i < structure.size(); ++i) {
      children_.emplace_back(structure.child(i));
      if (has_keys(structure)) keys_.push_back(key_object(structure.key(i)));
    }
    if (kind_ == Kind::output) {
      output_ = std::make_unique<ModelOutputClass>(class_, keys_);
    }
  }

  [[nodiscard]] nb::object build(const Value& value) const {
    switch (kind_) {
      case Kind::tensor:
        return value.is_tensor() ? to_torch(value.tensor())
                                 : to_python(value.scalar());
      case Kind::constant:
        return constant_;
      case Kind::plain:
        return to_python(value, Arrays::torch);
      case Kind::list:
      case Kind::tuple:
        return build_sequence(value);
      case Kind::dict:
        return build_dict(value);
      case Kind::output:
        return output_->build(build_children(value));
      case Kind::attributes:
        break;
    }
    return build_attributes(value);
  }

 private:
  enum class Kind {
    tensor,
    constant,
    /// An object whose class is not installed.
    plain,
    list,
    tuple,
    dict,
    output,
    attributes
  };

  static bool has_keys(const Structure& structure) {
    return structure.kind() == Structure::Kind::dict ||
           structure.kind() == Structure::Kind::object;
  }

  void choose(const Structure& structure) {
    const std::string& name = structure.class_name();
    switch (structure.kind()) {
      case Structure::Kind::list:
        kind_ = Kind::list;
        break;
      case Structure::Kind::tuple:
        kind_ = Kind::tuple;
        if (name == "torch.Size") {
          class_ = nb::module_::import_("torch").attr("Size");
        }
        break;
      case Structure::Kind::dict:
        kind_ = Kind::dict;
        if (name == "collections.OrderedDict") {
          class_ = nb::module_::import_("collections").attr("OrderedDict");
        }
        break;
      default:
        class_ = find_class(name);
        kind_ = !class_.is_valid()        ? Kind::plain
                : is_model_output(class_) ? Kind::output
                                          : Kind::attributes;
    }
  }

  [[nodiscard]] std::vector<nb::object> build_children(
      const Value& value) const {
    std::vector<nb::object> built;
    built.reserve(children_.size());
    for (std::size_t i = 0; i < children_.size(); ++i) {
      built.push_back(children_[i].build(value[i]));
    }
    return built;
  }

  [[nodiscard]] nb::object build_sequence(const Value& value) const {
    const auto size = static_cast<Py_ssize_t>(children_.size());
    const bool is_list = kind_ == Kind::list;
    nb::object made = checked(is_list ? PyList_New(size) : PyTuple_New(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      PyObject* const item = children_[at].build(value[at]).release().ptr();
      if (is_list) {
        PyList_SetItem(made.ptr(), i, item);
      } else {
        PyTuple_SetItem(made.ptr(), i, item);
      }
    }
    return class_.is_valid() ? class_(made) : made;
  }

  void fill(PyObject* dict, const Value& value) const {
    for (std::size_t i = 0; i < children_.size(); ++i) {
      const nb::object child = children_[i].build(value[i]);
      if (PyDict_SetItem(dict, keys_[i].ptr(), child.ptr()) != 0) {
        throw nb::python_error();
      }
    }
  }

  [[nodiscard]] nb::object build_dict(const Value& value) const {
    nb::object made = checked(PyDict_New());
    fill(made.ptr(), value);
    return class_.is_valid() ? class_(made) : made;
  }

  // As pickle does: made without its constructor, and given its attributes.
  [[nodiscard]] nb::object build_attributes(const Value& value) const {
    nb::object made = new_instance(class_);
    const nb::object attributes =
        checked(PyObject_GetAttrString(made.ptr(), "__dict__"));
    if (PyDict_Check(attributes.ptr()) == 0) {
      return to_python(value, Arrays::torch);
    }
    fill(attributes.ptr(), value);
    return made;
  }

  Kind kind_ = Kind::tensor;
  nb::object constant_;
  nb::object class_;
  std::vector<nb::object> keys_;
  std::vector<Node> children_;
  std::unique_ptr<ModelOutputClass> output_;
};

TorchOutputs::TorchOutputs() = default;
TorchOutputs::~TorchOutputs() = default;

nb::object TorchOutputs::build(const Value& value) {
  const Structure* const structure = value.structure();
  if (structure == nullptr) return to_python(value, Arrays::torch);
  if (root_ == nullptr || structure != structure_) {
    root_ = std::make_shared<Node>(*structure);
    structure_ = structure;
  }
  // Held: building may run code that calls this model again.
  const std::shared_ptr<Node> root = root_;
  return root->build(value);
}

}  // namespace modelrun::python
