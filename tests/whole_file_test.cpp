// Catches a write that takes the place of a link, or of /dev/stdout, instead of what they lead to.
#include "harness/record/whole_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

namespace fs = std::filesystem;

class WholeFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "whole_file.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  fs::path folder_;
};

TEST_F(WholeFile, ReplacesAFileAndLeavesNothingBeside) {
  for (const char* text : {"one", "two"}) {
    write_whole_file(at("x"), text);
    EXPECT_EQ(text_of(at("x")), text);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(WholeFile, WritesWhereALinkLeadsAndKeepsTheLink) {
  fs::create_directory(at("there"));
  std::ofstream(at("there/x")) << "before";
  fs::create_symlink("there/x", at("near"));
  fs::create_symlink(at("near"), at("far"));
  fs::create_symlink("there/new", at("to_nothing"));
  for (const char* link : {"near", "far"}) {
    EXPECT_EQ(fs::canonical(*replaceable(at(link))), fs::canonical(at("there/x")));
    write_whole_file(at(link), link);
    EXPECT_TRUE(fs::is_symlink(at(link)));
    EXPECT_EQ(text_of(at("there/x")), link);
  }
  write_whole_file(at("to_nothing"), "new");
  EXPECT_TRUE(fs::is_symlink(at("to_nothing")));
  EXPECT_EQ(text_of(at("there/new")), "new");
}

TEST_F(WholeFile, WhatIsTheSystemsOrNoRegularFileIsNeverReplaced) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  fs::create_symlink("/proc/self/fd/1", at("out"));
  fs::create_symlink("/dev/stdout", at("out_too"));
  for (const std::string& path :
       {std::string("/dev/stdout"), std::string("/dev/null"), std::string("/proc/self/fd/1"),
        std::string("/dev/../dev/stdout"), at("pipe"), at("out"), at("out_too")}) {
    EXPECT_EQ(replaceable(path), std::nullopt) << path;
  }
  EXPECT_EQ(replaceable(at("new")), at("new"));
  EXPECT_EQ(replaceable("new"), "new");
}

TEST_F(WholeFile, LinksThatLeadInACircleAreAnError) {
  fs::create_symlink("b", at("a"));
  fs::create_symlink("a", at("b"));
  EXPECT_THROW(write_whole_file(at("a"), "x"), Error);
}

}  // namespace
}  // namespace fusebench
