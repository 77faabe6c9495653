#include "support/printable.hpp"
#include "support/json_text.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

TEST(Printable, CutsWhatIsLong) {
  EXPECT_EQ(printable("0123456789", 10), "0123456789");
  EXPECT_EQ(printable("01234567890", 10), "0123456...");
}

TEST(Printable, KeepsWhatIsText) {
  for (const char* text : {"", "abc", "µs ± 3 %", "日本語", "\U0001F600", "a b", "~"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, TakesOutWhatSteersATerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\x07\x7f\r\n\tc"), "a [31mb     c");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "  31m");                                    // a control sequence in one character
  EXPECT_EQ(printable("a\u202eb\u2066c"), "a   b   c");  // from right to left
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\x9b"
                      "b\xff"),
            "a?b?");
  EXPECT_EQ(printable("\xc0\x9b\xe2\x82"), "????");  // longer than it need be; cut off
  EXPECT_EQ(printable("\xe2\x1b[m"), "? [m");
  EXPECT_EQ(printable("\xf4"), "?");
}

TEST(Printable, LinesAndTabsStay) {
  std::string rest;
  EXPECT_EQ(printable_lines("a\n\tb\x1b\n", rest), "a\n\tb \n");
  EXPECT_EQ(rest, "");
}

TEST(Printable, ACharacterMayComeInPieces) {
  for (const std::string text : {"x\U0001F600y", "µ", "\u202e!",
                                 "\xc2\x9b"
                                 "1"}) {
    std::string rest;
    std::string shown;
    for (const char c : text) shown += printable_lines(std::string(1, c), rest);
    EXPECT_EQ(shown, printable(text));
    EXPECT_EQ(rest, "");
  }
}

TEST(Printable, AValueIsShort) {
  EXPECT_EQ(short_json("\x1b"), R"("\u001b")");
  EXPECT_LE(short_json(std::string(100000, 'x')).size(), 60U);
}

}  // namespace
}  // namespace convladder
