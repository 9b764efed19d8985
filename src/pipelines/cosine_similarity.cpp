// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "modelrun/embedder.h"
#include "modelrun/error.h"

namespace modelrun {
namespace {

double dot(const float* a, const float* b, std::int64_t size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

std::vector<double> lengths(const Tensor& rows) {
  std::vector<double> result;
  const std::int64_t width = rows.shape()[1];
  for (std::int64_t i = 0; i < rows.shape()[0]; ++i) {
    const float* row = rows.data<const float>().data() + i * width;
    result.push_back(std::sqrt(dot(row, row, width)));
  }
  return result;
}

}  // namespace

Tensor cosine_similarity(const Tensor& a, const Tensor& b) {
  for (const Tensor* tensor : {&a, &b}) {
    if (tensor->defined() && tensor->dtype() == DType::float32 &&
        tensor->rank() == 2 && tensor->device().type == DeviceType::cpu) {
      continue;
    }
    throw InvalidArgument(
        "cosine_similarity: expected float32 [rows, dimension] on cpu, got " +
        to_string(*tensor));
  }
  const std::int64_t width = a.shape()[1];
  if (width != b.shape()[1]) {
    throw InvalidArgument(
        "cosine_similarity: expected rows of one dimension, "
        "got " +
        to_string(a) + " and " + to_string(b));
  }
  const Tensor left = a.contiguous();
  const Tensor right = b.contiguous();
  const auto left_lengths = lengths(left);
  const auto right_lengths = lengths(right);
  Tensor cosines = Tensor::empty(DType::float32, {a.shape()[0], b.shape()[0]});
  float* out = cosines.data<float>().data();
  for (std::size_t i = 0; i < left_lengths.size(); ++i) {
    const float* row =
        left.data<const float>().data() + static_cast<std::int64_t>(i) * width;
    for (std::size_t j = 0; j < right_lengths.size(); ++j) {
      const float* other = right.data<const float>().data() +
                           static_cast<std::int64_t>(j) * width;
      const double scale = left_lengths[i] * right_lengths[j];
      *out++ =
          scale > 0 ? static_cast<float>(dot(row, other, width) / scale) : 0.0f;
    }
  }
  return cosines;
}

}  // namespace modelrun
