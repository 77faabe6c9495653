// The information that a variant of any problem gives about itself.
#pragma once

#include <optional>
#include <string_view>

namespace convladder {

/// The information in a variant's registration. All texts live as long as the program.
struct VariantInfo {
  std::string_view family;      ///< "cpu" or "cuda"
  std::optional<int> rung;      ///< place on the family's ladder, from 1; none for variants that are not on the ladder
  std::string_view name;        ///< unique in its family, as typed: "shared-memory"
  std::string_view title;       ///< as drawn: "Shared memory"
  std::string_view builds_on;   ///< name of the stage to which it adds one idea; empty for the first and for libraries
  std::string_view hypothesis;  ///< one sentence: what should get better, and why
  /// For variants that are `builds_on` minus one idea: that idea, in a few words; empty for all others. `hypothesis`
  /// then says what should get worse.
  std::string_view leaves_out = {};

  bool is_library() const { return !rung && leaves_out.empty(); }
};

}  // namespace convladder
