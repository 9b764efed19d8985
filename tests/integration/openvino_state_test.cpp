// SPDX-License-Identifier: Apache-2.0
// Programs whose cache is in the graph's variables.
#include <cmath>
#include <cstring>
#include <set>

#include "openvino_table.h"

namespace modelrun::openvino_test {
namespace {

using Ids = std::vector<std::int64_t>;

const std::string kFixtures = MODELRUN_TEST_MODELS;

class OpenVinoState : public OpenVinoTest {
 protected:
  void SetUp() override {
    OpenVinoTest::SetUp();
    if (backend == nullptr) return;
    session =
        load(kFixtures + "/llama-decode-stateful/openvino/openvino_model.xml");
  }

  /// Runs tokens after those that the request's state holds; the logits.
  std::vector<float> step(Call& call, Ids ids, std::int64_t past,
                          std::int64_t batch = 1) {
    const auto length = static_cast<std::int64_t>(ids.size()) / batch;
    Ids mask(static_cast<std::size_t>(batch * (past + length)), 1);
    const auto& ports = signature(session);
    const auto input = [&](const char* name, Ids& values, std::int64_t width) {
      call.input(index_of(ports.inputs, ports.input_count, name),
                 {values, {batch, width}});
    };
    input("input_ids", ids, length);
    input("attention_mask", mask, past + length);
    call.run();
    return values_of<float>(
        call.fetch(index_of(ports.outputs, ports.output_count, "logits")));
  }

  void reset(Call& call) {
    for (std::size_t i = 0; i < signature(session).state_count; ++i) {
      require_ok(call.try_bind(MODELRUN_STATE, i, nullptr));
    }
  }

  static bool is_near(const std::vector<float>& a,
                      const std::vector<float>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::abs(a[i] - b[i]) > 1e-5F) return false;
    }
    return true;
  }

  modelrun_session* session = nullptr;
};

TEST_F(OpenVinoState, StatesAreNamedByLeafPathsAndBeamIdxIsNotListed) {
  const auto& ports = signature(session);
  std::set<std::string> states;
  for (std::size_t i = 0; i < ports.state_count; ++i) {
    states.insert(ports.states[i].name);
    EXPECT_EQ(ports.states[i].rank, 4);
    EXPECT_EQ(ports.states[i].dims[1], 2);
  }
  EXPECT_EQ(states, (std::set<std::string>{"past_key_values.layers.0.keys",
                                           "past_key_values.layers.0.values",
                                           "past_key_values.layers.1.keys",
                                           "past_key_values.layers.1.values"}));
  for (std::size_t i = 0; i < ports.input_count; ++i) {
    EXPECT_NE(ports.inputs[i].name, std::string("beam_idx"));
  }
}

// A state that is left over makes a result depend on what ran before.
TEST_F(OpenVinoState, SequenceAfterAResetIsAsTheFirst) {
  Call call(session);
  const auto first = step(call, {5, 6, 7}, 0);
  reset(call);
  const auto other = step(call, {9, 8, 7, 6}, 0);
  reset(call);
  EXPECT_EQ(step(call, {5, 6, 7}, 0), first);
  EXPECT_NE(other, first);
}

TEST_F(OpenVinoState, RequestsHaveStatesOfTheirOwn) {
  Call a(session), b(session);
  const auto alone = [&](Ids first, Ids second) {
    Call call(session);
    (void)step(call, first, 0);
    return step(call, second, static_cast<std::int64_t>(first.size()));
  };
  (void)step(a, {5, 6, 7}, 0);
  (void)step(b, {9, 8, 7, 6}, 0);
  EXPECT_EQ(step(a, {3}, 3), alone({5, 6, 7}, {3}));
  EXPECT_EQ(step(b, {4}, 4), alone({9, 8, 7, 6}, {4}));
}

TEST_F(OpenVinoState, StateThatIsFetchedContinuesInAnotherRequest) {
  Call first(session), second(session);
  (void)step(first, {5, 6, 7}, 0);
  const std::size_t count = signature(session).state_count;
  for (std::size_t i = 0; i < count; ++i) {
    const Fetched state = first.fetch(i, MODELRUN_STATE);
    EXPECT_EQ(shape_of(state), (Ids{1, 2, 3, 8}));
    second.state(i, View(state->dl_tensor.data, kDLFloat32, shape_of(state)));
    // It is copied in: what comes of the tensor is the caller's affair.
    std::memset(state->dl_tensor.data, 0x7f, 1 * 2 * 3 * 8 * sizeof(float));
  }
  EXPECT_TRUE(is_near(step(second, {3}, 3), step(first, {3}, 3)));
}

TEST_F(OpenVinoState, FetchedStateIsNotChangedByTheNextRun) {
  Call call(session);
  (void)step(call, {5, 6, 7}, 0);
  const Fetched state = call.fetch(0, MODELRUN_STATE);
  const auto before = values_of<float>(state);
  (void)step(call, {3}, 3);
  EXPECT_EQ(values_of<float>(state), before);
  EXPECT_EQ(shape_of(call.fetch(0, MODELRUN_STATE)), (Ids{1, 2, 4, 8}));
}

TEST_F(OpenVinoState, EveryRowOfABatchKeepsItsOwnCache) {
  const auto alone = [&](std::int64_t id) {
    Call call(session);
    (void)step(call, {id, id + 1}, 0);
    return step(call, {id + 2}, 2);
  };
  Call call(session);
  (void)step(call, {5, 6, 15, 16, 25, 26}, 0, 3);
  const auto together = step(call, {7, 17, 27}, 2, 3);
  std::vector<float> expected;
  for (const std::int64_t id : {5, 15, 25}) {
    const auto one = alone(id);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  EXPECT_TRUE(is_near(together, expected));
  // Another number of rows, in the same request.
  reset(call);
  (void)step(call, {5, 6}, 0);
  EXPECT_TRUE(is_near(step(call, {7}, 2), alone(5)));
}

TEST_F(OpenVinoState, RowsComeFromTheCacheWhenThereIsOne) {
  Call call(session);
  std::vector<float> zeros(3 * 2 * 2 * 8);
  for (std::size_t i = 0; i < signature(session).state_count; ++i) {
    call.state(i, {zeros, {3, 2, 2, 8}});
  }
  EXPECT_EQ(step(call, {7, 8, 9}, 2, 3).size(), 3U * 64U);
  EXPECT_EQ(shape_of(call.fetch(0, MODELRUN_STATE)), (Ids{3, 2, 3, 8}));
}

TEST_F(OpenVinoState, EmptyStateIsAsNone) {
  Call fresh(session), empty(session);
  const View none(nullptr, kDLFloat32, {2, 2, 0, 8});
  for (std::size_t i = 0; i < signature(session).state_count; ++i) {
    empty.state(i, none);
  }
  EXPECT_EQ(step(empty, {5, 6, 7, 8}, 0, 2), step(fresh, {5, 6, 7, 8}, 0, 2));
}

TEST_F(OpenVinoState, StatesThatDisagreeAreRefused) {
  Call call(session);
  std::vector<float> zeros(3 * 2 * 2 * 8);
  call.state(0, {zeros, {3, 2, 2, 8}});
  call.state(1, {zeros.data(), kDLFloat32, {2, 2, 2, 8}});
  Ids ids(3, 5), mask(9, 1);
  const auto& ports = signature(session);
  call.input(index_of(ports.inputs, ports.input_count, "input_ids"),
             {ids, {3, 1}});
  call.input(index_of(ports.inputs, ports.input_count, "attention_mask"),
             {mask, {3, 3}});
  const Result result = call.try_run();
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_TRUE(has(result.text,
                  "the state 'past_key_values.layers.0.keys' holds 3 rows, and "
                  "'past_key_values.layers.0.values' 2"));
}

TEST_F(OpenVinoState, StateThatDoesNotFitOrIsNotThereSaysSo) {
  Call call(session);
  Fetched none;
  EXPECT_TRUE(has(call.try_fetch(0, none, MODELRUN_STATE).text,
                  "there was no run since it was reset"));
  std::vector<float> zeros(64);
  const View other(zeros.data(), kDLFloat32, {1, 4, 2, 8});
  const Result result = call.try_bind(MODELRUN_STATE, 0, &other.tensor);
  EXPECT_EQ(result.status, MODELRUN_INVALID_ARGUMENT);
  EXPECT_TRUE(has(result.text, "expected float32[?, 2, ?, 8]"));
  EXPECT_TRUE(has(call.try_bind(MODELRUN_STATE, 9, &other.tensor).text,
                  "state 9: the program has 4"));
}

// The cache of a sliding window has a counter without axes among its leaves.
TEST_F(OpenVinoState, RowsDoNotComeFromACounter) {
  session = load(kFixtures + "/gemma3-generation/openvino/openvino_decode.xml");
  Call call(session);
  std::vector<float> zeros(3 * 2 * 2 * 8);
  const auto& ports = signature(session);
  for (std::size_t i = 0; i < ports.state_count; ++i) {
    EXPECT_EQ(ports.states[i].rank, 4);
    call.state(i, {zeros, {3, 2, 2, 8}});
  }
  Ids ids{5, 6, 7}, mask(9, 1), positions(3, 2);
  const auto input = [&](const char* name, Ids& values, std::int64_t width) {
    call.input(index_of(ports.inputs, ports.input_count, name),
               {values, {3, width}});
  };
  input("input_ids", ids, 1);
  input("attention_mask", mask, 3);
  input("position_ids", positions, 1);
  call.run();
  EXPECT_EQ(shape_of(call.fetch(
                index_of(ports.outputs, ports.output_count, "logits"))),
            (Ids{3, 1, 64}));
}

// The runtime's own choice is 8 bits.
TEST_F(OpenVinoState, CacheKeepsTheExportsPrecisionUnlessAskedOtherwise) {
  EXPECT_TRUE(describe(session)["kv_cache_precision"] == "float32");
  session =
      load(kFixtures + "/llama-decode-stateful/openvino/openvino_model.xml",
           R"({"threads": 1, "config": {"KV_CACHE_PRECISION": "u8"}})");
  EXPECT_TRUE(describe(session)["kv_cache_precision"] == "uint8");
}

// A failed run leaves its shapes in the graph that all requests run.
TEST_F(OpenVinoState, FailedRunOfAnotherRequestChangesNothing) {
  Call right(session), wrong(session);
  Call undisturbed(session);
  (void)step(undisturbed, {5, 6, 7}, 0);
  const auto expected = step(undisturbed, {3}, 3);
  (void)step(right, {5, 6, 7}, 0);
  // Rows that are not those of the cache.
  std::vector<float> zeros(3 * 2 * 2 * 8);
  for (std::size_t i = 0; i < signature(session).state_count; ++i) {
    wrong.state(i, {zeros, {3, 2, 2, 8}});
  }
  EXPECT_THROW((void)step(wrong, {1, 2}, 2, 2), std::runtime_error);
  EXPECT_TRUE(is_near(step(right, {3}, 3), expected));
  reset(wrong);
  (void)step(wrong, {5, 6, 7}, 0);
  EXPECT_TRUE(is_near(step(wrong, {3}, 3), expected));
}

}  // namespace
}  // namespace modelrun::openvino_test
