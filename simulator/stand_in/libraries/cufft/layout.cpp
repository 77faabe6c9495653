#include "simulator/stand_in/libraries/cufft/layout.hpp"

#include <algorithm>
#include <cstddef>

namespace convladder::stand_in::cufft {
namespace {

const void* moved(const void* address, std::uint64_t bytes) {
  return reinterpret_cast<const void*>(  // NOLINT(performance-no-int-to-ptr): of the device
      reinterpret_cast<std::uint64_t>(address) + bytes);
}

}  // namespace

Layout embedded(const std::vector<std::int64_t>& sizes, const Embedding& embedding, std::int64_t batch,
                std::uint64_t element_bytes) {
  Layout layout{{}, {batch, embedding.distance}, element_bytes};
  std::int64_t distance = embedding.stride;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    layout.dimensions.insert(layout.dimensions.begin(), {sizes[i], distance});
    distance *= embedding.sizes[i];
  }
  return layout;
}

Layout packed(const std::vector<std::int64_t>& sizes, std::int64_t row, std::int64_t batch,
              std::uint64_t element_bytes) {
  Embedding embedding{sizes, 1, row};
  embedding.sizes.back() = row;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) embedding.distance *= sizes[i];
  return embedded(sizes, embedding, batch, element_bytes);
}

std::vector<MemoryUse> uses_of(const char* name, const void* address, const Layout& layout, bool reads, bool writes) {
  std::vector<Steps> steps;
  for (const Steps& one : layout.dimensions) {
    if (one.count > 1) steps.push_back(one);
  }
  if (layout.batch.count > 1) steps.push_back(layout.batch);
  std::ranges::stable_sort(steps, {}, &Steps::distance);
  // Steps that go on where shorter ones end are one.
  std::vector<Steps> joined = {{1, 1}};
  for (const Steps& one : steps) {
    Steps& last = joined.back();
    if (one.distance == last.count * last.distance) {
      last.count *= one.count;
    } else {
      joined.push_back(one);
    }
  }
  const auto bytes = static_cast<std::uint64_t>(layout.element_bytes);
  const Steps runs = joined.size() > 1 ? joined[1] : Steps{};
  MemoryUse use{.name = name,
                .address = address,
                .run_bytes = bytes * static_cast<std::uint64_t>(joined[0].count),
                .runs = static_cast<std::uint64_t>(runs.count),
                .distance = bytes * static_cast<std::uint64_t>(runs.distance),
                .reads = reads,
                .writes = writes};
  std::vector<MemoryUse> uses = {use};
  for (std::size_t i = 2; i < joined.size(); ++i) {
    const std::size_t until_now = uses.size();
    for (std::int64_t step = 1; step < joined[i].count; ++step) {
      for (std::size_t k = 0; k < until_now; ++k) {
        MemoryUse next = uses[k];
        next.address = moved(next.address, bytes * static_cast<std::uint64_t>(step * joined[i].distance));
        uses.push_back(next);
      }
    }
  }
  return uses;
}

}  // namespace convladder::stand_in::cufft
