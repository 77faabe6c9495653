// How a variant's source file puts it on the ladder.
#pragma once

#include "variants/variant_info.hpp"

namespace convladder {

class ConvVariant;

/// A static object of this type in a variant's source file puts it on the ladder. The variant lives as long as the
/// program.
struct VariantRegistration {
  VariantRegistration(const VariantInfo& info, const ConvVariant& variant);
};

}  // namespace convladder
