// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The numbers of the fields in ExecuTorch's schema/program.fbs.
namespace modelrun::executorch::field {

inline constexpr int kProgramVersion = 0, kProgramPlans = 1,
                     kProgramInlineData = 3, kProgramSegments = 4,
                     kProgramNamedData = 7;
inline constexpr int kPlanName = 0, kPlanValues = 2, kPlanInputs = 3,
                     kPlanOutputs = 4, kPlanChains = 5, kPlanOperators = 6,
                     kPlanDelegates = 7;
inline constexpr int kChainInstructions = 2;
inline constexpr int kInstructionKind = 0, kInstruction = 1;
inline constexpr int kCalled = 0, kCallArguments = 1;
inline constexpr int kMoveFrom = 0, kMoveTo = 1;
inline constexpr int kJumpCondition = 0, kJumpTo = 1;
inline constexpr int kFreed = 0;
inline constexpr int kValueKind = 0, kValue = 1;
inline constexpr int kTensorType = 0, kTensorSizes = 2, kTensorConstant = 5,
                     kTensorMemory = 6;
inline constexpr int kMemoryBuffer = 0, kMemoryOffsetLow = 1,
                     kMemoryOffsetHigh = 2;
inline constexpr int kListItems = 0;
inline constexpr int kOperatorName = 0, kOperatorOverload = 1;
inline constexpr int kDelegateId = 0, kDelegateData = 1;
inline constexpr int kDataPlace = 0, kDataIndex = 1;
inline constexpr int kInlineData = 0;
inline constexpr int kSegmentOffset = 0, kSegmentSize = 1;
inline constexpr int kNamedKey = 0, kNamedSegment = 1;

/// The kinds of value.
inline constexpr std::uint8_t kTensorValue = 5, kTensorListValue = 10;

/// The kinds of instruction.
inline constexpr std::uint8_t kKernelCall = 1, kDelegateCall = 2, kMoveCall = 3,
                              kJumpFalseCall = 4, kFreeCall = 5;

/// Where a delegate's data is: in the flatbuffer, or in a segment.
inline constexpr std::int8_t kDataInline = 0, kDataInSegment = 1;

}  // namespace modelrun::executorch::field
