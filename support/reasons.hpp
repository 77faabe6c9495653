// Groups names by their reason, so that each reason is given once.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace convladder {

/// Collects names with a reason each, and gives every reason once, in the order in which they first came.
class Reasons {
 public:
  void add(const std::string& reason, const std::string& name);
  bool empty() const { return groups_.empty(); }
  /// Each reason with its names.
  const std::vector<std::pair<std::string, std::vector<std::string>>>& groups() const { return groups_; }

  /// Lines such as "one: REASON", or "one, two and 10 more: REASON" if there are more than `most_names`.
  std::vector<std::string> lines(std::size_t most_names = 4) const;
  /// The lines as one text, broken at the width of a table; empty if there are none.
  std::string text(std::size_t most_names = 4) const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> groups_;
};

}  // namespace convladder
