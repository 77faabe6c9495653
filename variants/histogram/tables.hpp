// The bin of a key, and several tables of counts side by side. The CPU stages share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

constexpr int kMostBins = 1024;
constexpr int kTables = 4;

inline uint32_t bin_of(uint32_t key, int bins) { return key * static_cast<uint32_t>(bins) >> 16; }

/// Tables of counts: key i is counted in table i mod 4.
class Tables {
 public:
  explicit Tables(int bins) : bins_(bins) {
    for (auto& table : counts_) std::memset(table, 0, sizeof(uint32_t) * static_cast<std::size_t>(bins));
  }

  void count(const uint16_t* keys, int n) {
    int i = 0;
    for (; i <= n - kTables; i += kTables) {
      for (int table = 0; table < kTables; ++table) ++counts_[table][bin_of(keys[i + table], bins_)];
    }
    for (; i < n; ++i) ++counts_[0][bin_of(keys[i], bins_)];
  }

  /// Adds the counts of all tables to `sums`.
  void add_to(uint32_t* sums) const {
    for (int bin = 0; bin < bins_; ++bin) {
      sums[bin] += (counts_[0][bin] + counts_[1][bin]) + (counts_[2][bin] + counts_[3][bin]);
    }
  }

 private:
  int bins_;
  uint32_t counts_[kTables][kMostBins];
};
