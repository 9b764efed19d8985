// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "backend/backend.h"
#include "backends/fake/fake_backend.h"
#include "modelrun/error.h"
#include "support/fake_folder.h"
#include "support/fake_program.h"

namespace modelrun {
namespace {

using testing::FakeFolder;
using testing::FakeProgram;

class RequestTest : public ::testing::Test {
 protected:
  std::shared_ptr<Session> load(const FakeProgram& program,
                                const std::string& options = "{}") {
    const auto file = program.save(folder_.path() / "модель é" / "p.json");
    return Session::create(Backend::create(fake::table(), nullptr, {}), file,
                           options);
  }

  static FakeProgram echo_program() {
    FakeProgram program;
    program.input({.name = "x", .dims = {-1, 2}, .symbols = {"n", ""}})
        .echo({.name = "y", .dims = {-1, 2}, .symbols = {"n", ""}}, "x");
    return program;
  }

  static nlohmann::json counts(const Session& session) {
    return nlohmann::json::parse(session.describe())["counts"];
  }

  FakeFolder folder_;
  const Tensor x_ = Tensor::from<float>({1, 2, 3, 4}, {2, 2});
};

template <typename Exception, typename Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const Exception& error) {
    return error.what();
  }
  return "no such exception";
}

TEST_F(RequestTest, SessionCopiesTheSignature) {
  FakeProgram program = echo_program();
  program.state({.name = "s", .dtype = "float32", .dims = {1}}, "x");
  const auto session = load(program);
  ASSERT_EQ(session->signature().inputs.size(), 1U);
  EXPECT_EQ(session->signature().inputs[0].symbols[0], "n");
  EXPECT_EQ(session->signature().outputs[0].name, "y");
  EXPECT_EQ(session->signature().states[0].name, "s");
}

TEST_F(RequestTest, SessionPassesTheOptionsOn) {
  FakeProgram program = echo_program();
  program.options({"precision"});
  const auto session =
      load(program, R"({"threads": 3, "precision": "float16"})");
  const auto json = nlohmann::json::parse(session->describe());
  EXPECT_EQ(json["threads"], 3);
  EXPECT_EQ(json["options"]["precision"], "float16");
}

TEST_F(RequestTest, SessionRefusesUnknownOptionsWithTheKnownOnes) {
  EXPECT_EQ(message_of<InvalidArgument>(
                [&] { load(echo_program(), R"({"thread": 3})"); }),
            "unknown option 'thread' of the fake backend; it knows 'device', "
            "'threads'");
}

TEST_F(RequestTest, SessionOfAMissingProgramIsNotFound) {
  const auto backend = Backend::create(fake::table(), nullptr, {});
  EXPECT_EQ(message_of<NotFound>(
                [&] { (void)Session::create(backend, "/no/such.json", "{}"); }),
            "fake program /no/such.json cannot be read");
}

TEST_F(RequestTest, SessionGetsAnAbsolutePath) {
  const auto backend = Backend::create(fake::table(), nullptr, {});
  const std::string message = message_of<NotFound>(
      [&] { (void)Session::create(backend, "such.json", "{}"); });
  EXPECT_EQ(message,
            "fake program " +
                (std::filesystem::current_path() / "such.json").string() +
                " cannot be read");
}

TEST_F(RequestTest, SessionOfAnUnknownDTypeIsUnsupported) {
  FakeProgram program;
  program.input({.name = "z", .dtype = "complex64", .dims = {1}});
  EXPECT_THROW(load(program), Unsupported);
}

TEST_F(RequestTest, FailureGivesTheStatusAsItsException) {
  FakeProgram program = echo_program();
  program.fail("create", "unsupported", "no such operator");
  EXPECT_EQ(message_of<Unsupported>([&] { load(program); }),
            "no such operator");
  program.fail("create", "not_found", "a");
  EXPECT_EQ(message_of<NotFound>([&] { load(program); }), "a");
  program.fail("create", "invalid_argument", "b");
  EXPECT_EQ(message_of<InvalidArgument>([&] { load(program); }), "b");
  program.fail("create", "backend_error", "c");
  EXPECT_EQ(message_of<BackendError>([&] { load(program); }), "c");
  program.fail("request", "backend_error", "d");
  EXPECT_EQ(message_of<BackendError>([&] { Request(load(program)); }), "d");
}

TEST_F(RequestTest, RunsAndFetches) {
  const auto session = load(echo_program());
  Request request(session);
  request.bind(MODELRUN_INPUT, 0, x_);
  request.run();
  const Tensor y = request.fetch(MODELRUN_OUTPUT, 0);
  EXPECT_TRUE(equal(x_, y));
  EXPECT_NE(y.raw_data(), x_.raw_data());
  EXPECT_EQ(counts(*session), nlohmann::json({{"requests", 1},
                                              {"binds", 1},
                                              {"runs", 1},
                                              {"fetches", 1},
                                              {"cancels", 0}}));
}

TEST_F(RequestTest, FetchedTensorOutlivesEverything) {
  auto session = load(echo_program());
  auto request = std::make_unique<Request>(session);
  request->bind(MODELRUN_INPUT, 0, x_);
  request->run();
  const Tensor y = request->fetch(MODELRUN_OUTPUT, 0);
  request.reset();
  session.reset();
  EXPECT_TRUE(equal(x_, y));
}

TEST_F(RequestTest, FetchedTensorIsNotChangedByTheNextRun) {
  Request request(load(echo_program()));
  const Tensor x = x_.clone();
  request.bind(MODELRUN_INPUT, 0, x);
  request.run();
  const Tensor y = request.fetch(MODELRUN_OUTPUT, 0);
  x.data<float>()[0] = 9;
  request.run();
  EXPECT_TRUE(equal(x_, y));
  EXPECT_TRUE(equal(x, request.fetch(MODELRUN_OUTPUT, 0)));
}

TEST_F(RequestTest, BoundOutputIsWrittenInPlace) {
  Request request(load(echo_program()));
  const Tensor y = Tensor::zeros(DType::float32, {2, 2});
  request.bind(MODELRUN_INPUT, 0, x_);
  request.bind(MODELRUN_OUTPUT, 0, y);
  request.run();
  EXPECT_TRUE(equal(x_, y));
  EXPECT_EQ(message_of<InvalidArgument>(
                [&] { (void)request.fetch(MODELRUN_OUTPUT, 0); }),
            "output 0 has nothing to fetch: it is bound, was fetched already, "
            "or no run wrote it");
  request.clear(MODELRUN_OUTPUT, 0);
  request.run();
  EXPECT_TRUE(equal(x_, request.fetch(MODELRUN_OUTPUT, 0)));
}

TEST_F(RequestTest, BoundOutputOfAnotherShapeIsRefused) {
  Request request(load(echo_program()));
  request.bind(MODELRUN_INPUT, 0, x_);
  const Tensor longer = Tensor::zeros(DType::float32, {3, 2});
  request.bind(MODELRUN_OUTPUT, 0, longer);
  EXPECT_THROW(request.run(), InvalidArgument);
}

TEST_F(RequestTest, InputOfAnotherDTypeIsNotReadPastItsEnd) {
  Request request(load(echo_program()));
  const Tensor shorter = Tensor::zeros(DType::float16, {2, 2});
  request.bind(MODELRUN_INPUT, 0, shorter);
  EXPECT_EQ(message_of<InvalidArgument>([&] { request.run(); }),
            "output 'y' comes from a tensor of another dtype than the program "
            "says");
}

TEST_F(RequestTest, OutputIsFetchedOnce) {
  Request request(load(echo_program()));
  request.bind(MODELRUN_INPUT, 0, x_);
  request.run();
  (void)request.fetch(MODELRUN_OUTPUT, 0);
  EXPECT_THROW((void)request.fetch(MODELRUN_OUTPUT, 0), InvalidArgument);
}

TEST_F(RequestTest, InputThatIsNotBoundIsRefused) {
  Request request(load(echo_program()));
  EXPECT_EQ(message_of<InvalidArgument>([&] { request.run(); }),
            "input 'x' is not bound");
  request.bind(MODELRUN_INPUT, 0, x_);
  request.run();
  request.clear(MODELRUN_INPUT, 0);
  EXPECT_EQ(message_of<InvalidArgument>([&] { request.run(); }),
            "input 'x' is not bound");
}

TEST_F(RequestTest, BindRefusesWhatIsNotAContiguousTensor) {
  Request request(load(echo_program()));
  EXPECT_EQ(message_of<InvalidArgument>(
                [&] { request.bind(MODELRUN_INPUT, 0, Tensor()); }),
            "input 0 cannot be bound: expected a contiguous tensor, got none");
  float memory[8] = {};
  const Tensor strided = Tensor::view(
      static_cast<void*>(memory),
      {.dtype = DType::float32, .shape = {2, 2}, .strides = {4, 1}});
  EXPECT_EQ(message_of<InvalidArgument>(
                [&] { request.bind(MODELRUN_OUTPUT, 0, strided); }),
            "output 0 cannot be bound: expected a contiguous tensor, got a "
            "strided one");
  EXPECT_THROW(request.bind(MODELRUN_INPUT, 5, x_), InvalidArgument);
}

TEST_F(RequestTest, EmptyAndScalarTensorsAndHighRanksPass) {
  FakeProgram program;
  program.input({.name = "x", .dtype = "bool", .dims = {-1, -1}})
      .echo({.name = "y", .dtype = "bool", .dims = {-1, -1}}, "x");
  Request request(load(program));
  for (const Tensor& x :
       {Tensor::empty(DType::bool_, {0, 3}), Tensor::scalar(true),
        Tensor::zeros(DType::bool_, {1, 2, 1, 2, 1, 2, 1, 2, 1})}) {
    request.bind(MODELRUN_INPUT, 0, x);
    request.run();
    EXPECT_TRUE(equal(x, request.fetch(MODELRUN_OUTPUT, 0)));
  }
}

TEST_F(RequestTest, RequestCanBeUsedAgainAfterAFailedRun) {
  FakeProgram program = echo_program();
  program.fail("run", "backend_error", "out of memory", 1);
  Request request(load(program));
  request.bind(MODELRUN_INPUT, 0, x_);
  EXPECT_EQ(message_of<BackendError>([&] { request.run(); }), "out of memory");
  request.run();
  EXPECT_TRUE(equal(x_, request.fetch(MODELRUN_OUTPUT, 0)));
}

TEST_F(RequestTest, FailuresOfBindAndFetchPass) {
  FakeProgram program = echo_program();
  program.fail("bind", "unsupported", "not there");
  Request request(load(program));
  EXPECT_EQ(
      message_of<Unsupported>([&] { request.bind(MODELRUN_INPUT, 0, x_); }),
      "not there");
  program.fail("fetch", "backend_error", "gone");
  Request other(load(program));
  other.bind(MODELRUN_INPUT, 0, x_);
  other.run();
  EXPECT_EQ(
      message_of<BackendError>([&] { (void)other.fetch(MODELRUN_OUTPUT, 0); }),
      "gone");
}

TEST_F(RequestTest, CancelEndsARunOnAnotherThread) {
  FakeProgram program = echo_program();
  program.wait_for_cancel();
  Request request(load(program));
  request.bind(MODELRUN_INPUT, 0, x_);
  std::atomic<bool> done{false};
  std::string message;
  std::thread runner([&] {
    message = message_of<BackendError>([&] { request.run(); });
    done = true;
  });
  while (!done) {
    request.cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  runner.join();
  EXPECT_EQ(message, "the run was cancelled");
}

TEST_F(RequestTest, CancelWithoutARunDoesNothingToLaterOnes) {
  FakeProgram program = echo_program();
  program.delay(2);
  Request request(load(program));
  request.bind(MODELRUN_INPUT, 0, x_);
  request.cancel();
  request.run();
  EXPECT_TRUE(equal(x_, request.fetch(MODELRUN_OUTPUT, 0)));
}

TEST_F(RequestTest, StateLivesInTheRequest) {
  FakeProgram program;
  program.input({.name = "x", .dims = {2, -1}})
      .growing_state({.name = "cache", .dims = {2, -1}}, "x", 1)
      .echo_state({.name = "y", .dims = {2, -1}}, "cache");
  const auto session = load(program);
  Request request(session);
  Request other(session);
  const auto first = Tensor::from<float>({1, 2}, {2, 1});
  const auto second = Tensor::from<float>({3, 4, 5, 6}, {2, 2});
  request.bind(MODELRUN_INPUT, 0, first);
  request.run();
  request.bind(MODELRUN_INPUT, 0, second);
  request.run();
  const auto grown = Tensor::from<float>({1, 3, 4, 2, 5, 6}, {2, 3});
  EXPECT_TRUE(equal(request.fetch(MODELRUN_OUTPUT, 0), grown));
  EXPECT_TRUE(equal(request.fetch(MODELRUN_STATE, 0), grown));
  EXPECT_THROW((void)other.fetch(MODELRUN_STATE, 0), InvalidArgument);

  other.bind(MODELRUN_STATE, 0, grown);
  EXPECT_TRUE(equal(other.fetch(MODELRUN_STATE, 0), grown));
  request.clear(MODELRUN_STATE, 0);
  request.run();
  EXPECT_TRUE(equal(request.fetch(MODELRUN_STATE, 0), second));
}

TEST_F(RequestTest, FakeComputesWhatItsScriptSays) {
  FakeProgram program;
  program.input({.name = "a", .dtype = "int64", .dims = {-1}, .symbols = {"n"}})
      .input({.name = "b", .dtype = "int64", .dims = {-1}})
      .sum({.name = "sum", .dtype = "int64", .dims = {-1}}, "a", "b")
      .fill({.name = "fill", .dims = {-1, 2}, .symbols = {"n", ""}}, 1.5)
      .zeros({.name = "zeros",
              .dtype = "bfloat16",
              .dims = {-1},
              .symbols = {"n"}})
      .values({.name = "values", .dtype = "uint8", .dims = {1, 3}}, {7, 8, 9});
  Request request(load(program));
  const auto a = Tensor::from<std::int64_t>({1, 2}, {2});
  const auto b = Tensor::from<std::int64_t>({3, 4}, {2});
  request.bind(MODELRUN_INPUT, 0, a);
  request.bind(MODELRUN_INPUT, 1, b);
  request.run();
  EXPECT_TRUE(equal(request.fetch(MODELRUN_OUTPUT, 0),
                    Tensor::from<std::int64_t>({4, 6}, {2})));
  EXPECT_TRUE(equal(request.fetch(MODELRUN_OUTPUT, 1),
                    Tensor::from<float>({1.5, 1.5, 1.5, 1.5}, {2, 2})));
  EXPECT_TRUE(equal(request.fetch(MODELRUN_OUTPUT, 2),
                    Tensor::zeros(DType::bfloat16, {2})));
  EXPECT_TRUE(equal(request.fetch(MODELRUN_OUTPUT, 3),
                    Tensor::from<std::uint8_t>({7, 8, 9}, {1, 3})));
}

TEST_F(RequestTest, OneSessionServesManyThreads) {
  const auto session = load(echo_program());
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Request request(session);
      for (int i = 0; i < 50; ++i) {
        const auto value = static_cast<float>(100 * t + i);
        const auto x = Tensor::from<float>({value, value}, {1, 2});
        request.bind(MODELRUN_INPUT, 0, x);
        request.run();
        if (equal(x, request.fetch(MODELRUN_OUTPUT, 0))) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

}  // namespace
}  // namespace modelrun
