#include "support/function_name.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

TEST(FunctionName, IsWithoutReturnTypeAndParameters) {
  EXPECT_EQ(function_name("main"), "main");
  EXPECT_EQ(function_name(""), "");
  EXPECT_EQ(function_name("scale(float*, int)"), "scale");
  EXPECT_EQ(function_name("void space::scale<float, 4>(float*, int)"), "space::scale<float, 4>");
  EXPECT_EQ(function_name("unsigned long find<std::pair<int, char> >(int) const"), "find<std::pair<int, char> >");
  EXPECT_EQ(function_name("main [clone .cold]"), "main");
  EXPECT_EQ(function_name("scale[abi:v1][abi:cw51]<4>(float*)"), "scale<4>");
  EXPECT_EQ(function_name("void apply<&(act(float*))>(float*)"), "apply<&(act(float*))>");
  EXPECT_EQ(function_name("space::table"), "space::table");
}

TEST(FunctionName, KeepsWhatBelongsToIt) {
  EXPECT_EQ(function_name("(anonymous namespace)::helper()"), "(anonymous namespace)::helper");
  EXPECT_EQ(function_name("void (anonymous namespace)::scale<int>(int*)"), "(anonymous namespace)::scale<int>");
  EXPECT_EQ(function_name("void each<(anonymous namespace)::Add>((anonymous namespace)::Add, float*)"),
            "each<(anonymous namespace)::Add>");
  EXPECT_EQ(function_name("void each<main::{lambda(float*)#2}>(main::{lambda(float*)#2}, float*)"),
            "each<main::{lambda(float*)#2}>");
  EXPECT_EQ(function_name("(anonymous namespace)::run()::{lambda()#1}::operator()() const"),
            "(anonymous namespace)::run::{lambda()#1}::operator()");
  EXPECT_EQ(function_name("Queue::size() const::{lambda(int)#1}::_FUN(int)"), "Queue::size::{lambda(int)#1}::_FUN");
  EXPECT_EQ(function_name("std::ostream& operator<< <char>(std::ostream&, char)"), "operator<< <char>");
  EXPECT_EQ(function_name("Pointer::operator->() const"), "Pointer::operator->");
  EXPECT_EQ(function_name("operator_table::fill(int)"), "operator_table::fill");
  EXPECT_EQ(function_name("operator new(unsigned long)"), "operator new");
}

TEST(FunctionName, HasNothingThatNvccAdds) {
  EXPECT_EQ(function_name("void each<_INTERNAL_3bcd7a6c_4_a_cu_da775988::(anonymous namespace)::run()::{lambda(int)#1}>"
                          "(int, _INTERNAL_3bcd7a6c_4_a_cu_da775988::(anonymous namespace)::run()::{lambda(int)#1})"),
            "each<(anonymous namespace)::run()::{lambda(int)#1}>");
  EXPECT_EQ(function_name("MY_INTERNAL_::f()"), "MY_INTERNAL_::f");
  EXPECT_EQ(without_file_prefix("__nv_static_26__ff59cd14_8_names_cu_plain__Z4statPf"), "_Z4statPf");
  EXPECT_EQ(without_file_prefix("_Z4statPf"), "_Z4statPf");
  for (const char* const other : {"__nv_static_", "__nv_static_99__a", "__nv_static_x", "__nv_static_1_", ""}) {
    EXPECT_EQ(without_file_prefix(other), other);
  }
}

TEST(FunctionName, IsItself) {
  for (const char* const name :
       {"(anonymous namespace)::run::{lambda()#1}::operator()", "each<int, Box<2> >", "operator<< <char>", "plain"}) {
    EXPECT_EQ(function_name(name), name);
  }
}

TEST(FunctionName, EndsForBracketsThatDoNotClose) {
  for (const char* const text : {"f(", "f<(", "a{<", "operator", "operator(", "(anonymous", "f)>", "->", "[", " "}) {
    EXPECT_LE(function_name(text).size(), 12U) << text;
  }
}

}  // namespace
}  // namespace convladder
