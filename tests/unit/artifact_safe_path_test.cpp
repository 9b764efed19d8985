// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/safe_path.h"
#include "modelrun/error.h"
#include "support/artifact/error_of.h"
#include "support/fake_folder.h"

namespace modelrun {
namespace {

namespace fs = std::filesystem;
using testing::contains;
using testing::error_of;
using testing::FakeFolder;

std::string refusal(const fs::path& directory, std::string_view name) {
  return error_of<InvalidArgument>(
      [&] { return resolve_within(directory, name, "the file"); });
}

TEST(SafePath, NamesBelowTheDirectoryAreJoined) {
  const FakeFolder folder;
  EXPECT_EQ(resolve_within(folder.path(), "model.onnx", "f"),
            folder.path() / "model.onnx");
  EXPECT_EQ(resolve_within(folder.path(), "onnx/model..onnx", "f"),
            folder.path() / "onnx/model..onnx");
  EXPECT_EQ(resolve_within(folder.path(), "./модель é.onnx", "f"),
            folder.path() / "./модель é.onnx");
}

TEST(SafePath, NamesThatLeaveAreRefusedByTheirText) {
  const FakeFolder folder;
  const std::vector<std::string> names = {"",
                                          ".",
                                          "./",
                                          "a/.",
                                          "..",
                                          "../x",
                                          "a/../../x",
                                          "a/../x",
                                          "/etc/passwd",
                                          "C:\\x",
                                          "c:x",
                                          "C:/x",
                                          "\\\\host\\x",
                                          "..\\x",
                                          "a\\b",
                                          "a\nb",
                                          "a/",
                                          "x/..",
                                          std::string("a\0b", 3)};
  for (const std::string& name : names) {
    EXPECT_FALSE(is_safe_relative(name)) << name;
    EXPECT_TRUE(contains(refusal(folder.path(), name),
                         "the file: expected a relative path within the "
                         "directory, got '"))
        << name;
  }
}

TEST(SafePath, LinksWithinTheDirectoryAreFollowed) {
  const FakeFolder folder;
  folder.write("export/real.bin", "x");
  fs::create_symlink("real.bin", folder.path() / "export/link.bin");
  fs::create_directory_symlink(folder.path() / "export",
                               folder.path() / "alias");
  EXPECT_EQ(resolve_within(folder.path() / "export", "link.bin", "f"),
            folder.path() / "export/link.bin");
  EXPECT_EQ(resolve_within(folder.path() / "alias", "link.bin", "f"),
            folder.path() / "alias/link.bin");
}

TEST(SafePath, LinksOutOfTheDirectoryAreRefused) {
  const FakeFolder folder;
  folder.write("secret/key", "x");
  folder.write("export/model.onnx", "x");
  fs::create_symlink("../secret/key", folder.path() / "export/key");
  fs::create_directory_symlink("../secret", folder.path() / "export/sub");
  fs::create_symlink("/etc/passwd", folder.path() / "export/absolute");
  fs::create_symlink("sub/key", folder.path() / "export/chain");
  for (const std::string_view name :
       {"key", "sub/key", "absolute", "chain", "sub/new"}) {
    EXPECT_TRUE(
        contains(refusal(folder.path() / "export", name),
                 "which is outside of " + (folder.path() / "export").string()))
        << name;
  }
}

TEST(SafePath, NeighbourWithTheSameBeginningIsOutside) {
  const FakeFolder folder;
  folder.write("export-private/key", "x");
  folder.write("export/model.onnx", "x");
  fs::create_symlink("../export-private/key", folder.path() / "export/key");
  EXPECT_TRUE(contains(refusal(folder.path() / "export", "key"), "outside"));
}

TEST(SafePath, HubCacheLinksIntoTheSameRepoAreFollowed) {
  const FakeFolder folder;
  const fs::path repo = folder.path() / "hub/models--org--name";
  folder.write("hub/models--org--name/blobs/abc", "x");
  const fs::path snapshot = repo / "snapshots/123";
  fs::create_directories(snapshot / "onnx");
  fs::create_symlink("../../blobs/abc", snapshot / "export.json");
  fs::create_symlink("../../../blobs/abc", snapshot / "onnx/model.onnx");
  fs::create_symlink("abc", repo / "blobs/def");
  fs::create_symlink("../../blobs/def", snapshot / "chain");
  EXPECT_EQ(resolve_within(snapshot, "export.json", "f"),
            snapshot / "export.json");
  EXPECT_EQ(resolve_within(snapshot / "onnx", "model.onnx", "f"),
            snapshot / "onnx/model.onnx");
  EXPECT_EQ(resolve_within(snapshot, "chain", "f"), snapshot / "chain");
  fs::create_directory_symlink(folder.path() / "hub", folder.path() / "cache");
  const fs::path linked =
      folder.path() / "cache/models--org--name/snapshots/123";
  EXPECT_EQ(resolve_within(linked, "export.json", "f"), linked / "export.json");
}

TEST(SafePath, HubCacheLinksIntoAnotherRepoAreRefused) {
  const FakeFolder folder;
  folder.write("hub/models--org--other/blobs/abc", "x");
  folder.write("hub/secret", "x");
  const fs::path snapshot =
      folder.path() / "hub/models--org--name/snapshots/123";
  fs::create_directories(snapshot);
  fs::create_symlink("../../../models--org--other/blobs/abc",
                     snapshot / "other");
  fs::create_symlink("../../../secret", snapshot / "above");
  EXPECT_TRUE(contains(refusal(snapshot, "other"), "which is outside of"));
  EXPECT_TRUE(contains(refusal(snapshot, "above"), "which is outside of"));
}

TEST(SafePath, FolderNamedLikeACacheIsNone) {
  const FakeFolder folder;
  folder.write("models--org--name/secret", "x");
  folder.write("models--org--name/export/model.onnx", "x");
  const fs::path directory = folder.path() / "models--org--name/export";
  fs::create_symlink("../secret", directory / "key");
  EXPECT_TRUE(contains(refusal(directory, "key"), "which is outside of"));
}

TEST(SafePath, LinkToNothingIsNotFound) {
  const FakeFolder folder;
  fs::create_symlink("../../blobs/abc", folder.path() / "model.onnx");
  EXPECT_EQ(error_of<NotFound>([&] {
              return resolve_within(folder.path(), "model.onnx", "the file");
            }),
            "the file: " + (folder.path() / "model.onnx").string() +
                " is a link to ../../blobs/abc, which does not exist: "
                "download the files again");
}

TEST(SafePath, LinkToItselfIsRefused) {
  const FakeFolder folder;
  fs::create_symlink("loop", folder.path() / "loop");
  EXPECT_TRUE(
      contains(refusal(folder.path(), "loop"), "the file: cannot follow"));
}

TEST(SafePath, TextIsLoadedUpToItsLimit) {
  const FakeFolder folder;
  const fs::path file = folder.write("a.json", std::string(1 << 20, 'x'));
  EXPECT_EQ(load_text(file, 1 << 20).size(), 1U << 20);
  EXPECT_TRUE(contains(
      error_of<InvalidArgument>([&] { return load_text(file, (1 << 20) - 1); }),
      "a.json: is larger than the "));
  EXPECT_TRUE(
      contains(error_of<NotFound>([&] { return load_text(folder.path(), 10); }),
               "is not a file that can be read"));
}

}  // namespace
}  // namespace modelrun
