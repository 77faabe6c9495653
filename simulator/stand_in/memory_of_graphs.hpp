// Memory that a captured graph of PyTorch uses.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace convladder::stand_in {

/// Memory allocated while PyTorch captures a graph stays as long as the graph. On a GPU PyTorch's caching allocator
/// sees to that, which is off here; so captures may allocate, and what is freed of it ends with the graph.
class MemoryOfGraphs {
 public:
  /// `graph` is the caller's number of it, not 0.
  void begin_capture(std::uint64_t graph) { capturing_ = graph; }
  void end_capture() { capturing_ = 0; }
  bool is_capturing() const { return capturing_ != 0; }

  void allocated(void* address) {
    if (capturing_ != 0 && address != nullptr) memory_[address] = {.graph = capturing_};
  }
  /// Whether a graph still needs the memory that the program frees.
  bool puts_off(void* address) {
    const auto found = memory_.find(address);
    if (found == memory_.end() || found->second.is_freed) return false;
    found->second.is_freed = true;
    return true;
  }
  /// Forgets the graph's memory: that which the program has freed, and is to be freed now.
  std::vector<void*> end(std::uint64_t graph) {
    std::vector<void*> freed;
    std::erase_if(memory_, [&](const auto& entry) {
      if (entry.second.graph == graph && entry.second.is_freed) freed.push_back(entry.first);
      return entry.second.graph == graph;
    });
    return freed;
  }

 private:
  struct Use {
    std::uint64_t graph = 0;
    bool is_freed = false;
  };
  std::map<void*, Use> memory_;
  std::uint64_t capturing_ = 0;
};

}  // namespace convladder::stand_in
