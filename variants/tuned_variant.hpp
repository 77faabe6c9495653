// A variant that takes the configuration of its tuning table, where the table has the layer.
#pragma once

#include <memory>

#include "variants/tuning_table.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// Both arguments must outlive the result. Where an entry is impossible, for example with another instruction set than
/// the one that it was found with, the variant's own model chooses; `PreparedVariant::choice` says who chose.
std::unique_ptr<Variant> tuned_variant(const Variant& variant, const TuningTable& table);

}  // namespace convladder
