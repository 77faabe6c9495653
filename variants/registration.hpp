// How a variant's source file registers it.
//
// nvcc reads this file with every kernel, and each standard header several times: only a few are included.
#pragma once

#include "variants/variant_info.hpp"

namespace convladder {

class Variant;

/// A static object of this type in a variant's source file registers it for the problem of that name. The variant lives
/// as long as the program. Errors in the registrations of a problem are thrown as std::logic_error when its variants
/// are first asked for: two variants that share a name or a rung in their family, a stage that builds on a variant that
/// does not exist, or a variant that leaves an idea out and has a rung or builds on no stage.
struct VariantRegistration {
  VariantRegistration(std::string_view problem, const VariantInfo& info, const Variant& variant);
};

}  // namespace convladder
