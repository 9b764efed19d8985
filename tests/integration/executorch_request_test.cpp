// SPDX-License-Identifier: Apache-2.0
// Binding, running and fetching: bounds, memory and errors.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <thread>

#include "executorch_table.h"
#include "support/tensor_difference.h"

namespace modelrun::executorch_test {
namespace {

using ExecuTorchRequest = ExecuTorchTest;
using Ids = std::vector<std::int64_t>;

/// Ids and a mask of one shape, bound to the two inputs of a BERT.
struct BertInputs {
  BertInputs(std::int64_t batch, std::int64_t length)
      : ids(static_cast<std::size_t>(batch * length)),
        mask(ids.size(), 1),
        shape{batch, length} {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<std::int64_t>(i * 7 % 50 + 1);
    }
  }
  void bind(Call& call) {
    call.input(0, {ids, shape});
    call.input(1, {mask, shape});
  }

  Ids ids, mask, shape;
};

std::vector<float> hidden_states(Call& call, BertInputs& inputs) {
  inputs.bind(call);
  call.run();
  return values_of<float>(call.fetch(0));
}

TEST_F(ExecuTorchRequest, EveryLengthUpToTheBoundRunsAndOneMoreIsRefused) {
  Call call(load(program("bert")));
  std::vector<float> before;
  for (const std::int64_t length : {1, 63, 64}) {
    BertInputs inputs(2, length);
    inputs.bind(call);
    call.run();
    EXPECT_EQ(shape_of(call.fetch(0)), (Ids{2, length, 32}));
  }
  BertInputs longest(2, 64);
  const auto expected = hidden_states(call, longest);
  BertInputs longer(2, 65);
  const Result result = call.try_input(0, {longer.ids, longer.shape});
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_TRUE(has(result.text,
                  "cannot bind int64[2, 65] to '#0': axis 1 is 65, but the "
                  "program was exported for at most 64 (it takes int64[<="));
  EXPECT_TRUE(has(result.text, "dynamic_shapes"));
  // What was bound before is bound still, and runs.
  call.run();
  EXPECT_EQ(values_of<float>(call.fetch(0)), expected);
  EXPECT_EQ(hidden_states(call, longest), expected);
}

TEST_F(ExecuTorchRequest, AxesAreBoundedOneByOneAndNotByTheirProduct) {
  Call call(load(program("bert")));
  BertInputs inputs(1, 100);
  EXPECT_TRUE(
      has(call.try_input(0, {inputs.ids, {1, 100}}).text, "axis 1 is 100"));
}

TEST_F(ExecuTorchRequest, ShapesThatDoNotFitEachOtherAreAnErrorInWords) {
  Call call(load(program("bert")));
  BertInputs inputs(2, 6);
  BertInputs other(2, 5);
  call.input(0, {inputs.ids, inputs.shape});
  call.input(1, {other.mask, other.shape});
  const Result result = call.try_run();
  EXPECT_NE(result.status, MODELRUN_OK);
  EXPECT_TRUE(
      has(result.text, "running with #0 int64[2, 6], #1 int64[2, 5]: "));
  EXPECT_FALSE(has(result.text, "0x"));
  Fetched none;
  EXPECT_TRUE(has(call.try_fetch(0, none).text, "the last one failed"));
  EXPECT_EQ(hidden_states(call, inputs).size(), 2U * 6 * 32);
}

TEST_F(ExecuTorchRequest, WrongDtypeOrRankIsRefusedByName) {
  Call call(load(program("bert")));
  std::vector<float> floats(12);
  Result result = call.try_input(0, {floats, {2, 6}});
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_TRUE(has(result.text,
                  "cannot bind float32[2, 6] to '#0': expected "
                  "int64[<="));
  Ids ids(12);
  EXPECT_TRUE(
      has(call.try_input(0, {ids, {12}}).text, "cannot bind int64[12]"));
}

TEST_F(ExecuTorchRequest, UnboundInputsAreNamed) {
  Call call(load(program("bert")));
  EXPECT_EQ(call.try_run().text,
            "cannot run: nothing is bound to the inputs #0, #1");
  BertInputs inputs(1, 3);
  hidden_states(call, inputs);
  // An input that was cleared is never the memory of an earlier call.
  require_ok(call.try_bind(MODELRUN_INPUT, 1, nullptr));
  EXPECT_EQ(call.try_run().text,
            "cannot run: nothing is bound to the inputs #1");
}

TEST_F(ExecuTorchRequest, PortsThatAreNotThereAreRefused) {
  Call call(load(program("bert")));
  EXPECT_TRUE(has(call.try_bind(MODELRUN_INPUT, 2, nullptr).text,
                  "input 2: the program has 2"));
  EXPECT_TRUE(has(call.try_bind(MODELRUN_STATE, 0, nullptr).text, "no state"));
  Fetched none;
  EXPECT_TRUE(has(call.try_fetch(0, none).text, "there was no run"));
}

TEST_F(ExecuTorchRequest, NewContentsOfTheSameMemoryAreSeen) {
  for (const char* name : {"bert", "bert-unallocated"}) {
    Call call(load(program(name)));
    BertInputs inputs(2, 5);
    const auto first = hidden_states(call, inputs);
    inputs.ids[0] += 1;
    call.run();
    const auto second = values_of<float>(call.fetch(0));
    EXPECT_NE(first, second) << name;
    inputs.ids[0] -= 1;
    call.run();
    EXPECT_EQ(values_of<float>(call.fetch(0)), first) << name;
  }
}

TEST_F(ExecuTorchRequest, OutputsWithoutPlannedMemoryAreGivenEnough) {
  Call planned(load(program("bert")));
  Call unplanned(load(program("bert-unallocated")));
  for (const std::int64_t length : {1, 64, 2, 33}) {
    BertInputs inputs(3, length);
    EXPECT_EQ(hidden_states(unplanned, inputs), hidden_states(planned, inputs))
        << length;
  }
}

TEST_F(ExecuTorchRequest, OutputBoundToAnotherShapeIsRefusedAndNotWritten) {
  for (const char* name : {"bert", "bert-unallocated"}) {
    Call call(load(program(name)));
    BertInputs inputs(1, 4);
    inputs.bind(call);
    std::vector<float> small(1 * 2 * 32, 7.0F);
    call.output(0, {small, {1, 2, 32}});
    const Result result = call.try_run();
    EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
    EXPECT_EQ(result.text,
              "output '#0' is bound to float32[1, 2, 32], but the run gave "
              "float32[1, 4, 32]");
    EXPECT_EQ(small, std::vector<float>(small.size(), 7.0F));
    require_ok(call.try_bind(MODELRUN_OUTPUT, 0, nullptr));
    call.run();
    EXPECT_EQ(shape_of(call.fetch(0)), (Ids{1, 4, 32}));
  }
}

TEST_F(ExecuTorchRequest, FetchedTensorsOutliveEverything) {
  Fetched kept;
  std::vector<float> expected;
  {
    Call call(load(program("bert")));
    BertInputs inputs(2, 3);
    expected = hidden_states(call, inputs);
    call.run();
    kept = call.fetch(0);
    Fetched again;
    EXPECT_TRUE(has(call.try_fetch(0, again).text, "fetched before"));
    BertInputs other(1, 9);
    hidden_states(call, other);
  }
  close();
  host.reset();
  EXPECT_EQ(values_of<float>(kept), expected);
  std::thread([&] { kept.reset(); }).join();
}

TEST_F(ExecuTorchRequest, EmptyCacheMayHaveNoAddress) {
  const auto golden = testing::fixture("llama-decode", "executorch");
  Call call(load(golden.path / "model.pte"));
  Ids ids{3, 4}, mask{1, 1};
  call.input(0, {ids, {1, 2}});
  call.input(1, {mask, {1, 2}});
  for (std::size_t i = 2; i < call.signature.input_count; ++i) {
    call.input(i, {nullptr, kDLFloat32, {1, 2, 0, 8}});
  }
  call.run();
  EXPECT_EQ(shape_of(call.fetch(1)), (Ids{1, 2, 2, 8}));
}

TEST_F(ExecuTorchRequest, EmptyBatchRunsOrIsAnError) {
  Call call(load(program("bert")));
  BertInputs inputs(0, 4);
  call.input(0, {nullptr, kDLInt64, {0, 4}});
  call.input(1, {nullptr, kDLInt64, {0, 4}});
  if (call.try_run().status == MODELRUN_OK) {
    EXPECT_EQ(shape_of(call.fetch(0)), (Ids{0, 4, 32}));
  }
  BertInputs others(1, 4);
  EXPECT_EQ(hidden_states(call, others).size(), 1U * 4 * 32);
}

/// Memory that ends where the next page cannot be read.
class LastBytesOfAPage {
 public:
  explicit LastBytesOfAPage(std::size_t bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ =
        static_cast<std::byte*>(mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + page_, page_, PROT_NONE);
    data = memory_ + page_ - bytes;
  }
  ~LastBytesOfAPage() { munmap(memory_, 2 * page_); }

  std::byte* data = nullptr;

 private:
  std::size_t page_;
  std::byte* memory_ = nullptr;
};

TEST_F(ExecuTorchRequest, InputsMayEndAtTheEndOfReadableMemory) {
  for (const char* name : {"bert", "bert-unplanned"}) {
    Call call(load(program(name)));
    BertInputs inputs(1, 5);
    const auto expected = hidden_states(call, inputs);
    const std::size_t bytes = 5 * sizeof(std::int64_t);
    LastBytesOfAPage ids(bytes), mask(bytes);
    std::memcpy(ids.data, inputs.ids.data(), bytes);
    std::memcpy(mask.data, inputs.mask.data(), bytes);
    call.input(0, {ids.data, kDLInt64, {1, 5}});
    call.input(1, {mask.data, kDLInt64, {1, 5}});
    call.run();
    EXPECT_EQ(values_of<float>(call.fetch(0)), expected) << name;
  }
}

/// The first call of a decode whose program writes its cache in the memory that
/// it is given, or in its own.
class StaticCacheCall {
 public:
  StaticCacheCall(modelrun_session* session, const testing::Fixture& fixture)
      : call(session) {
    for (const auto& golden : fixture.cases) {
      if (golden.component != "decode") continue;
      tensors_ = testing::load_golden(golden.inputs).tensors;
      break;
    }
    for (std::size_t i = 0; i < call.signature.input_count; ++i) {
      const Tensor given = tensor(i);
      const auto* data = static_cast<const std::byte*>(given.raw_data());
      memory.emplace_back(data, data + given.byte_size());
      shapes.emplace_back(given.shape().begin(), given.shape().end());
      call.input(i, view(i));
    }
  }

  View view(std::size_t input) {
    return {memory[input].data(), call.signature.inputs[input].dtype,
            shapes[input]};
  }

  Call call;
  std::vector<std::vector<std::byte>> memory;
  std::vector<Ids> shapes;

 private:
  [[nodiscard]] Tensor tensor(std::size_t input) const {
    static const std::vector<std::string> kPaths{
        "input_ids",
        "attention_mask",
        "position_ids",
        "past_key_values.layers.0.keys",
        "past_key_values.layers.0.values",
        "past_key_values.layers.0.cumulative_length",
        "past_key_values.layers.1.keys",
        "past_key_values.layers.1.values",
        "past_key_values.layers.1.cumulative_length"};
    for (const auto& [name, value] : tensors_) {
      if (name == kPaths.at(input)) return value.tensor();
    }
    throw std::runtime_error("no golden tensor " + kPaths.at(input));
  }

  NamedValues tensors_;
};

// A program that is given its inputs' memory would write a cache to it.
TEST_F(ExecuTorchRequest, InputsAreNotChangedUnlessAnOutputIsBoundToThem) {
  for (const char* name :
       {"llama-static-cache", "llama-static-cache-unplanned"}) {
    SCOPED_TRACE(name);
    const auto fixture = testing::fixture(name, "executorch");
    StaticCacheCall decode(load(fixture.path / "decode.pte"), fixture);
    const auto before = decode.memory;
    decode.call.run();
    EXPECT_EQ(decode.memory, before);
    // Output 0 is the first layer's keys, input 3, as they are now.
    const Fetched keys = decode.call.fetch(0);
    const auto* data = static_cast<const std::byte*>(keys->dl_tensor.data);
    const std::vector<std::byte> updated(data, data + before[3].size());
    EXPECT_NE(updated, before[3]);

    decode.call.output(0, decode.view(3));
    decode.call.run();
    EXPECT_EQ(decode.memory[3], updated);
    EXPECT_EQ(decode.memory[4], before[4]);
  }
}

TEST_F(ExecuTorchRequest, RequestsOfOneSessionRunOnManyThreads) {
  auto* session = load(program("bert"), R"({"threads": 1})");
  Call first(session);
  BertInputs inputs(2, 9);
  const auto expected = hidden_states(first, inputs);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&] {
      Call call(session);
      BertInputs own(2, 9);
      BertInputs shorter(1, 4);
      for (int round = 0; round < 10; ++round) {
        if (hidden_states(call, own) != expected) ++wrong;
        hidden_states(call, shorter);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ExecuTorchRequest, CancelDoesNothingToLaterRuns) {
  Call call(load(program("bert")));
  table().request_cancel(call.request);
  BertInputs inputs(1, 2);
  EXPECT_EQ(hidden_states(call, inputs).size(), 1U * 2 * 32);
}

}  // namespace
}  // namespace modelrun::executorch_test
