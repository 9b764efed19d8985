// SPDX-License-Identifier: Apache-2.0
#include "backends/torch/weights.h"

#include <ATen/ops/from_blob.h>

#include "artifact/printable.h"
#include "backends/torch/element_type.h"
#include "backends/torch/fields.h"
#include "modelrun/error.h"

namespace modelrun::torch {
namespace {

constexpr std::int64_t kStridedLayout = 7;

StoredTensor read_tensor(const Json& payload) {
  if (const Json* pickled = optional_member(payload, "use_pickle");
      pickled != nullptr && *pickled == Json(true)) {
    throw Unsupported(
        "it is pickled, as tensor subclasses are: export plain tensors");
  }
  const Json& meta = member(payload, "tensor_meta");
  StoredTensor tensor;
  tensor.record = text_of(payload, "path_name");
  tensor.type = recorded_type(json_integer(member(meta, "dtype"), "dtype"));
  tensor.sizes = sizes_of(meta, "sizes");
  tensor.strides = sizes_of(meta, "strides");
  tensor.offset = json_integer(member(member(meta, "storage_offset"), "as_int"),
                               "storage_offset");
  if (json_integer(member(meta, "layout"), "layout") != kStridedLayout) {
    throw Unsupported("it is sparse; only strided tensors can be read");
  }
  if (tensor.sizes.size() != tensor.strides.size() || tensor.offset < 0) {
    throw InvalidArgument("its sizes, strides and offset do not fit together");
  }
  return tensor;
}

[[noreturn]] void fail_overflow() {
  throw InvalidArgument("no memory has its sizes and strides");
}

}  // namespace

std::uint64_t StoredTensor::extent() const {
  std::int64_t last = offset;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] == 0) return 0;
    std::int64_t step = 0;
    if (__builtin_mul_overflow(sizes[axis] - 1, strides[axis], &step) ||
        __builtin_add_overflow(last, step, &last)) {
      fail_overflow();
    }
  }
  std::int64_t bytes = 0;
  const auto width = static_cast<std::int64_t>(c10::elementSize(type));
  if (__builtin_add_overflow(last, 1, &last) ||
      __builtin_mul_overflow(last, width, &bytes)) {
    fail_overflow();
  }
  return static_cast<std::uint64_t>(bytes);
}

at::Tensor StoredTensor::over(std::uint8_t* bytes,
                              const std::function<void(void*)>& deleter) const {
  const std::size_t width = c10::elementSize(type);
  std::uint8_t* data =
      extent() == 0 ? bytes : bytes + static_cast<std::size_t>(offset) * width;
  return at::from_blob(data, sizes, strides, deleter,
                       at::TensorOptions().dtype(type));
}

WeightTable::WeightTable(const Archive& archive, const std::string& kind,
                         const std::string& program)
    : archive_(archive),
      folder_("data/" + kind + "/"),
      file_(folder_ + program + "_" + kind + "_config.json") {
  json_ = parse_json(archive.text(file_), archive.file() + ": " + file_);
  (void)json_object(member(json_, "config"), "config");
}

bool WeightTable::contains(const std::string& name) const {
  return json_find(json_object(json_.at("config"), "config"), name) != nullptr;
}

StoredTensor WeightTable::find(const std::string& name) const {
  const Json* payload =
      json_find(json_object(json_.at("config"), "config"), name);
  const std::string where =
      archive_.file() + ": " + file_ + ": " + printable(name) + ": ";
  if (payload == nullptr) {
    throw InvalidArgument(where + "is not there, though the program reads it");
  }
  try {
    StoredTensor tensor = read_tensor(*payload);
    tensor.record = folder_ + tensor.record;
    if (tensor.extent() > archive_.record(tensor.record).size()) {
      throw InvalidArgument(
          "its sizes need " + std::to_string(tensor.extent()) +
          " bytes, record " + printable(tensor.record) + " has fewer");
    }
    return tensor;
  } catch (const Unsupported& error) {
    throw Unsupported(where + error.what());
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(where + error.what());
  }
}

}  // namespace modelrun::torch
