#include <gtest/gtest.h>

#include "harness/judge/builds/commit_build.hpp"

namespace convladder {
namespace {

TEST(BuildLog, TheFirstErrorIsTold) {
  EXPECT_EQ(telling_line("[1/3] Building CXX object support/errors.cpp.o\nFAILED: x.o\nc++ x.cpp\n"
                         "x.cpp:3:1: error: 'y' was not declared\nx.cpp:4:1: error: another\nninja: build stopped\n"),
            "x.cpp:3:1: error: 'y' was not declared");
}

TEST(BuildLog, WhatCmakeSaysIsToldWithItsPlace) {
  EXPECT_EQ(
      telling_line("-- Found Git\nCMake Error at CMakeLists.txt:12 (message):\n\n  no oneDNN here\n\n\nCall Stack\n"),
      "CMake Error at CMakeLists.txt:12 (message): no oneDNN here");
  EXPECT_EQ(telling_line("CMake Error at CMakeLists.txt:12 (message):\n"),
            "CMake Error at CMakeLists.txt:12 (message):");
}

TEST(BuildLog, WithoutAnErrorItsLastLineIsTold) {
  EXPECT_EQ(telling_line("one\nninja: error: loading 'build.ninja'\n\n \n"), "ninja: error: loading 'build.ninja'");
  EXPECT_EQ(telling_line("one\nand then nothing\n\n"), "and then nothing");
  EXPECT_EQ(telling_line(""), "it said nothing");
}

TEST(BuildLog, ControlCharactersAndEndlessLinesDoNotComeThrough) {
  const std::string line = telling_line("x.cpp: error: \033[31m" + std::string(5000, 'a'));
  EXPECT_EQ(line.find('\033'), std::string::npos);
  EXPECT_LE(line.size(), 310U);
}

TEST(BuildLog, TheShareIsThatOfTheLastStep) {
  EXPECT_EQ(built_share(""), 0);
  EXPECT_EQ(built_share("-- Configuring done\n"), 0);
  EXPECT_EQ(built_share("ninja: Entering\n[1/4] a\n[3/4] b [2/9]\nwarning [x]\n"), 0.75);
  EXPECT_EQ(built_share("\n[5/4] more than all\n[x/y]\n[1/0]\n[99999999999999/2]\n["), 0);
}

}  // namespace
}  // namespace convladder
