// SPDX-License-Identifier: Apache-2.0
#include "backends/executorch/plan.h"

#include <algorithm>
#include <set>

#include "backends/executorch/api.h"
#include "backends/executorch/delegate_data.h"
#include "backends/executorch/flat_table.h"
#include "backends/executorch/program_fields.h"

namespace modelrun::executorch {
namespace {

[[noreturn]] void damaged(const std::string& why) {
  throw Failure(MODELRUN_BACKEND_ERROR, "the program is damaged: " + why);
}

/// The runtime looks numbers up without asking whether there are so many, so
/// that a damaged program would crash.
void check_number(std::int64_t number, std::size_t count, const char* what) {
  if (number >= 0 && static_cast<std::uint64_t>(number) < count) return;
  damaged("it has " + std::to_string(count) + ' ' + what +
          ", and uses number " + std::to_string(number));
}

/// The instructions of one method, checked, and the values that they write.
class InstructionReader {
 public:
  explicit InstructionReader(const FlatTable& plan)
      : values_(plan.tables(field::kPlanValues)),
        operators_(plan.tables(field::kPlanOperators)),
        delegates_(plan.tables(field::kPlanDelegates).size()) {
    for (const FlatTable& chain : plan.tables(field::kPlanChains)) {
      const auto instructions = chain.tables(field::kChainInstructions);
      for (const auto& each : instructions) read(each, instructions.size());
    }
  }

  [[nodiscard]] bool writes(std::int32_t value) const {
    return written_.count(value) != 0;
  }

 private:
  void read(const FlatTable& instruction, std::size_t count) {
    const auto call = instruction.table(field::kInstruction);
    if (!call) return check_number(0, 0, "instructions of this kind");
    switch (instruction.number<std::uint8_t>(field::kInstructionKind, 0)) {
      case field::kKernelCall:
        check_number(call->number(field::kCalled, 0), operators_.size(),
                     "operators");
        read_arguments(*call);
        return check_results(*call);
      case field::kDelegateCall:
        check_number(call->number(field::kCalled, 0), delegates_, "delegates");
        return read_arguments(*call);
      case field::kMoveCall:
        check_value(call->number(field::kMoveFrom, 0));
        written_.insert(call->number(field::kMoveTo, 0));
        return check_value(call->number(field::kMoveTo, 0));
      case field::kJumpFalseCall:
        check_number(call->number(field::kJumpTo, 0), count + 1,
                     "instructions");
        return check_value(call->number(field::kJumpCondition, 0));
      case field::kFreeCall:
        return check_value(call->number(field::kFreed, 0));
      default:
        check_number(0, 0, "instructions of this kind");
    }
  }

  /// Arguments are values that are read and those that are written, alike.
  void read_arguments(const FlatTable& call) {
    for (const auto value : call.integers(field::kCallArguments)) {
      check_value(value);
      written_.insert(value);
    }
  }

  /// A kernel is given what it writes, and it comes again as its result: as the
  /// last argument, or as the list of several. A constant is in the file.
  void check_results(const FlatTable& call) const {
    const auto arguments = call.integers(field::kCallArguments);
    if (arguments.empty()) return;
    auto results = list_of(arguments.back());
    if (results.empty()) results.push_back(arguments.back());
    for (const auto result : results) {
      check_value(result);
      if (is_constant(values_[static_cast<std::size_t>(result)])) {
        damaged("it writes to a constant");
      }
    }
    const auto number = call.number<std::int32_t>(field::kCalled, 0);
    const FlatTable& called = operators_[static_cast<std::size_t>(number)];
    if (!called.text(field::kOperatorOverload).ends_with("out")) return;
    const auto end = arguments.end() - 1;
    const auto count = static_cast<std::ptrdiff_t>(results.size());
    if (end - arguments.begin() < count ||
        !std::equal(results.begin(), results.end(), end - count)) {
      damaged("a call has other results than it is given");
    }
  }

  [[nodiscard]] std::vector<std::int32_t> list_of(std::int32_t number) const {
    const FlatTable& value = values_[static_cast<std::size_t>(number)];
    const auto list = value.table(field::kValue);
    const auto kind = value.number<std::uint8_t>(field::kValueKind, 0);
    if (kind != field::kTensorListValue || !list) return {};
    return list->integers(field::kListItems);
  }

  void check_value(std::int32_t value) const {
    check_number(value, values_.size(), "values");
  }

  std::vector<FlatTable> values_;
  std::vector<FlatTable> operators_;
  std::size_t delegates_;
  std::set<std::int32_t> written_;
};

/// An input that is a constant would be written to the file's memory.
void check_inputs(const FlatTable& plan) {
  const auto values = plan.tables(field::kPlanValues);
  for (const auto index : plan.integers(field::kPlanInputs)) {
    check_number(index, values.size(), "values");
    const FlatTable& value = values[static_cast<std::size_t>(index)];
    if (is_constant(value)) {
      damaged("an input of it is a constant");
    }
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

Plan plan_of(const FlatTable& table, const DelegateData& data) {
  Plan plan;
  plan.operators = names(table.tables(field::kPlanOperators), operator_name);
  plan.backends = names(
      table.tables(field::kPlanDelegates),
      [](const FlatTable& each) { return each.text(field::kDelegateId); });
  check_inputs(table);
  const InstructionReader instructions(table);
  for (const auto output : table.integers(field::kPlanOutputs)) {
    plan.computed.push_back(instructions.writes(output));
  }
  plan.state = find_state(table);
  check_delegates(table, data);
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
    if (plan.text(field::kPlanName) == method) {
      return plan_of(plan, DelegateData(program));
    }
  }
  throw Failure(MODELRUN_BACKEND_ERROR,
                "the program has no method '" + method + "'");
}

}  // namespace modelrun::executorch
