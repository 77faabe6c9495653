// A variant that takes what its tuning table says, where the table has the layer.
#pragma once

#include <memory>

#include "variants/tuning_table.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// Both outlive the result. Where an entry is not possible, for example with another instruction set than it was found
/// with, the variant's own model chooses; `PreparedVariant::choice` says who did.
std::unique_ptr<Variant> tuned_variant(const Variant& variant, const TuningTable& table);

}  // namespace convladder
