#include "support/seeded_random.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

/// Of the test vectors in RFC 9923, section 8.
TEST(TextHash, IsThatOfTheSpecification) {
  EXPECT_EQ(text_hash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(text_hash("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(text_hash("foobar"), 0x85944171f73967e8U);
  EXPECT_NE(text_hash("\xff"), text_hash("\x7f"));
}

}  // namespace
}  // namespace convladder
