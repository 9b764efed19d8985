// SPDX-License-Identifier: Apache-2.0
#include "modelrun/error.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace modelrun {
namespace {

template <typename Kind>
class ErrorKind : public ::testing::Test {};

using Kinds =
    ::testing::Types<InvalidArgument, NotFound, Unsupported, BackendError>;
TYPED_TEST_SUITE(ErrorKind, Kinds);

TYPED_TEST(ErrorKind, IsCaughtAsTheRootWithItsMessage) {
  try {
    throw TypeParam("no 'x' in y");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no 'x' in y");
    EXPECT_NE(dynamic_cast<const TypeParam*>(&error), nullptr);
  }
}

TYPED_TEST(ErrorKind, IsOfNoOtherKind) {
  EXPECT_EQ((std::is_base_of_v<InvalidArgument, TypeParam>),
            (std::is_same_v<InvalidArgument, TypeParam>));
  EXPECT_EQ((std::is_base_of_v<NotFound, TypeParam>),
            (std::is_same_v<NotFound, TypeParam>));
  EXPECT_EQ((std::is_base_of_v<Unsupported, TypeParam>),
            (std::is_same_v<Unsupported, TypeParam>));
  EXPECT_EQ((std::is_base_of_v<BackendError, TypeParam>),
            (std::is_same_v<BackendError, TypeParam>));
}

TEST(Error, IsAStandardRuntimeError) {
  try {
    throw NotFound(std::string("a string"));
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "a string");
  }
}

}  // namespace
}  // namespace modelrun
