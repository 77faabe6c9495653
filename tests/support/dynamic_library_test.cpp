#include "support/dynamic_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convladder {
namespace {

using testing::HasSubstr;

TEST(DynamicLibrary, LoadsAFunctionOfTheFirstOneThatIsThere) {
  DynamicLibrary library({"libno-such-library.so.1", "libm.so.6"});
  double (*cosine)(double) = nullptr;
  library.load(cosine, "cos");
  EXPECT_EQ(library.missing(), "");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_TRUE(library.file().starts_with('/') && library.file().ends_with("/libm.so.6")) << library.file();
}

TEST(DynamicLibrary, SaysWhichFunctionIsMissing) {
  DynamicLibrary library({"libm.so.6"});
  int (*function)() = nullptr;
  library.load(function, "no_such_function");
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(library.missing(), "libm.so.6 has no no_such_function");
}

TEST(DynamicLibrary, SaysWhyTheFirstWasNotOpened) {
  DynamicLibrary library({"libno-such-library.so.1", "libnor-this.so"});
  int (*function)() = nullptr;
  library.load(function, "anything");
  EXPECT_EQ(function, nullptr);
  EXPECT_THAT(library.missing(), HasSubstr("libno-such-library.so.1 not found"));
  EXPECT_EQ(library.missing().find('\n'), std::string::npos);
  EXPECT_EQ(library.file(), "");
}

TEST(DynamicLibrary, AFunctionIsOfALibraryOrOfTheProgramItself) {
  EXPECT_TRUE(library_with("dlsym").starts_with('/'));
  EXPECT_EQ(library_with("no_such_function"), "");
}

}  // namespace
}  // namespace convladder
