#include "harness/measure/simulation/line_differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// The most pairs of lines that are compared to align two texts; of larger ones only the ends are.
constexpr std::size_t kMostPairs = 20'000'000;

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> common_lines(const std::vector<std::string>& one,
                                                              const std::vector<std::string>& other) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::size_t begin = 0;
  std::size_t end = std::min(one.size(), other.size());
  while (begin < end && one[begin] == other[begin]) {
    pairs.emplace_back(begin, begin);
    ++begin;
  }
  std::size_t tail = 0;
  while (begin + tail < end && one[one.size() - 1 - tail] == other[other.size() - 1 - tail]) ++tail;
  const std::size_t rows = one.size() - begin - tail;
  const std::size_t columns = other.size() - begin - tail;
  if (columns == 0 || rows <= kMostPairs / columns) {
    // lengths[i][j]: of the longest common subsequence from row i and column j on.
    std::vector<std::vector<std::uint32_t>> lengths(rows + 1, std::vector<std::uint32_t>(columns + 1));
    for (std::size_t i = rows; i-- > 0;) {
      for (std::size_t j = columns; j-- > 0;) {
        lengths[i][j] = one[begin + i] == other[begin + j] ? lengths[i + 1][j + 1] + 1
                                                           : std::max(lengths[i + 1][j], lengths[i][j + 1]);
      }
    }
    for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
      if (one[begin + i] == other[begin + j]) {
        pairs.emplace_back(begin + i++, begin + j++);
      } else {
        lengths[i + 1][j] >= lengths[i][j + 1] ? ++i : ++j;
      }
    }
  }
  for (std::size_t i = tail; i-- > 0;) pairs.emplace_back(one.size() - 1 - i, other.size() - 1 - i);
  return pairs;
}

namespace {

/// A line of two kernels; one of them may lack it.
struct LinePair {
  const KernelLine* one = nullptr;
  const KernelLine* other = nullptr;
};

/// The lines of the texts of a kernel's files, without what is only white space apart.
struct Flat {
  std::vector<std::string> texts;
  std::vector<const KernelLine*> lines;
};

Flat flat(const KernelLines& kernel) {
  Flat all;
  for (const KernelLine& line : kernel.lines) {
    if (line.counters.empty()) continue;
    const std::size_t first = line.text.find_first_not_of(" \t");
    const bool has_text = first != std::string::npos;
    all.texts.push_back(has_text ? line.text.substr(first) : line.place());
    all.lines.push_back(&line);
  }
  return all;
}

std::vector<LinePair> pairs_of(const KernelLines& one, const KernelLines& other) {
  const Flat left = flat(one);
  const Flat right = flat(other);
  std::vector<LinePair> pairs;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto alone_to = [&](std::size_t left_end, std::size_t right_end) {
    for (; i < left_end; ++i) pairs.push_back({left.lines[i], nullptr});
    for (; j < right_end; ++j) pairs.push_back({nullptr, right.lines[j]});
  };
  for (const auto& [in_left, in_right] : common_lines(left.texts, right.texts)) {
    alone_to(in_left, in_right);
    pairs.push_back({left.lines[i++], right.lines[j++]});
  }
  alone_to(left.lines.size(), right.lines.size());
  return pairs;
}

/// "4 -> 1.33", "4", "- -> 1"; of a line that only one of both has, its own figure.
std::string change_text(const LinePair& pair, const std::string& one, const std::string& other) {
  if (one == other || pair.other == nullptr) return one;
  if (pair.one == nullptr) return other;
  return fmt::format("{} -> {}", one.empty() ? "-" : one, other.empty() ? "-" : other);
}

/// The pairs that differ, those that change the most of the kernels' work first. `all`: the number of all pairs.
std::vector<LinePair> differing(const KernelLines& one, const KernelLines& other, std::size_t& all) {
  std::vector<LinePair> pairs = pairs_of(one, other);
  all = pairs.size();
  std::erase_if(pairs, [](const LinePair& pair) {
    return pair.one != nullptr && pair.other != nullptr && pair.one->counters == pair.other->counters;
  });
  const double work = std::max({1.0, one.executed(), other.executed()});
  const auto executed = [](const KernelLine* line) { return line == nullptr ? 0 : line->executed(); };
  const auto share = [](const KernelLine* line) { return line == nullptr ? 0 : line->share; };
  std::ranges::stable_sort(pairs, std::greater{}, [&](const LinePair& pair) {
    return std::abs(share(pair.one) - share(pair.other)) + std::abs(executed(pair.one) - executed(pair.other)) / work;
  });
  return pairs;
}

}  // namespace

void add_line_differences(Report& report, const LabelledLines& one, const LabelledLines& other) {
  std::size_t all = 0;
  const std::vector<LinePair> pairs = differing(one.lines, other.lines, all);
  std::vector<const KernelLine*> all_lines;
  for (const LinePair& pair : pairs) {
    for (const KernelLine* const line : {pair.one, pair.other}) {
      if (line != nullptr) all_lines.push_back(line);
    }
  }
  const bool has_one_file = !one.lines.only_file().empty() && !other.lines.only_file().empty();
  LineTable table(all_lines, true);
  for (const LinePair& pair : pairs) {
    const KernelLine& shown = pair.other == nullptr ? *pair.one : *pair.other;
    const char* const mark = pair.one == nullptr ? "+ " : pair.other == nullptr ? "- " : "  ";
    const bool by_number = has_one_file && !shown.file.empty();
    table.add(
        [&pair](const auto& figure) {
          return change_text(pair, pair.one == nullptr ? "" : figure(*pair.one),
                             pair.other == nullptr ? "" : figure(*pair.other));
        },
        mark + (by_number ? std::to_string(shown.line) : shown.place()), shown.text);
  }
  table.add_to(report.section(fmt::format("lines that differ from {} to {}: {} of {}; - only in {}, + only in {}",
                                          one.label, other.label, pairs.size(), all, one.label, other.label)));
}

ordered_json line_differences_json(const KernelLines& one, const KernelLines& other) {
  const auto index = [](const KernelLines& kernel, const KernelLine* line) {
    return line == nullptr ? ordered_json() : ordered_json(line - kernel.lines.data());
  };
  std::size_t all = 0;
  ordered_json list = ordered_json::array();
  for (const LinePair& pair : differing(one, other, all)) {
    list.push_back({{"first", index(one, pair.one)}, {"other", index(other, pair.other)}});
  }
  return list;
}

}  // namespace convladder
