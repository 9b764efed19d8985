// SPDX-License-Identifier: Apache-2.0
#include "text/encode_plan.h"

#include <algorithm>
#include <limits>
#include <string>

#include "artifact/printable.h"
#include "modelrun/error.h"

namespace modelrun::detail {
namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

void check_positive(const char* name, std::optional<std::int64_t> value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (value && (*value <= 0 || *value > kMost)) {
    throw InvalidArgument(std::string(name) + ": expected 1 to " + text(kMost) +
                          ", got " + text(*value));
  }
}

void check_pad_token(const TokenizerConfig& config,
                     std::optional<std::int64_t> pad_id) {
  if (pad_id) return;
  const auto token = config.special_tokens.find("pad_token");
  if (token == config.special_tokens.end()) {
    throw InvalidArgument(
        "cannot pad: the tokenizer has no pad_token; name one in "
        "tokenizer_config.json, such as its eos_token");
  }
  throw InvalidArgument("cannot pad: the pad_token " +
                        printable(token->second) +
                        " is not in the tokenizer's vocabulary");
}

std::int64_t needed_length(const EncodeOptions& options,
                           const TokenizerConfig& config) {
  const bool pads = options.padding == Padding::max_length;
  const bool cuts = options.truncation != Truncation::do_not_truncate;
  if (!pads && !cuts) {
    if (!options.max_length) return 0;
    throw InvalidArgument(
        "max_length is " + text(*options.max_length) +
        ", but neither truncation nor padding to max_length is asked for; set "
        "truncation to longest_first or padding to max_length");
  }
  if (options.max_length) return *options.max_length;
  if (!config.model_max_length) {
    throw InvalidArgument(std::string(pads ? "cannot pad" : "cannot truncate") +
                          ": no max_length is given and the tokenizer has no "
                          "model_max_length; give max_length");
  }
  check_positive("model_max_length", config.model_max_length);
  return *config.model_max_length;
}

void check_multiple(const EncodeOptions& options, std::int64_t max_length) {
  if (!options.pad_to_multiple_of) return;
  if (options.padding == Padding::do_not_pad) {
    throw InvalidArgument("pad_to_multiple_of is " +
                          text(*options.pad_to_multiple_of) +
                          ", but no padding is asked for; set padding to "
                          "longest or max_length");
  }
  if (options.truncation != Truncation::do_not_truncate &&
      max_length % *options.pad_to_multiple_of != 0) {
    throw InvalidArgument("rows cut to max_length " + text(max_length) +
                          " would be padded past it: it is not a multiple of "
                          "pad_to_multiple_of " +
                          text(*options.pad_to_multiple_of));
  }
}

}  // namespace

EncodePlan plan_encode(const EncodeOptions& options,
                       const TokenizerConfig& config,
                       std::optional<std::int64_t> pad_id) {
  check_positive("max_length", options.max_length);
  check_positive("pad_to_multiple_of", options.pad_to_multiple_of);
  check_positive("threads", options.threads);
  EncodePlan plan;
  plan.padding = options.padding;
  plan.max_length = needed_length(options, config);
  check_multiple(options, plan.max_length);
  plan.multiple = options.pad_to_multiple_of.value_or(1);
  if (options.padding != Padding::do_not_pad) {
    check_pad_token(config, pad_id);
    plan.pad_id = *pad_id;
    plan.pad_type_id = config.pad_token_type_id;
  }
  plan.pad_left =
      options.padding_side.value_or(config.padding_side) == Side::left;
  plan.truncate_left =
      options.truncation_side.value_or(config.truncation_side) == Side::left;
  return plan;
}

std::int64_t padded_length(const EncodePlan& plan,
                           std::span<const std::int64_t> lengths) {
  const bool fixed = plan.padding == Padding::max_length;
  std::int64_t length = fixed ? plan.max_length : 0;
  if (!lengths.empty()) {
    const auto [shortest, longest] =
        std::minmax_element(lengths.begin(), lengths.end());
    if (plan.padding == Padding::do_not_pad && *shortest != *longest) {
      throw InvalidArgument(
          "texts of " + text(*shortest) + " to " + text(*longest) +
          " tokens do not make one block; set padding to longest or "
          "max_length, or encode them one by one");
    }
    if (fixed && *longest > length) {
      throw InvalidArgument(
          "text " + text(longest - lengths.begin()) + " has " + text(*longest) +
          " tokens, more than max_length " + text(length) +
          "; set truncation to longest_first or raise max_length");
    }
    length = std::max(length, *longest);
  }
  return (length + plan.multiple - 1) / plan.multiple * plan.multiple;
}

}  // namespace modelrun::detail
