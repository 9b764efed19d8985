// SPDX-License-Identifier: Apache-2.0
#include "modelrun/tensor_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "modelrun/error.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;

class TensorFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "modelrun-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& content) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(
        fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

// The message of the error that `call` throws, with the folder left out.
template <typename Kind, typename Call>
std::string message_of(const fs::path& folder, Call&& call) {
  try {
    call();
  } catch (const Kind& error) {
    std::string text = error.what();
    const std::string prefix = folder.string() + "/";
    for (auto at = text.find(prefix); at != text.npos; at = text.find(prefix)) {
      text.erase(at, prefix.size());
    }
    return text;
  }
  return "nothing was thrown";
}

std::string safetensors(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  std::string text(sizeof size, '\0');
  std::memcpy(text.data(), &size, sizeof size);
  return text + header + data;
}

std::string npy(std::string dict, const std::string& data) {
  std::string text = "\x93NUMPY";
  text += {'\1', '\0', static_cast<char>(dict.size()), '\0'};
  return text + dict + data;
}

Value cache() {
  return Value::mapping(
      {{"layers", Value::sequence({Value::mapping(
                      {{"keys", Tensor::from<float>({1.5f, -2.0f}, {1, 2})},
                       {"is_initialized", true}})})},
       {"length", 7}});
}

NamedValues every_dtype() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return {
      {"bool", Tensor::from<bool>({true, false}, {2})},
      {"uint8", Tensor::from<std::uint8_t>({0, 255}, {2})},
      {"uint16", Tensor::from<std::uint16_t>({0, 65535}, {1, 2})},
      {"uint32", Tensor::from<std::uint32_t>({4294967295u}, {1})},
      {"uint64", Tensor::from<std::uint64_t>({18446744073709551615u}, {1})},
      {"int8", Tensor::from<std::int8_t>({-128, 127}, {2})},
      {"int16", Tensor::from<std::int16_t>({-32768}, {1, 1, 1})},
      {"int32", Tensor::scalar<std::int32_t>(-5)},
      {"int64", Tensor::from<std::int64_t>(
                    {std::numeric_limits<std::int64_t>::min()}, {1})},
      {"float16", Tensor::from<Float16>({Float16(0.1f)}, {1})},
      {"float32", Tensor::from<float>({0.1f, 3.0f, kInfinity, -0.0f}, {2, 2})},
      {"float64", Tensor::from<double>({0.1, 1e300}, {2})},
      {"empty", Tensor::zeros(DType::float32, {2, 0, 3})},
  };
}

Value find(const NamedValues& values, const std::string& name) {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  throw NotFound(name);
}

void expect_same(const NamedValues& got, const NamedValues& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (const auto& [name, value] : wanted) {
    EXPECT_TRUE(equal(find(got, name).tensor(), value.tensor())) << name;
  }
}

TEST_F(TensorFile, EveryDTypeComesBackFromEveryFormat) {
  for (const char* name : {"a.safetensors", "a.npz", "a.json"}) {
    NamedValues values = every_dtype();
    if (std::string(name) != "a.npz") {
      values.emplace_back("bfloat16",
                          Tensor::from<BFloat16>({BFloat16(0.1f)}, {1}));
    }
    save_tensors(values, folder_ / name);
    SCOPED_TRACE(name);
    expect_same(load_tensors(folder_ / name), values);
  }
  for (const auto& [name, value] : every_dtype()) {
    save_tensors({{name, value}}, folder_ / "one.npy");
    SCOPED_TRACE(name);
    expect_same(load_tensors(folder_ / "one.npy"), {{"one", value}});
  }
}

TEST_F(TensorFile, NestsAreStoredUnderTheirLeafPathsWithTheirScalars) {
  for (const char* name : {"a.safetensors", "a.npz", "a.json"}) {
    SCOPED_TRACE(name);
    save_tensors({{"past_key_values", cache()},
                  {"label", "odd \"one\"\n"},
                  {"ratio", 2.5},
                  {"bias", Value()}},
                 folder_ / name);
    const NamedValues values = load_tensors(folder_ / name);
    EXPECT_EQ(values.size(), 6u);
    EXPECT_TRUE(equal(find(values, "past_key_values.layers.0.keys").tensor(),
                      Tensor::from<float>({1.5f, -2.0f}, {1, 2})));
    EXPECT_TRUE(
        find(values, "past_key_values.layers.0.is_initialized").as<bool>());
    EXPECT_EQ(find(values, "past_key_values.length").as<std::int64_t>(), 7);
    EXPECT_EQ(find(values, "label").as<std::string>(), "odd \"one\"\n");
    EXPECT_EQ(find(values, "ratio").as<double>(), 2.5);
    EXPECT_TRUE(find(values, "bias").is_none());
  }
}

TEST_F(TensorFile, SafetensorsAreWrittenByteForByteAsTheReferenceDoes) {
  save_tensors({{"b", Tensor::from<std::uint8_t>({1}, {1})},
                {"c", Tensor::from<std::int64_t>({2}, {1, 1})},
                {"a", Tensor::from<std::uint8_t>({3}, {})}},
               folder_ / "a.safetensors");
  const std::string header =
      R"({"c":{"dtype":"I64","shape":[1,1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"U8","shape":[],"data_offsets":[8,9]},)"
      R"("b":{"dtype":"U8","shape":[1],"data_offsets":[9,10]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(
      read(folder_ / "a.safetensors"),
      safetensors(header + padding, std::string("\2\0\0\0\0\0\0\0\3\1", 10)));
}

TEST_F(TensorFile, SafetensorsKeepForeignMetadataOut) {
  const auto path =
      write("a.safetensors",
            safetensors(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"U8",)"
                        R"("shape":[1],"data_offsets":[0,1]}})",
                        "x"));
  const NamedValues values = load_tensors(path);
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].first, "a");
}

TEST_F(TensorFile, MisalignedTensorsAreReadWhole) {
  const float number = 1.25f;
  std::string data("\1xxxx", 5);
  std::memcpy(&data[1], &number, sizeof number);
  const auto path = write(
      "a.safetensors",
      safetensors(R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},)"
                  R"("f":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
                  data));
  EXPECT_EQ(find(load_tensors(path), "f").tensor().item<float>(), 1.25f);
}

TEST_F(TensorFile, WritingToALoadedTensorLeavesTheFileAlone) {
  const auto path = folder_ / "a.safetensors";
  save_tensors({{"a", Tensor::from<float>({1.0f}, {1})}}, path);
  const std::string before = read(path);
  find(load_tensors(path), "a").tensor().data<float>()[0] = 2.0f;
  EXPECT_EQ(read(path), before);
}

TEST_F(TensorFile, DamagedSafetensorsAreRefusedByWhatIsWrong) {
  const auto refused = [&](const std::string& header, const std::string& data) {
    const auto path = write("a.safetensors", safetensors(header, data));
    return message_of<InvalidArgument>(folder_,
                                       [&] { (void)load_tensors(path); });
  };
  EXPECT_EQ(refused("[]", ""),
            "a.safetensors: the header does not begin with '{': it is not a "
            "safetensors file");
  EXPECT_EQ(refused(R"({"a":{"dtype":"U8","shape":[2]}})", "xx"),
            "a.safetensors: tensor 'a': data_offsets is missing");
  EXPECT_EQ(
      refused(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}})", "x"),
      "a.safetensors: tensor 'a': data_offsets: uint8[2] takes 2 bytes, "
      "got 0 to 1");
  EXPECT_EQ(
      refused(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", "x"),
      "a.safetensors: tensor 'a': shape: expected a number that is not "
      "negative, got the number -1");
  EXPECT_EQ(
      refused(R"({"a":{"dtype":"F64","shape":[4611686018427387904,4],)"
              R"("data_offsets":[0,0]}})",
              ""),
      "a.safetensors: tensor 'a': shape [4611686018427387904, 4] is larger "
      "than memory");
  EXPECT_EQ(refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                    R"("b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                    "x"),
            "a.safetensors: tensor 'b' begins at byte 0, expected 1: tensors "
            "may not overlap or leave holes");
  EXPECT_EQ(
      refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "xx"),
      "a.safetensors: the header describes 1 bytes of tensors, got 2: "
      "the file was cut short or is damaged");
  EXPECT_EQ(
      refused(R"({"a":{"dtype":"Q8","shape":[1],"data_offsets":[0,1]}})", "x"),
      "a.safetensors: tensor 'a': unknown dtype 'Q8'");
  EXPECT_EQ(
      refused(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})",
              "\2"),
      "a.safetensors: tensor 'a': expected bools, bytes of 0 or 1, got 2 at "
      "element 0");
  EXPECT_EQ(refused(R"({"__metadata__":{"a":1}})", ""),
            "a.safetensors: __metadata__: 'a': expected a string, got the "
            "number 1");
}

TEST_F(TensorFile, SafetensorsOfADTypeThatIsNotOursNameTheTensor) {
  const auto path =
      write("a.safetensors",
            safetensors(
                R"({"w":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})",
                "x"));
  EXPECT_EQ(
      message_of<Unsupported>(folder_, [&] { (void)load_tensors(path); }),
      "a.safetensors: tensor 'w': dtype 'F8_E4M3' is not one that modelrun "
      "has: convert the tensor");
}

TEST_F(TensorFile, FortranOrderIsTurnedAround) {
  const auto path =
      write("a.npy",
            npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n",
                "\1\4\2\5\3\6"));
  EXPECT_TRUE(equal(find(load_tensors(path), "a").tensor(),
                    Tensor::from<std::uint8_t>({1, 2, 3, 4, 5, 6}, {2, 3})));
}

TEST_F(TensorFile, NumpysOwnNpyHeadersAreRead) {
  const auto read_shape = [&](const std::string& dict,
                              const std::string& data) {
    return find(load_tensors(write("a.npy", npy(dict, data))), "a")
        .tensor()
        .shape();
  };
  EXPECT_EQ(read_shape("{'descr': '<i2', 'fortran_order': False, "
                       "'shape': (2,), }     \n",
                       "abcd"),
            Shape({2}));
  EXPECT_EQ(read_shape("{'shape': (), 'fortran_order': False, "
                       "'descr': '<f4'}\n",
                       "abcd"),
            Shape());
  std::string second = "\x93NUMPY";
  const std::string dict =
      "{\"descr\": \"|b1\", \"fortran_order\": False, \"shape\": (1,1)}";
  second += {'\2', '\0', static_cast<char>(dict.size()), '\0', '\0', '\0'};
  EXPECT_EQ(find(load_tensors(write("a.npy", second + dict + "\1")), "a")
                .tensor()
                .shape(),
            Shape({1, 1}));
}

TEST_F(TensorFile, DamagedNpyIsRefusedByWhatIsWrong) {
  const auto refused = [&](const std::string& dict, const std::string& data) {
    const auto path = write("a.npy", npy(dict, data));
    return message_of<Error>(folder_, [&] { (void)load_tensors(path); });
  };
  EXPECT_EQ(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
                    "abcd"),
            "a.npy: float32[2] takes 8 bytes, got 4");
  EXPECT_EQ(
      refused("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "abcd"),
      "a.npy: dtype '>f4' is big-endian: save "
      "array.astype(array.dtype.newbyteorder('<'))");
  EXPECT_EQ(
      refused("{'descr': '|O', 'fortran_order': False, 'shape': ()}", "abcd"),
      "a.npy: dtype '|O' holds pickled Python objects, which are never "
      "opened: save numbers");
  EXPECT_EQ(
      refused("{'descr': '|V2', 'fortran_order': False, 'shape': ()}", "ab"),
      "a.npy: dtype '|V2' is not one that modelrun has: save a bool, an "
      "integer or a float (bfloat16: in .safetensors)");
  EXPECT_EQ(refused("{'descr': '<f4', 'shape': ()}", "abcd"),
            "a.npy: the .npy header is damaged: expected the keys descr, "
            "fortran_order and shape at ''");
  EXPECT_EQ(refused("{'descr': '<f4', 'fortran_order': False, 'shape': "
                    "(__import__('os'),)}",
                    "abcd"),
            "a.npy: the .npy header is damaged: expected the size of an axis "
            "at '__import__('os'),)}'");
  const auto bare = write("b.npy", "not numpy at all");
  EXPECT_EQ(
      message_of<InvalidArgument>(folder_, [&] { (void)load_tensors(bare); }),
      "b.npy: is not a .npy array");
}

TEST_F(TensorFile, JsonListsBecomeTensorsOfTheirNumbers) {
  const auto path = write("a.json", R"({
    "ids": [[101, 102], [103, -4]],
    "values": [1, 2.5, NaN],
    "mask": [true, false],
    "half": {"dtype": "float16", "shape": [1, 2], "data": [0.5, 1]},
    "name": "eager", "count": 3, "flag": true, "scale": 1.0, "nothing": null,
    "texts": ["a", "b"],
    "none": [],
    "cache": {"layers": [{"keys": [1.0]}]}
  })");
  const NamedValues values = load_tensors(path);
  EXPECT_TRUE(equal(find(values, "ids").tensor(),
                    Tensor::from<std::int64_t>({101, 102, 103, -4}, {2, 2})));
  EXPECT_EQ(find(values, "values").tensor().dtype(), DType::float32);
  EXPECT_TRUE(std::isnan(find(values, "values").tensor().data<float>()[2]));
  EXPECT_EQ(find(values, "mask").tensor().dtype(), DType::bool_);
  EXPECT_TRUE(
      equal(find(values, "half").tensor(),
            Tensor::from<Float16>({Float16(0.5f), Float16(1.0f)}, {1, 2})));
  EXPECT_EQ(find(values, "name").as<std::string>(), "eager");
  EXPECT_EQ(find(values, "count").as<std::int64_t>(), 3);
  EXPECT_TRUE(find(values, "flag").as<bool>());
  EXPECT_EQ(find(values, "scale").as<double>(), 1.0);
  EXPECT_TRUE(find(values, "nothing").is_none());
  EXPECT_EQ(find(values, "texts")[1].as<std::string>(), "b");
  EXPECT_EQ(find(values, "none").size(), 0u);
  EXPECT_EQ(find(values, "cache").at("layers.0.keys").tensor().item<float>(),
            1.0f);
}

TEST_F(TensorFile, JsonThatIsNoTensorIsRefusedByItsName) {
  const auto refused = [&](const std::string& content) {
    const auto path = write("a.json", content);
    return message_of<InvalidArgument>(folder_,
                                       [&] { (void)load_tensors(path); });
  };
  EXPECT_EQ(refused("[1]"), "a.json: expected an object, got an array of 1");
  EXPECT_EQ(refused(R"({"ids": [[1, 2], [3]]})"),
            "a.json: 'ids': expected lists of equal lengths, shape [2, 2] as "
            "the first ones have, got an array of 1 at axis 1");
  EXPECT_EQ(refused(R"({"ids": [1, true]})"),
            "a.json: 'ids': expected numbers or bools, got both");
  EXPECT_EQ(refused(R"({"ids": [18446744073709551615]})"),
            "a.json: 'ids': expected an integer that fits int64, got the "
            "number 18446744073709551615");
  EXPECT_EQ(refused(R"({"x": [1e300]})"),
            "a.json: 'x': expected a number that fits float32, got the number "
            "1e+300");
  EXPECT_EQ(
      refused(R"({"x": {"dtype": "uint8", "shape": [1], "data": [256]}})"),
      "a.json: 'x': data: expected an integer that fits uint8, got the "
      "number 256");
  EXPECT_EQ(refused(R"({"x": {"dtype": "int8", "shape": [2], "data": [1]}})"),
            "a.json: 'x': data: expected a flat list of the elements of shape "
            "[2], got an array of 1");
  EXPECT_EQ(refused(R"({"x": {"dtype": "int9", "shape": [], "data": [1]}})"),
            "a.json: 'x': dtype: expected the name of a dtype, got the string "
            "'int9'");
  EXPECT_EQ(refused(R"({"a": 1, "a": 2})"),
            "a.json: the key 'a' stands twice in one object");
}

TEST_F(TensorFile, WhatAFormatCannotHoldIsRefusedWithTheWayOut) {
  const NamedValues narrow = {{"x", Tensor::zeros(DType::bfloat16, {1})}};
  EXPECT_EQ(message_of<Unsupported>(
                folder_, [&] { save_tensors(narrow, folder_ / "a.npz"); }),
            "cannot save 'x': numpy has no bfloat16: save it in .safetensors "
            "or .json");
  EXPECT_EQ(message_of<Unsupported>(
                folder_, [&] { save_tensors(narrow, folder_ / "a.npy"); }),
            "cannot save a.npy: numpy has no bfloat16: save it in .safetensors "
            "or .json");
  EXPECT_EQ(
      message_of<InvalidArgument>(
          folder_, [&] { save_tensors({{"x", cache()}}, folder_ / "a.npy"); }),
      "cannot save a.npy: a .npy file holds one tensor, got 1 tensors "
      "and 2 scalars: save .npz");
  EXPECT_EQ(message_of<InvalidArgument>(
                folder_, [&] { save_tensors(narrow, folder_ / "a.txt"); }),
            "cannot tell the format of a.txt: expected a name that ends in "
            ".safetensors, .npz, .npy or .json");
  const NamedValues twice = {{"a.b", 1}, {"a", Value::mapping({{"b", 2}})}};
  EXPECT_EQ(message_of<InvalidArgument>(
                folder_, [&] { save_tensors(twice, folder_ / "a.json"); }),
            "cannot save 'a.b': two values have this name");
  EXPECT_EQ(file_count(), 0u);
}

TEST_F(TensorFile, AFileThatCannotBeWrittenLeavesTheOldOneAndNothingElse) {
  const auto path = write("a.npz", "old");
  const NamedValues values = {{"ok", Tensor::zeros(DType::float32, {1})},
                              {"x", Tensor::zeros(DType::bfloat16, {1})}};
  EXPECT_THROW(save_tensors(values, path), Unsupported);
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(file_count(), 1u);
  EXPECT_EQ(message_of<NotFound>(
                folder_, [&] { save_tensors({}, folder_ / "no" / "a.json"); }),
            "cannot write no/a.json: No such file or directory");
  fs::create_directory(folder_ / "b.json");
  EXPECT_EQ(
      message_of<Error>(folder_, [&] { save_tensors({}, folder_ / "b.json"); }),
      "cannot write b.json: Is a directory");
}

TEST_F(TensorFile, NamesThatAFormatKeepsForItselfAreRefused) {
  const Tensor one = Tensor::zeros(DType::float32, {1});
  EXPECT_EQ(message_of<InvalidArgument>(folder_,
                                        [&] {
                                          save_tensors(
                                              {{"__metadata__", one}},
                                              folder_ / "a.safetensors");
                                        }),
            "cannot save '__metadata__': a safetensors file keeps its metadata "
            "under this name, rename it");
  EXPECT_EQ(message_of<InvalidArgument>(
                folder_,
                [&] {
                  save_tensors({{"modelrun.scalars", one}}, folder_ / "a.npz");
                }),
            "cannot save 'modelrun.scalars': scalars are kept under this name, "
            "rename it");
}

TEST_F(TensorFile, ALinkStaysOneWhenItsFileIsWritten) {
  const auto path = write("a.json", "{}");
  fs::create_symlink("a.json", folder_ / "b.json");
  save_tensors({{"x", 1}}, folder_ / "b.json");
  EXPECT_TRUE(fs::is_symlink(folder_ / "b.json"));
  EXPECT_EQ(read(path), "{\n  \"x\": 1\n}\n");
}

TEST_F(TensorFile, AFortranArrayOfNoElementsMayHaveHugeAxes) {
  const auto path = write("a.npy", npy("{'descr': '|u1', 'fortran_order': "
                                       "True, 'shape': (0, 4611686018427387904,"
                                       " 4611686018427387904), }",
                                       ""));
  EXPECT_EQ(find(load_tensors(path), "a").tensor().element_count(), 0);
}

TEST_F(TensorFile, AFileIsMadeWithTheUsualPermissions) {
  const mode_t mask = ::umask(022);
  save_tensors({}, folder_ / "a.json");
  ::umask(mask);
  struct stat status{};
  ASSERT_EQ(::stat((folder_ / "a.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST_F(TensorFile, WhatIsNoFileIsRefusedAndNotWaitedFor) {
  EXPECT_EQ(message_of<NotFound>(
                folder_, [&] { (void)load_tensors(folder_ / "a.npz"); }),
            "cannot read a.npz: No such file or directory");
  fs::create_directory(folder_ / "b.json");
  EXPECT_EQ(message_of<InvalidArgument>(
                folder_, [&] { (void)load_tensors(folder_ / "b.json"); }),
            "cannot read b.json: expected a regular file");
  ASSERT_EQ(::mkfifo((folder_ / "c.npy").c_str(), 0600), 0);
  EXPECT_EQ(message_of<InvalidArgument>(
                folder_, [&] { (void)load_tensors(folder_ / "c.npy"); }),
            "cannot read c.npy: expected a regular file");
}

// A damaged file may still be a file (a flipped bit of an element is), but
// reading it ends in values or in an error of ours.
TEST_F(TensorFile, ACutFileIsAlwaysRefused) {
  const NamedValues values = {{"x", Tensor::from<float>({1, 2, 3}, {3})},
                              {"flag", true}};
  for (const char* name : {"a.safetensors", "a.npz", "a.json"}) {
    save_tensors(values, folder_ / name);
    std::string whole = read(folder_ / name);
    while (whole.ends_with('\n')) whole.pop_back();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto path = write(name, whole.substr(0, size));
      EXPECT_THROW((void)load_tensors(path), Error) << name << " at " << size;
    }
  }
}

TEST_F(TensorFile, AFlippedByteGivesValuesOrAnError) {
  const NamedValues values = {{"x", Tensor::from<float>({1, 2, 3}, {3})},
                              {"mask", Tensor::from<bool>({true}, {1})},
                              {"flag", true}};
  std::size_t refused = 0;
  for (const char* name : {"a.safetensors", "a.npz", "a.json"}) {
    save_tensors(values, folder_ / name);
    const std::string whole = read(folder_ / name);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const int mask : {0x01, 0x20, 0x80, 0xff}) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ mask);
        const auto path = write(name, damaged);
        try {
          for (const auto& [key, value] : load_tensors(path)) {
            if (value.is_tensor()) (void)value.tensor().clone();
          }
        } catch (const Error&) {
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace modelrun
