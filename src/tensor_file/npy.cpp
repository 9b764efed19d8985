// SPDX-License-Identifier: Apache-2.0
#include "tensor_file/npy.h"

#include <utility>

#include "artifact/printable.h"
#include "artifact/safe_path.h"
#include "modelrun/error.h"
#include "tensor_file/atomic_file.h"
#include "tensor_file/mapped_tensors.h"

namespace modelrun::detail {

Tensor row_major(const NpyHeader& header, Tensor elements) {
  if (!header.fortran_order || elements.element_count() == 0) return elements;
  Shape strides = Shape::of_rank(header.shape.rank());
  std::int64_t stride = 1;
  for (std::size_t axis = 0; axis < strides.rank(); ++axis) {
    strides[axis] = stride;
    stride *= header.shape[axis];
  }
  const TensorLayout layout{.dtype = header.dtype,
                            .shape = header.shape,
                            .strides = std::move(strides)};
  return Tensor::view(elements.raw_data(), layout, elements.owner())
      .contiguous();
}

Tensor load_npy(const std::filesystem::path& path) {
  const auto file = MappedTensors::open(path);
  const std::string what = display(path);
  const NpyHeader header = parse_npy_header(file->bytes(), what);
  const std::size_t size = file->bytes().size() - header.offset;
  if (size != header.data_size) {
    throw InvalidArgument(what + ": " + std::string(name(header.dtype)) +
                          to_string(header.shape) + " takes " +
                          std::to_string(header.data_size) + " bytes, got " +
                          std::to_string(size));
  }
  Tensor tensor = row_major(
      header, file->tensor(header.offset,
                           {.dtype = header.dtype, .shape = header.shape}));
  check_bools(tensor, what);
  return tensor;
}

void save_npy(const Tensor& tensor, const std::filesystem::path& path) {
  const std::string header =
      make_npy_header(tensor, "cannot save " + display(path));
  AtomicFile file(path);
  file.write(header.data(), header.size());
  file.write(tensor.raw_data(), tensor.byte_size());
  file.commit();
}

}  // namespace modelrun::detail
