// How a variant's source file registers it, and the information that it gives about the variant.
//
// nvcc reads this file with every kernel, and each standard header several times: only a few are included.
#pragma once

#include <optional>
#include <string_view>

namespace convladder {

class Variant;

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

/// A static object of this type in a variant's source file registers it for the problem of that name. The variant lives
/// as long as the program. Errors in the registrations of a problem are thrown as std::logic_error when its variants
/// are first asked for: two variants that share a name or a rung in their family, a stage that builds on a variant that
/// does not exist, or a variant that leaves an idea out and has a rung or builds on no stage.
struct VariantRegistration {
  VariantRegistration(std::string_view problem, const VariantInfo& info, const Variant& variant);
};

}  // namespace convladder
