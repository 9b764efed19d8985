// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/result.h"

#include <cstring>
#include <string>
#include <vector>

#include "backends/common/owned_tensor.h"
#include "backends/openvino/element_type.h"
#include "backends/openvino/runtime.h"

namespace modelrun::openvino {

DLManagedTensorVersioned* copied_result(const ov::Tensor& tensor,
                                        const char* port) {
  const auto dtype = to_dlpack(tensor.get_element_type());
  if (!dtype) {
    throw Failure(MODELRUN_UNSUPPORTED,
                  "'" + std::string(port) + "' is a tensor of OpenVINO type " +
                      tensor.get_element_type().to_string());
  }
  const ov::Shape shape = tensor.get_shape();
  const std::vector<std::int64_t> dims(shape.begin(), shape.end());
  DLManagedTensorVersioned* copy = plugin::make_owned_tensor(*dtype, dims);
  if (const std::size_t bytes = tensor.get_byte_size()) {
    std::memcpy(copy->dl_tensor.data, tensor.data(), bytes);
  }
  return copy;
}

}  // namespace modelrun::openvino
