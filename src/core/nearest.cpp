// SPDX-License-Identifier: Apache-2.0
#include "core/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace modelrun {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name,
                         std::span<const std::string> candidates) {
  // Names come from outside: a long one is not worth a quadratic comparison.
  constexpr std::size_t kLongest = 256;
  if (name.size() > kLongest) return {};
  std::string nearest;
  std::size_t best =
      std::min(std::max<std::size_t>(name.size() / 3, 1) + 1, name.size());
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view name,
                         std::span<const std::string> candidates) {
  const std::string nearest = nearest_name(name, candidates);
  return nearest.empty() ? "" : ", did you mean '" + nearest + "'?";
}

std::string quoted_list(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += "'" + name + "'";
  }
  return text;
}

}  // namespace modelrun
