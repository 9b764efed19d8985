// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/plan.h"

#include <algorithm>
#include <set>

#include "backends/executorch/api.h"
#include "backends/executorch/flat_table.h"

namespace modelrun::executorch {
namespace {

// The numbers of the fields in ExecuTorch's schema/program.fbs.
namespace field {
constexpr int kProgramVersion = 0, kProgramPlans = 1;
constexpr int kPlanName = 0, kPlanOutputs = 4, kPlanChains = 5,
              kPlanOperators = 6, kPlanDelegates = 7;
constexpr int kChainInstructions = 2;
constexpr int kInstructionKind = 0, kInstruction = 1;
constexpr int kCallArguments = 1;
constexpr int kMoveTo = 1;
constexpr int kOperatorName = 0, kOperatorOverload = 1;
constexpr int kDelegateId = 0;
}  // namespace field

/// The kinds of instruction that write values.
constexpr std::uint8_t kKernelCall = 1, kDelegateCall = 2, kMoveCall = 3;

/// Arguments are values that are read and those that are written, alike.
void add_written(const FlatTable& instruction, std::set<std::int32_t>& values) {
  const auto kind =
      instruction.number<std::uint8_t>(field::kInstructionKind, 0);
  const auto call = instruction.table(field::kInstruction);
  if (!call) return;
  if (kind == kKernelCall || kind == kDelegateCall) {
    const auto arguments = call->integers(field::kCallArguments);
    values.insert(arguments.begin(), arguments.end());
  } else if (kind == kMoveCall) {
    values.insert(call->number<std::int32_t>(field::kMoveTo, 0));
  }
}

template <typename Name>
std::vector<std::string> names(const std::vector<FlatTable>& tables,
                               Name name) {
  std::set<std::string> found;
  for (const FlatTable& table : tables) found.insert(name(table));
  return {found.begin(), found.end()};
}

std::string operator_name(const FlatTable& table) {
  const std::string overload = table.text(field::kOperatorOverload);
  const std::string name = table.text(field::kOperatorName);
  return overload.empty() ? name : name + "." + overload;
}

Plan plan_of(const FlatTable& table) {
  Plan plan;
  plan.operators = names(table.tables(field::kPlanOperators), operator_name);
  plan.backends = names(
      table.tables(field::kPlanDelegates),
      [](const FlatTable& each) { return each.text(field::kDelegateId); });
  std::set<std::int32_t> written;
  for (const FlatTable& chain : table.tables(field::kPlanChains)) {
    for (const auto& each : chain.tables(field::kChainInstructions)) {
      add_written(each, written);
    }
  }
  for (const std::int32_t output : table.integers(field::kPlanOutputs)) {
    plan.computed.push_back(written.count(output) != 0);
  }
  return plan;
}

}  // namespace

ProgramFacts read_facts(std::span<const std::byte> program) {
  const FlatTable root = FlatTable::root(program);
  ProgramFacts facts;
  facts.version = root.number<std::uint32_t>(field::kProgramVersion, 0);
  for (const FlatTable& plan : root.tables(field::kProgramPlans)) {
    facts.methods.push_back(plan.text(field::kPlanName));
  }
  return facts;
}

Plan read_plan(std::span<const std::byte> program, const std::string& method) {
  for (const FlatTable& plan :
       FlatTable::root(program).tables(field::kProgramPlans)) {
    if (plan.text(field::kPlanName) == method) return plan_of(plan);
  }
  throw Failure(MODELRUN_BACKEND_ERROR,
                "the program has no method '" + method + "'");
}

}  // namespace modelrun::executorch
