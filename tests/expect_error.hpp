// Errors that a user reads: one line, with what has to be in it.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace convladder {

/// Fails the test unless `message` is a single line with each of `parts` in it.
inline void expect_one_line(const std::string& message, std::initializer_list<std::string_view> parts) {
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  for (const std::string_view part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "expected \"" << part << "\" in \"" << message << '"';
  }
}

/// Fails the test unless `action` throws an `Error` whose message is a single line with each of `parts` in it.
template <typename Error, typename Action>
void expect_error(const Action& action, std::initializer_list<std::string_view> parts) {
  try {
    action();
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& error) {
    expect_one_line(error.what(), parts);
  }
}

}  // namespace convladder
