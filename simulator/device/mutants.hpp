// Mutants on the device: which one runs in place of its kernel, which there could be, and what one has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/mutations/mutation.hpp"
#include "simulator/state/source_place.hpp"

namespace convladder::simulated {

/// All that is asked of a device about mutants.
struct MutantsWanted {
  bool lists = false;    ///< whether it lists those that its kernels could have
  std::string kernel{};  ///< whose mutant runs in its place, by its name in the PTX, in whatever module; empty: none
  std::string id{};      ///< Mutation::id of that
  std::uint64_t orders =
      20;  ///< of each launch that are tried where order matters and the usual one shows no difference

  bool has_one() const { return !kernel.empty(); }
  static void each_field(auto&& field, auto& its) {
    field("lists", its.lists, "kernel", its.kernel, "id", its.id, "orders", its.orders);
  }
};

/// The largest number of orders.
inline constexpr std::uint64_t kMostMutantOrders = 100'000;

/// A mutant that a kernel could have.
struct PossibleMutant {
  std::string id;
  MutationKind kind = MutationKind::stale;
  std::vector<SourcePlace> places{};
  int ptx_line = 0;              ///< of its first instruction; of the kernel if it is about the kernel as a whole
  int instructions = 0;          ///< that are changed
  std::uint64_t executions = 0;  ///< of these, by warps; launches after the first of `stale`

  static void each_field(auto&& field, auto& its) {
    field("id", its.id, "kind", its.kind, "places", its.places, "ptx_line", its.ptx_line, "instructions",
          its.instructions, "executions", its.executions);
  }
};

/// The change that a mutant has made, launch by launch, against its kernel on the same memory.
struct MutantOutcome {
  /// In ascending order of how much they say.
  enum class Effect : std::uint8_t {
    none,       ///< the same results in every launch: in the usual order and, where order matters, in others
    finding,    ///< the same results, but a checker finds something that it does not find in the kernel
    rounding,   ///< other results by as much as another order of sums makes them
    not_known,  ///< it was not compared
    results,    ///< other results in the usual order
    order,      ///< other results in another order of the work, which memory was left as
    fault       ///< the kernel was ended
  };

  std::uint64_t launches = 0;  ///< of the mutant
  Effect effect = Effect::none;
  std::uint64_t first_launch = 0;  ///< the first with an effect, from 1
  std::string text{};              ///< "512 of 4096 bytes of 'out'"; why it is not known
  double seconds = 0;              ///< the host's time for comparing

  void found(Effect what, std::string why) {
    effect = what;
    first_launch = launches;
    text = std::move(why);
  }
  /// Whether launches need not be compared any more.
  bool is_decided() const { return effect >= Effect::not_known; }

  static void each_field(auto&& field, auto& its) {
    field("launches", its.launches, "effect", its.effect, "first_launch", its.first_launch, "text", its.text, "seconds",
          its.seconds);
  }
};

/// For json_fields.hpp.
inline const char* record_word(MutantOutcome::Effect effect) {
  constexpr const char* kWords[] = {"none", "finding", "rounding", "not known", "results", "order", "fault"};
  const auto index = static_cast<std::size_t>(effect);
  return index < std::size(kWords) ? kWords[index] : nullptr;
}

/// All that the host reads from a device, as a hash: where it is the same, nobody can see that results were others.
class HostReads {
 public:
  void add(const std::byte* bytes, std::size_t count);
  /// "1024 bytes, 8f3a…"; empty where the host may look at memory of the device without being seen.
  std::string text(bool sees_memory_itself) const;

 private:
  std::uint64_t bytes_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

/// All that a device has seen of mutants.
struct MutantsSeen {
  std::map<std::string, std::vector<PossibleMutant>> possible{};  ///< by the kernel's name in the PTX
  MutantOutcome outcome{};                                        ///< of the one that ran
  std::string host_reads{};                                       ///< HostReads::text

  static void each_field(auto&& field, auto& its) {
    field("possible", its.possible, "outcome", its.outcome, "host_reads", its.host_reads);
  }
};

}  // namespace convladder::simulated
