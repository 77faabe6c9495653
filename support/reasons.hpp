// What has the same reason, said once.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace convladder {

/// Collects names with a reason each, and says every reason once, in the order in which they first came.
class Reasons {
 public:
  void add(const std::string& reason, const std::string& name);
  bool empty() const { return groups_.empty(); }

  /// "one: REASON", "one, two and 10 more: REASON" where there are more than `most_names`.
  std::vector<std::string> lines(std::size_t most_names = 4) const;
  /// The same as a text of several lines, each of them at most as long as a table's; empty of nothing.
  std::string text(std::size_t most_names = 4) const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> groups_;
};

}  // namespace convladder
