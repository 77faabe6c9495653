// Mutations of a kernel: small faults, such as a store that is left out, with which a test can be tested. A test that
// accepts a mutant, the kernel with one of them, cannot fail for that fault.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx/module.hpp"
#include "simulator/state/source_place.hpp"

namespace convladder::simulated {

/// In the order in which they are tried.
enum class MutationKind : std::uint8_t {
  store_out,      ///< stores, atomics and bulk stores of a line do nothing
  zeros,          ///< they write zeros
  last_block,     ///< the last block does nothing
  scaled,         ///< they write 0.72 times the values, 3/4 of whole numbers
  stale,          ///< launches after the first do nothing: the answer of the call before stays
  load_index,     ///< loads from global memory are of the neighbouring element: of the pair that it forms with it
  barrier_out,    ///< a barrier of a block, warp or cluster is left out
  last_trip,      ///< a loop ends one trip early
  store_index,    ///< stores to global memory go to the neighbouring element
  sign,           ///< they write values of the other sign
  wait_out,       ///< a wait for an asynchronous copy, or at an mbarrier
  fence_out,      ///< a fence
  low_precision,  ///< sums are rounded to half precision, those of float64 to float32
};

struct MutationWords {
  const char* word;  ///< on the command line and in records
  const char* text;  ///< of tables
};

/// By MutationKind.
inline constexpr std::array<MutationWords, 13> kMutationKinds{{
    {"store-out", "store left out"},
    {"zeros", "stores zeros"},
    {"last-block", "last block does nothing"},
    {"scaled", "stores 0.72 times the value"},
    {"stale", "answers as the call before"},
    {"load-index", "loads the neighbour"},
    {"barrier-out", "barrier left out"},
    {"last-trip", "loop ends one trip early"},
    {"store-index", "stores to the neighbour"},
    {"sign", "stores the other sign"},
    {"wait-out", "wait left out"},
    {"fence-out", "fence left out"},
    {"low-precision", "sums in lower precision"},
}};

inline const MutationWords& words_of(MutationKind kind) { return kMutationKinds[static_cast<std::size_t>(kind)]; }
std::optional<MutationKind> find_mutation_kind(std::string_view word);
/// For json_fields.hpp.
inline const char* record_word(MutationKind kind) {
  return static_cast<std::size_t>(kind) < kMutationKinds.size() ? words_of(kind).word : nullptr;
}

/// Whether results can stay the same because of the order in which work happens to be done.
bool is_about_order(MutationKind kind);

/// One fault in one body: instructions of one line of the source or, where lines are not known, of one basic block.
struct Mutation {
  MutationKind kind = MutationKind::stale;
  std::string body;               ///< the kernel, or a function that it calls, by its name in the PTX
  std::vector<int> instructions;  ///< of the body, ascending: those that are changed; none: the kernel as a whole

  /// "zeros@57": the kind and the first instruction; "zeros@57:name" in a function. The same for the same PTX.
  std::string id(const ptx::Kernel& kernel) const;
};

/// All mutations of the kernel and of the functions that it calls, by kind in the order of `kMutationKinds`, and then
/// in the order of the text. Throws PtxError where the kernel cannot be linked.
std::vector<Mutation> mutations_of(const ptx::Module& module, const ptx::Kernel& kernel);

/// The line of a mutation, as places_of gives it; empty where it is not known.
std::vector<SourcePlace> places_of(const ptx::Module& module, const ptx::Kernel& body, const Mutation& mutation);

/// The body with the fault. `mutation` is one of `mutations_of` for a kernel with this body; `stale` changes nothing
/// in it.
ptx::Kernel mutated(const ptx::Kernel& body, const Mutation& mutation);

}  // namespace convladder::simulated
