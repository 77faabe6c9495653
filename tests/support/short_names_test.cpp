#include "support/short_names.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

using ShortByName = std::map<std::string, std::string>;

TEST(ShortNames, KeepWhatTellsThemApart) {
  EXPECT_EQ(short_names({"gemm<Tile<128, 64>, float, Row>", "gemm<Tile<64, 64>, float, Row>"}, 5),
            (ShortByName{{"gemm<Tile<128, 64>, float, Row>", "gemm<Tile<128, …>, …>"},
                         {"gemm<Tile<64, 64>, float, Row>", "gemm<Tile<64, …>, …>"}}));
  EXPECT_EQ(short_names({"sort<unsigned int, less<unsigned int> >"}, 5),
            (ShortByName{{"sort<unsigned int, less<unsigned int> >", "sort<…>"}}));
  EXPECT_EQ(short_names({"f<int>", "f<int, 2>"}, 5), (ShortByName{{"f<int>", "f<…>"}, {"f<int, 2>", "f<…, 2>"}}));
}

TEST(ShortNames, LeaveOthersAlone) {
  EXPECT_EQ(short_names({"scale<float>", "scale<double>", "plain"}), ShortByName{});
  EXPECT_EQ(short_names({"operator<<(int)", "a<b", "a->b"}, 1), ShortByName{});
  EXPECT_EQ(short_names({"f<(a > b), {lambda(int, int)#1}>", "f<(a > b), {lambda(int, int)#2}>"}, 5),
            (ShortByName{{"f<(a > b), {lambda(int, int)#1}>", "f<…, {lambda(int, int)#1}>"},
                         {"f<(a > b), {lambda(int, int)#2}>", "f<…, {lambda(int, int)#2}>"}}));
}

TEST(ShortNames, LeaveOutArgumentsThatAreNotNeeded) {
  const std::string unique = "run<space::Unique<Iterator<int>, Iterator<int>, equal>, Iterator<int>, int>";
  const std::string merge = "run<space::Merge<Iterator<float>>, Iterator<float>, float>";
  const std::string other = "run<space::Merge<Iterator<int>>, Iterator<int>, int>";
  EXPECT_EQ(short_names({unique, merge, other}, 20), (ShortByName{{unique, "run<Unique<…>, …>"},
                                                                  {merge, "run<Merge<Iterator<float>>, …>"},
                                                                  {other, "run<Merge<Iterator<int>>, …>"}}));
  EXPECT_EQ(short_names({"f<one::Tile<1>, char>", "f<other::Tile<1>, int>"}, 5),
            (ShortByName{{"f<one::Tile<1>, char>", "f<one::Tile<1>, …>"},
                         {"f<other::Tile<1>, int>", "f<other::Tile<1>, …>"}}));
  EXPECT_EQ(short_names({"f<a::b::one::Init>", "f<a::b::other::Init>", "f<a::b::Sweep>"}, 5),
            (ShortByName{{"f<a::b::one::Init>", "f<one::Init>"},
                         {"f<a::b::other::Init>", "f<other::Init>"},
                         {"f<a::b::Sweep>", "f<Sweep>"}}));
}

TEST(ShortNames, AreShortInsideArgumentsAsWell) {
  const std::string inner = "Policy<Very, Long, List, Of, Arguments, That, Nobody, Reads>";
  const std::string one = "run<" + inner + ", 1>";
  const std::string other = "run<Simple, 1>";
  EXPECT_EQ(short_names({one, other}, 20), (ShortByName{{one, "run<Policy<…>, …>"}}));
}

}  // namespace
}  // namespace convladder
