// Collects findings: one for each place, with a count, the same for every number of host threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "simulator/state/finding.hpp"

namespace convladder::simulated {

/// The identity of a finding: two findings with the same site are one.
struct FindingSite {
  Checker checker = Checker::memory;
  int instruction = 0;  ///< index in the kernel
  int kind = 0;         ///< the checker's own number for what is wrong
  Severity severity = Severity::finding;
  auto operator<=>(const FindingSite&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

class FindingLog {
 public:
  /// `describe()` makes the finding; it is called only for the first finding of a site in the order of blocks.
  template <typename Describe>
  void add(const FindingSite& site, std::uint64_t block, std::uint64_t count, const Describe& describe) {
    Entry& entry = entries_[site];
    entry.count += count;
    if (block >= entry.block) return;
    entry.block = block;
    entry.finding = describe();
  }

  void merge(const FindingLog& other) {
    for (const auto& [site, entry] : other.entries_) {
      add(site, entry.block, entry.count, [&entry = entry] { return entry.finding; });
    }
  }

  bool empty() const { return entries_.empty(); }

  /// The findings in the order of instructions within each checker, one for each statement. A site that has a finding
  /// has no note.
  std::vector<Finding> findings() const {
    std::vector<Finding> list;
    std::vector<std::uint64_t> blocks;  // of the first thread of each
    for (const auto& [site, entry] : entries_) {
      FindingSite as_finding = site;
      as_finding.severity = Severity::finding;
      if (site.severity == Severity::note && entries_.contains(as_finding)) continue;
      Finding finding = entry.finding;
      finding.severity = site.severity;
      finding.count = entry.count;
      const auto same = [&finding](const Finding& one) { return are_of_one_statement(one, finding); };
      const auto known = std::ranges::find_if(list, same);
      if (known == list.end()) {
        list.push_back(std::move(finding));
        blocks.push_back(entry.block);
        continue;
      }
      std::uint64_t& block = blocks[static_cast<std::size_t>(known - list.begin())];
      finding.count += known->count;
      if (entry.block < block) {
        block = entry.block;
        *known = std::move(finding);
      } else {
        known->count = finding.count;
      }
    }
    return list;
  }

 private:
  struct Entry {
    std::uint64_t block = ~std::uint64_t{0};
    std::uint64_t count = 0;
    Finding finding;
  };
  std::map<FindingSite, Entry> entries_;
};

}  // namespace convladder::simulated
