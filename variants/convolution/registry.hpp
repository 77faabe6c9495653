// All variants of this build, in ladder order.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "variants/convolution/conv_variant.hpp"
#include "variants/convolution/registration.hpp"

namespace convladder {

/// A variant and what its registration says.
struct RegisteredVariant {
  VariantInfo info;
  const ConvVariant* variant = nullptr;
};

/// Every registered variant: by family, then by rung, then libraries, then those that leave an idea out. The order
/// never depends on the linker. Those with a tuning table (tuning_table.hpp) take what it says. Throws std::logic_error
/// if two variants of a family share a name or a rung, if `builds_on` names none, or if what leaves an idea out has a
/// rung or builds on no stage.
const std::vector<RegisteredVariant>& registered_variants();

/// The variant of that family and name, or nullptr.
const RegisteredVariant* find_variant(std::string_view family, std::string_view name);

/// Keeps a variant as long as the program, for its registration.
const ConvVariant& keep_variant(std::unique_ptr<const ConvVariant> variant);

}  // namespace convladder
