// SPDX-License-Identifier: Apache-2.0
#include "artifact/onnx_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "modelrun/error.h"
#include "support/artifact/error_of.h"
#include "support/artifact/onnx_bytes.h"
#include "support/fake_folder.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;
using testing::contains;
using testing::error_of;
using testing::FakeFolder;
using testing::Message;
using testing::onnx_external;
using testing::onnx_model;
using testing::onnx_node;
using testing::onnx_tensor;
using testing::onnx_value;

OnnxProgram parse(const std::string& bytes) {
  return parse_onnx_program(
      {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
      "model.onnx");
}

OnnxProgram parse(const Message& model) { return parse(model.bytes()); }

std::string refusal(const Message& model) {
  return error_of<InvalidArgument>([&] { return parse(model); });
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path fixture(const std::string& name) {
  return fs::path(MODELRUN_TEST_MODELS) / name / "onnx" / "model.onnx";
}

Message identity_graph() {
  return Message()
      .message(1, onnx_node("Identity", {"x"}, {"y"}))
      .message(11, onnx_value("x", {"batch", "7", "s1 + 1", ""}))
      .message(12, onnx_value("y", {"batch"}));
}

TEST(OnnxProgram, RealExportGivesItsInterface) {
  const OnnxProgram program = load_onnx_program(fixture("bert"));
  EXPECT_EQ(program.ir_version, 10);
  EXPECT_EQ(program.producer_name, "pytorch");
  ASSERT_EQ(program.opset_imports.size(), 1U);
  EXPECT_EQ(program.opset_imports[0].first, "");
  ASSERT_EQ(program.inputs.size(), 2U);
  EXPECT_EQ(program.inputs[0].name, "input_ids");
  EXPECT_EQ(program.inputs[0].dtype, DType::int64);
  ASSERT_TRUE(program.inputs[0].dims);
  EXPECT_EQ(program.inputs[0].dims->size(), 2U);
  ASSERT_EQ(program.outputs.size(), 2U);
  EXPECT_EQ(program.outputs[0].name, "last_hidden_state");
  EXPECT_EQ(std::get<std::int64_t>(program.outputs[0].dims->at(2)), 32);
  EXPECT_EQ(program.domains, std::vector<std::string>{""});
}

TEST(OnnxProgram, RealExportNamesItsDataFile) {
  const fs::path file = fixture("bert");
  const OnnxProgram program = load_onnx_program(file);
  EXPECT_EQ(external_data_files(program),
            std::vector<fs::path>{file.parent_path() / "model.onnx.data"});
  EXPECT_GT(program.initializer_bytes,
            fs::file_size(file.parent_path() / "model.onnx.data"));
}

TEST(OnnxProgram, RealExportShowsTheRowsThatItsIdsIndex) {
  const OnnxProgram program = load_onnx_program(fixture("bert-token-types"));
  std::vector<std::pair<std::string, std::int64_t>> found;
  for (const OnnxIndexInput& index : program.index_inputs) {
    found.emplace_back(index.input, index.rows);
  }
  const std::vector<std::pair<std::string, std::int64_t>> expected = {
      {"input_ids", 99}, {"token_type_ids", 2}};
  EXPECT_EQ(found, expected);
}

TEST(OnnxProgram, FusedExportUsesTheVendorsDomain) {
  const OnnxProgram program = load_onnx_program(fixture("bert-fused"));
  const std::vector<std::string> domains = {"", "com.microsoft"};
  EXPECT_EQ(program.domains, domains);
}

TEST(OnnxProgram, BoolAndScalarPortsKeepTheirTypes) {
  const OnnxProgram program = load_onnx_program(fixture("oddities"));
  ASSERT_EQ(program.inputs.size(), 3U);
  EXPECT_EQ(program.inputs[2].dtype, DType::bool_);
  EXPECT_EQ(program.outputs.back().name, "total");
  ASSERT_TRUE(program.outputs.back().dims);
  EXPECT_TRUE(program.outputs.back().dims->empty());
}

TEST(OnnxProgram, EveryPrefixOfARealGraphIsRefused) {
  const std::string whole = read_file(fixture("oddities"));
  ASSERT_GT(whole.size(), 1000U);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string prefix = whole.substr(0, length);
    const std::string message =
        error_of<InvalidArgument>([&] { return parse(prefix); });
    // Nothing but complete trailing fields may be lost unnoticed.
    const bool complete = message == "(nothing was thrown)";
    EXPECT_TRUE(complete || contains(message, "model.onnx: ")) << message;
    if (complete) {
      EXPECT_EQ(parse(prefix).outputs.size(), parse(whole).outputs.size());
    }
  }
}

TEST(OnnxProgram, FlippedBytesOfARealGraphNeverDoMoreThanThrow) {
  const std::string whole = read_file(fixture("oddities"));
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xFF);
    try {
      static_cast<void>(parse(damaged));
    } catch (const InvalidArgument& error) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(OnnxProgram, DimensionsAreSizesSymbolsOrUnknown) {
  const OnnxProgram program = parse(onnx_model(identity_graph()));
  ASSERT_EQ(program.inputs.size(), 1U);
  const std::vector<OnnxDim> expected = {"batch", std::int64_t{7}, "s1 + 1",
                                         ""};
  EXPECT_EQ(program.inputs[0].dims, expected);
}

TEST(OnnxProgram, NegativeSizeIsUnknown) {
  const Message shape =
      Message().message(1, Message().number(1, static_cast<std::uint64_t>(-1)));
  const Message type =
      Message().message(1, Message().number(1, 1).message(2, shape));
  const Message graph =
      identity_graph().message(12, Message().text(1, "z").message(2, type));
  const OnnxProgram program = parse(onnx_model(graph));
  EXPECT_EQ(program.outputs[1].dims, std::vector<OnnxDim>{""});
}

TEST(OnnxProgram, MissingShapeIsNoRank) {
  const Message type = Message().message(1, Message().number(1, 9));
  const Message graph =
      identity_graph().message(12, Message().text(1, "z").message(2, type));
  const OnnxProgram program = parse(onnx_model(graph));
  EXPECT_FALSE(program.outputs[1].dims);
  EXPECT_EQ(program.outputs[1].dtype, DType::bool_);
}

TEST(OnnxProgram, TypesThatNoTensorHasAreNamed) {
  Message graph = identity_graph();
  graph.message(12, onnx_value("text", {}, 8));
  graph.message(12, onnx_value("later", {}, 99));
  graph.message(12, Message().text(1, "list").message(
                        2, Message().message(4, Message())));
  const OnnxProgram program = parse(onnx_model(graph));
  EXPECT_EQ(program.outputs[1].type, "string");
  EXPECT_EQ(program.outputs[2].type, "unknown");
  EXPECT_EQ(program.outputs[3].type, "sequence");
  EXPECT_FALSE(program.outputs[1].dtype);
}

TEST(OnnxProgram, InputWithAnInitializerIsNotRequired) {
  const Message graph = identity_graph()
                            .message(11, onnx_value("w", {"2"}))
                            .message(5, onnx_tensor("w", {2}));
  const OnnxProgram program = parse(onnx_model(graph));
  ASSERT_EQ(program.inputs.size(), 1U);
  EXPECT_EQ(program.inputs[0].name, "x");
  EXPECT_EQ(program.initializer_bytes, 8U);
}

TEST(OnnxProgram, NewerVersionsAreReportedAsTheyAre) {
  const OnnxProgram program =
      parse(Message()
                .number(1, 99)
                .message(8, Message().text(1, "ai.onnx").number(2, 98))
                .message(7, identity_graph()));
  EXPECT_EQ(program.ir_version, 99);
  EXPECT_EQ(program.opset_imports[0].first, "");
  EXPECT_EQ(program.opset_imports[0].second, 98);
}

TEST(OnnxProgram, OperatorsOfSubgraphsCountAndOwnFunctionsDoNot) {
  const Message inner =
      Message().message(1, onnx_node("Fancy", {}, {"f"}).text(7, "my_ops"));
  const Message branch =
      onnx_node("If", {"c"}, {"y"})
          .message(5, Message().text(1, "then_branch").message(6, inner));
  const Message function = Message()
                               .text(1, "Local")
                               .text(10, "mine")
                               .message(7, onnx_node("Relu", {"a"}, {"b"}));
  const Message graph = Message().message(1, branch).message(
      1, onnx_node("Local", {"a"}, {"b"}).text(7, "mine"));
  const OnnxProgram program = parse(onnx_model(graph).message(25, function));
  const std::vector<OnnxOperator> expected = {
      {"", "If"}, {"", "Relu"}, {"my_ops", "Fancy"}};
  EXPECT_EQ(program.operators, expected);
  const std::vector<std::string> domains = {"", "my_ops"};
  EXPECT_EQ(program.domains, domains);
}

TEST(OnnxProgram, CastIdsAndQuantizedTablesAreFollowed) {
  const Message graph =
      Message()
          .message(11, onnx_value("ids", {"n"}, 6))
          .message(5, onnx_tensor("table", {50, 4}))
          .message(1, onnx_node("Cast", {"ids"}, {"wide"}))
          .message(1, onnx_node("DequantizeLinear", {"table", "s"}, {"t"}))
          .message(1, onnx_node("Gather", {"t", "wide"}, {"y"}));
  const OnnxProgram program = parse(onnx_model(graph));
  ASSERT_EQ(program.index_inputs.size(), 1U);
  EXPECT_EQ(program.index_inputs[0].input, "ids");
  EXPECT_EQ(program.index_inputs[0].rows, 50);
}

TEST(OnnxProgram, GatherAlongAnotherAxisIsNoEmbedding) {
  const Message axis = Message().text(1, "axis").number(3, 1);
  const Message graph =
      Message()
          .message(11, onnx_value("ids", {"n"}, 7))
          .message(5, onnx_tensor("table", {50, 4}))
          .message(
              1, onnx_node("Gather", {"table", "ids"}, {"y"}).message(5, axis));
  EXPECT_TRUE(parse(onnx_model(graph)).index_inputs.empty());
}

TEST(OnnxProgram, ExternalDataIsFoundWhereverATensorIs) {
  const Message constant =
      onnx_node("Constant", {}, {"c"})
          .text(3, "node_7")
          .message(
              5, Message()
                     .text(1, "value")
                     .message(5, onnx_external("", 4, "quantized.onnx.data")));
  const Message inner = Message().message(5, onnx_external("b", 2, "b.bin"));
  const Message branch =
      onnx_node("If", {"c"}, {"y"})
          .message(5, Message().text(1, "else_branch").message(6, inner));
  const Message sparse =
      Message().message(1, onnx_external("s", 3, "s.bin", "16", "12"));
  const Message graph = Message()
                            .message(1, constant)
                            .message(1, branch)
                            .message(15, sparse)
                            .message(5, onnx_external("a", 8, "a.bin", "4"));
  const OnnxProgram program = parse(onnx_model(graph));
  ASSERT_EQ(program.external_data.size(), 4U);
  EXPECT_EQ(program.external_data[0].holder,
            "attribute 'value' of node 'node_7'");
  EXPECT_EQ(program.external_data[0].location, "quantized.onnx.data");
  EXPECT_EQ(program.external_data[0].length, 16U);
  EXPECT_EQ(program.external_data[1].location, "b.bin");
  EXPECT_EQ(program.external_data[2].offset, 16U);
  EXPECT_EQ(program.external_data[2].length, 12U);
  EXPECT_EQ(program.external_data[3].holder, "initializer");
  EXPECT_EQ(program.external_data[3].offset, 4U);
  EXPECT_EQ(program.external_data[3].length, 32U);
}

TEST(OnnxProgram, ConstantThatPointsAtAMissingFileNamesNodeAndFile) {
  const FakeFolder folder;
  const Message constant =
      onnx_node("Constant", {}, {"c"})
          .text(3, "node_7")
          .message(
              5, Message()
                     .text(1, "value")
                     .message(5, onnx_external("", 4, "quantized.onnx.data")));
  const fs::path file = folder.write(
      "model.onnx", onnx_model(Message().message(1, constant)).bytes());
  const std::string message = error_of<NotFound>(
      [&] { return external_data_files(load_onnx_program(file)); });
  EXPECT_EQ(message,
            file.string() +
                ": attribute 'value' of node 'node_7' (external data): there "
                "is no file " +
                (folder.path() / "quantized.onnx.data").string() +
                ": it goes with the program, copy or download it, too");
}

TEST(OnnxProgram, CutDataFileIsRefusedWithBothSizes) {
  const FakeFolder folder;
  const fs::path file = folder.write(
      "model.onnx",
      onnx_model(Message().message(5, onnx_external("w", 8, "w.bin", "4")))
          .bytes());
  for (const std::size_t size : {0U, 18U, 35U}) {
    folder.write("w.bin", std::string(size, 'w'));
    const std::string message = error_of<InvalidArgument>(
        [&] { return external_data_files(load_onnx_program(file)); });
    EXPECT_TRUE(contains(message, "initializer 'w' (external data): "))
        << message;
    EXPECT_TRUE(contains(message, "has " + std::to_string(size) +
                                      " bytes, but 32 are needed from byte 4"))
        << message;
  }
  folder.write("w.bin", std::string(36, 'w'));
  EXPECT_EQ(external_data_files(load_onnx_program(file)).size(), 1U);
}

TEST(OnnxProgram, DataPastTwoGigabytesIsMeasured) {
  const FakeFolder folder;
  const std::uint64_t start = std::uint64_t{5} << 30;
  const fs::path data = folder.write("big.data");
  const fs::path file = folder.write(
      "model.onnx",
      onnx_model(Message().message(5, onnx_external("w", 1U << 28, "big.data",
                                                    std::to_string(start))))
          .bytes());
  const OnnxProgram program = load_onnx_program(file);
  ASSERT_EQ(truncate(data.c_str(), static_cast<off_t>(start + (1U << 30))), 0);
  EXPECT_EQ(external_data_files(program).size(), 1U);
  ASSERT_EQ(truncate(data.c_str(), static_cast<off_t>(start + (1U << 30) - 1)),
            0);
  EXPECT_TRUE(contains(
      error_of<InvalidArgument>([&] { return external_data_files(program); }),
      "1073741824 are needed from byte 5368709120"));
}

TEST(OnnxProgram, OffsetsThatOverflowAreRefused) {
  const FakeFolder folder;
  folder.write("w.bin", std::string(64, 'w'));
  const fs::path file = folder.write(
      "model.onnx",
      onnx_model(Message().message(
                     5, onnx_external("w", 8, "w.bin", "18446744073709551610")))
          .bytes());
  EXPECT_TRUE(contains(error_of<InvalidArgument>([&] {
                         return external_data_files(load_onnx_program(file));
                       }),
                       "has 64 bytes, but 32 are needed"));
}

TEST(OnnxProgram, DataLocationsThatLeaveTheFolderAreRefused) {
  const FakeFolder folder;
  folder.write("secret.bin", std::string(64, 's'));
  for (const std::string location : {"../secret.bin", "/etc/passwd", "C:\\x",
                                     "\\\\host\\x", "a/../../x", "..", "."}) {
    const fs::path file = folder.write(
        "export/model.onnx",
        onnx_model(Message().message(5, onnx_external("w", 8, location)))
            .bytes());
    const std::string message = error_of<InvalidArgument>(
        [&] { return external_data_files(load_onnx_program(file)); });
    EXPECT_TRUE(contains(message,
                         "initializer 'w' (external data): expected "
                         "a relative path"))
        << location << ": " << message;
  }
}

TEST(OnnxProgram, DataOfALinkedProgramIsLookedUpBesideTheLink) {
  const FakeFolder folder;
  const fs::path target = folder.write(
      "elsewhere/blob",
      onnx_model(Message().message(5, onnx_external("w", 8, "w.bin"))).bytes());
  folder.write("export/w.bin", std::string(32, 'w'));
  const fs::path link = folder.path() / "export" / "model.onnx";
  fs::create_symlink(target, link);
  EXPECT_EQ(external_data_files(load_onnx_program(link)),
            std::vector<fs::path>{folder.path() / "export" / "w.bin"});
}

TEST(OnnxProgram, PathsMayHoldAnyLetters) {
  const FakeFolder folder;
  const fs::path file = folder.write(
      "модель 模型 é/model.onnx",
      onnx_model(Message().message(5, onnx_external("w", 8, "вес é.bin")))
          .bytes());
  folder.write("модель 模型 é/вес é.bin", std::string(32, 'w'));
  EXPECT_EQ(external_data_files(load_onnx_program(file)).size(), 1U);
}

TEST(OnnxProgram, WhatIsNoProgramSaysWhatItIs) {
  EXPECT_EQ(refusal(Message()),
            "model.onnx: is empty: download or export it again");
  EXPECT_TRUE(contains(
      refusal(Message().raw("version https://git-lfs.github.com/spec/v1\n")),
      "is a Git LFS pointer"));
  EXPECT_TRUE(contains(refusal(Message().raw("<!doctype html>")),
                       "is a web page or XML"));
  EXPECT_EQ(refusal(Message().number(1, 10)),
            "model.onnx: is no valid ONNX program, at byte 0: has no graph");
  EXPECT_TRUE(contains(refusal(Message().message(7, identity_graph())),
                       "has no ir_version"));
  EXPECT_TRUE(
      contains(refusal(Message().number(1, 10).message(7, identity_graph())),
               "has no opset_import"));
}

TEST(OnnxProgram, WrongWireTypesAreRefused) {
  EXPECT_TRUE(contains(refusal(Message().number(7, 1)),
                       "at byte 0: field 7 has wire type 0, expected 2"));
  EXPECT_TRUE(contains(refusal(Message().text(1, "10")),
                       "field 1 has wire type 2, expected 0"));
  EXPECT_TRUE(
      contains(refusal(Message().raw("\x0b")), "field 1 has wire type 3"));
  EXPECT_TRUE(contains(refusal(Message().raw(std::string("\x02\x00", 2))),
                       "holds a field of number 0"));
}

TEST(OnnxProgram, AbsurdLengthsAreRefused) {
  EXPECT_TRUE(contains(
      refusal(Message().raw("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f")),
      "field 7 claims 9223372036854775807 bytes where 0 are left"));
  EXPECT_TRUE(contains(refusal(Message().raw(
                           "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
                       "more than 64 bits"));
  EXPECT_TRUE(
      contains(refusal(Message().raw("\x08\xff")), "ends within a number"));
}

TEST(OnnxProgram, GraphsNestedTooDeepAreRefused) {
  Message graph = identity_graph();
  for (int i = 0; i < 40; ++i) {
    const Message attribute = Message().text(1, "body").message(6, graph);
    graph = Message().message(
        1, onnx_node("Loop", {}, {"y"}).message(5, attribute));
  }
  EXPECT_TRUE(contains(refusal(onnx_model(graph)), "nests graphs deeper"));
}

TEST(OnnxProgram, TensorsThatContradictThemselvesAreRefused) {
  Message huge;
  huge.number(1, std::uint64_t{1} << 62).number(1, 8).number(2, 1).text(8, "w");
  EXPECT_TRUE(contains(refusal(onnx_model(Message().message(5, huge))),
                       "tensor 'w' has an impossible shape"));
  Message negative;
  negative.number(1, static_cast<std::uint64_t>(-4)).number(2, 1).text(8, "w");
  EXPECT_TRUE(contains(refusal(onnx_model(Message().message(5, negative))),
                       "tensor 'w' has an impossible shape"));
  Message brief;
  brief.number(1, 4).number(2, 1).text(8, "w").text(9, "1234");
  EXPECT_TRUE(contains(refusal(onnx_model(Message().message(5, brief))),
                       "tensor 'w' holds 4 bytes, its shape needs 16"));
  EXPECT_TRUE(
      contains(refusal(onnx_model(Message().message(
                   5, onnx_external("w", 8, "w.bin", "0", "31")))),
               "tensor 'w' records a length of 31 bytes, its shape needs 32"));
  EXPECT_TRUE(contains(refusal(onnx_model(Message().message(
                           5, onnx_external("w", 8, "w.bin", "-1")))),
                       "the offset of tensor 'w' is '-1', expected a number"));
  EXPECT_TRUE(contains(
      refusal(onnx_model(Message().message(5, onnx_external("w", 8, "")))),
      "its location is missing"));
}

TEST(OnnxProgram, PortsWithoutNamesOfTheirOwnAreRefused) {
  EXPECT_TRUE(contains(
      refusal(onnx_model(identity_graph().message(11, onnx_value("x", {})))),
      "has two inputs named 'x'"));
  EXPECT_TRUE(contains(
      refusal(onnx_model(identity_graph().message(12, onnx_value("", {})))),
      "an input or output has no name"));
  EXPECT_TRUE(contains(
      refusal(onnx_model(identity_graph().message(12, onnx_value("\xff", {})))),
      "has a name that is not UTF-8"));
}

TEST(OnnxProgram, MissingFileIsNotFound) {
  EXPECT_EQ(error_of<NotFound>(
                [] { return load_onnx_program("/nowhere/model.onnx"); }),
            "/nowhere/model.onnx: cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace modelrun
