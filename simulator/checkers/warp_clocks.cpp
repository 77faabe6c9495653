#include "simulator/checkers/warp_clocks.hpp"

namespace convladder::simulated {
namespace {

/// Stands for more releases than are told apart.
const KnownReleases::Pointer& everything() {
  static const KnownReleases::Pointer all = std::make_shared<const KnownReleases>(KnownReleases{{}, true});
  return all;
}

}  // namespace

KnownReleases::Pointer KnownReleases::joined(const Pointer& one, const Pointer& other) {
  if (one == nullptr || one == other) return other;
  if (other == nullptr || one->all) return one;
  if (other->all) return other;
  KnownReleases both;
  both.latest.reserve(one->latest.size() + other->latest.size());
  auto at = one->latest.begin();
  bool is_one = true;  // whether the first knows all that the other does
  for (const auto& entry : other->latest) {
    while (at != one->latest.end() && at->first < entry.first) both.latest.push_back(*at++);
    const bool has = at != one->latest.end() && at->first == entry.first;
    is_one = is_one && has && at->second >= entry.second;
    both.latest.emplace_back(entry.first, has ? std::max(at->second, entry.second) : entry.second);
    if (has) ++at;
  }
  if (is_one) return one;
  both.latest.insert(both.latest.end(), at, one->latest.end());
  if (both.latest.size() > kMost) return everything();
  return std::make_shared<const KnownReleases>(std::move(both));
}

KnownReleases::Pointer KnownReleases::with(const Pointer& known, std::uint64_t warp, std::uint32_t release) {
  return joined(known, std::make_shared<const KnownReleases>(KnownReleases{{{warp, release}}, false}));
}

}  // namespace convladder::simulated
