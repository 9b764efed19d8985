// SPDX-License-Identifier: Apache-2.0
// Many threads on one real model: every answer is the one that its inputs have
// when nothing else runs.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "support/exports.h"

namespace modelrun::testing {
namespace {

constexpr int kThreads = 6;
constexpr int kRounds = 12;

/// Runs `body` in every thread with its number; counts what is false.
int failures_of(const std::function<bool(int thread, int round)>& body) {
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        if (!body(thread, round)) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failures;
}

// One call of a shape and of ids of its own, with its answer.
struct Known {
  NamedValues kwargs;
  Tensor answer;
};

std::vector<Known> known_calls(const ExportedModel& model) {
  std::vector<Known> calls;
  for (std::int64_t i = 0; i < kThreads; ++i) {
    const Shape shape{1 + i % 3, 2 + i};
    NamedValues kwargs{{"input_ids", token_ids(shape, i * 31)},
                       {"attention_mask", int64s(shape, 1)}};
    Tensor answer = call(model, kwargs)[0].tensor();
    calls.push_back({std::move(kwargs), std::move(answer)});
  }
  return calls;
}

TEST(ConcurrentCalls, AnswerTheirOwnInputs) {
  // One thread an operator, so that sums have one order.
  const auto model = open_export("bert", {.threads = 1});
  const auto calls = known_calls(model);
  EXPECT_EQ(failures_of([&](int thread, int round) {
              const Known& known =
                  calls[static_cast<std::size_t>((thread + round) % kThreads)];
              const Outputs outputs = call(model, known.kwargs,
                                           {.share_inputs = round % 3 != 0,
                                            .share_outputs = round % 2 == 0});
              return equal(outputs[0].tensor(), known.answer);
            }),
            0);
}

TEST(ConcurrentCalls, HeldOutputsStayWhatTheyAre) {
  const auto model = open_export("bert", {.threads = 1});
  const auto calls = known_calls(model);
  std::vector<std::vector<Outputs>> held(kThreads);
  EXPECT_EQ(failures_of([&](int thread, int round) {
              auto& own = held[static_cast<std::size_t>(thread)];
              const Known& known = calls[static_cast<std::size_t>(thread)];
              if (round % 3 == 0) own.clear();
              own.push_back(call(model, known.kwargs, {.share_outputs = true}));
              for (const Outputs& outputs : own) {
                if (!equal(outputs[0].tensor(), known.answer)) return false;
              }
              return true;
            }),
            0);
}

TEST(ConcurrentCalls, BoundCallsRunSideBySide) {
  const auto model = open_export("bert", {.threads = 1});
  const auto calls = known_calls(model);
  std::vector<BoundCall> bound;
  for (const Known& known : calls) {
    bound.push_back(model.bind(as_kwargs(known.kwargs)));
  }
  EXPECT_EQ(failures_of([&](int thread, int) {
              const auto own = static_cast<std::size_t>(thread);
              return equal(bound[own]()[0].tensor(), calls[own].answer);
            }),
            0);
}

TEST(ConcurrentCalls, EachSequenceKeepsItsOwnCache) {
  const auto model = open_export("llama-decode", {.threads = 1});
  const NamedValues start = kwargs_of("llama-decode", "batch1-past3-step0");
  const auto decode = [&](int seed, bool share) {
    NamedValues kwargs = start;
    Tensor logits;
    for (std::int64_t step = 0; step < 4; ++step) {
      kwargs = with(with(kwargs, "input_ids", token_ids({1, 1}, seed + step)),
                    "attention_mask", int64s({1, 4 + step}, 1));
      const Outputs outputs = call(model, kwargs, {.share_outputs = share});
      kwargs = with(kwargs, "past_key_values", outputs["past_key_values"]);
      logits = outputs["logits"].tensor().clone();
    }
    return logits;
  };
  std::vector<Tensor> answers;
  for (int i = 0; i < kThreads; ++i) answers.push_back(decode(i * 7, false));
  EXPECT_FALSE(equal(answers[0], answers[1]));
  EXPECT_EQ(failures_of([&](int thread, int round) {
              if (round >= 4) return true;
              return equal(decode(thread * 7, round % 2 == 0),
                           answers[static_cast<std::size_t>(thread)]);
            }),
            0);
}

TEST(ConcurrentCalls, ModelsLoadSideBySide) {
  const auto alone = open_export("bert", {.threads = 1});
  const auto calls = known_calls(alone);
  EXPECT_EQ(failures_of([&](int thread, int round) {
              if (round >= 2) return true;
              const Known& known = calls[static_cast<std::size_t>(thread)];
              const auto model = open_export("bert", {.threads = 1});
              return equal(call(model, known.kwargs)[0].tensor(), known.answer);
            }),
            0);
}

TEST(ConcurrentCalls, RefusedCallsDoNotDisturbOthers) {
  const auto model = open_export("bert", {.threads = 1});
  const auto calls = known_calls(model);
  EXPECT_EQ(failures_of([&](int thread, int round) {
              const Known& known = calls[static_cast<std::size_t>(thread)];
              if ((thread + round) % 2 == 0) {
                return refusal(model,
                               without(known.kwargs, "attention_mask")) ==
                       "missing inputs: expected 'attention_mask' int64[s43, "
                       "s53]; got 'input_ids'";
              }
              return equal(call(model, known.kwargs)[0].tensor(), known.answer);
            }),
            0);
}

}  // namespace
}  // namespace modelrun::testing
