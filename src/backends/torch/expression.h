// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace modelrun::torch {

/// A size as an archive writes it, `Add(Integer(1), Symbol('s36', ...))`, in
/// the form that ports have: `1 + s36`. A text of another form is returned as
/// it is, cut to 200 bytes.
[[nodiscard]] std::string readable_expression(std::string_view text);

}  // namespace modelrun::torch
