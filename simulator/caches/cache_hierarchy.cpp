#include "simulator/caches/cache_hierarchy.hpp"

namespace convladder::simulated {

namespace {
constexpr std::size_t kRequestsAhead = 12;  // in a log; a line of the host's cache holds eight of them
}  // namespace

struct CacheHierarchy::Slice {
  explicit Slice(std::uint64_t bytes) : cache(bytes) {}
  SectoredCache cache;
  CacheCounters counters;
};

CacheCounters& CacheCounters::operator+=(const CacheCounters& other) {
  l1_load_sectors += other.l1_load_sectors;
  l1_load_hits += other.l1_load_hits;
  l1_texture_hits += other.l1_texture_hits;
  l2_read_sectors += other.l2_read_sectors;
  l2_read_hits += other.l2_read_hits;
  l2_write_sectors += other.l2_write_sectors;
  dram_read_sectors += other.dram_read_sectors;
  dram_write_sectors += other.dram_write_sectors;
  complete = complete && other.complete;
  return *this;
}

CacheHierarchy::CacheHierarchy(const GpuModel& gpu)
    : l2_bytes_(gpu.l2_bytes), l1_(static_cast<std::size_t>(gpu.multiprocessors)) {
  for (std::size_t i = 0; i < kSlices; ++i) slices_.push_back(std::make_unique<Slice>(l2_bytes_ / kSlices));
}

void CacheHierarchy::begin(std::uint64_t l1_bytes) {
  l1_bytes_ = l1_bytes;
  for (OfMultiprocessor& one : l1_) one.takes_part = false;
  for (const auto& slice : slices_) {
    slice->cache.empty(l2_bytes_ / kSlices);
    slice->counters = {};
  }
}

void CacheHierarchy::OfMultiprocessor::begin(std::uint64_t bytes) {
  if (cache == nullptr) {
    cache = std::make_unique<L1Cache>(bytes);
  } else {
    cache->begin(bytes);
  }
  takes_part = true;
}

CacheHierarchy::~CacheHierarchy() = default;

void CacheHierarchy::merge(std::size_t slice_number) {
  Slice& slice = *slices_[slice_number];
  CacheCounters& counters = slice.counters;
  std::vector<const std::vector<L2Request>*> logs;
  for (const OfMultiprocessor& l1 : l1_) {
    if (l1.takes_part && !l1.cache->log(slice_number).empty()) logs.push_back(&l1.cache->log(slice_number));
  }
  for (std::size_t turn = 0; !logs.empty(); ++turn) {
    for (const std::vector<L2Request>* log : logs) {
      const L2Request request = (*log)[turn];
      __builtin_prefetch(log->data() + turn + kRequestsAhead);  // the host's prefetcher does not follow this many logs
      if (turn + 1 < log->size()) slice.cache.prefetch((*log)[turn + 1].line);
      const auto sectors = static_cast<std::uint64_t>(std::popcount(request.sectors));
      const SectorLookup found = slice.cache.access(request.line, request.sectors, request.is_write);
      counters.dram_write_sectors += static_cast<std::uint64_t>(std::popcount(found.evicted_dirty));
      if (request.is_write) {
        counters.l2_write_sectors += sectors;
        continue;
      }
      const auto hits = static_cast<std::uint64_t>(std::popcount(found.hits));
      counters.l2_read_sectors += sectors;
      counters.l2_read_hits += hits;
      counters.dram_read_sectors += sectors - hits;
    }
    std::erase_if(logs, [turn](const auto* log) { return log->size() == turn + 1; });
  }
  for (const OfMultiprocessor& l1 : l1_) {
    if (l1.takes_part) l1.cache->log(slice_number).clear();
  }
}

CacheCounters CacheHierarchy::finish() {
  CacheCounters total;
  for (const auto& slice : slices_) {
    slice->counters.dram_write_sectors += slice->cache.dirty();
    total += slice->counters;
  }
  for (const OfMultiprocessor& l1 : l1_) {
    if (!l1.takes_part) continue;
    total.l1_load_sectors += l1.cache->load_sectors();
    total.l1_load_hits += l1.cache->load_hits();
    total.l1_texture_hits += l1.cache->texture_hits();
    total.complete = total.complete && l1.cache->complete();
    l1.cache->end();
  }
  return total;
}

}  // namespace convladder::simulated
