// Registries of what files of the program provide before main: devices, problems, variants, operators, commands, with a
// registry of the same form for each kind.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace convladder {

/// Entries of one kind: small, copied, and perhaps with a pointer to an object that the registry owns. A registry is a
/// static object of a function, since files register in no particular order.
template <typename Entry>
class Registry {
 public:
  struct Rules {
    /// Completes an entry when it is registered. May be omitted.
    std::function<void(Entry&)> complete = nullptr;
    /// The order of entries, which never depends on the linker.
    std::function<bool(const Entry&, const Entry&)> before;
    /// The identity of an entry, which no two entries may share: "variant 'shared-memory' of family cuda".
    std::function<std::string(const Entry&)> identity;
    /// Checks further conditions on the sorted entries; throws std::logic_error. May be omitted.
    std::function<void(const std::vector<Entry>&)> check = nullptr;
  };

  explicit Registry(Rules rules) : rules_(std::move(rules)) {}

  void add(const Entry& entry, std::shared_ptr<const void> owned = nullptr) {
    entries_.push_back(entry);
    owned_.push_back(std::move(owned));
  }

  /// All entries, sorted and checked when they are first asked for: nothing may register later. Throws
  /// std::logic_error.
  const std::vector<Entry>& all() {
    std::call_once(arranged_, [this] { arrange(); });
    return entries_;
  }

  /// The first entry that matches, or nullptr.
  template <typename Matches>
  const Entry* find(const Matches& matches) {
    const auto found = std::ranges::find_if(all(), matches);
    return found == all().end() ? nullptr : &*found;
  }

 private:
  void arrange() {
    if (rules_.complete) std::ranges::for_each(entries_, rules_.complete);
    std::ranges::sort(entries_, rules_.before);
    std::vector<std::string> identities;
    for (const Entry& entry : entries_) {
      identities.push_back(rules_.identity(entry));
      if (std::ranges::count(identities, identities.back()) > 1) {
        throw std::logic_error(fmt::format("there are two: {}", identities.back()));
      }
    }
    if (rules_.check) rules_.check(entries_);
  }

  Rules rules_;
  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<const void>> owned_;
  std::once_flag arranged_;
};

}  // namespace convladder
