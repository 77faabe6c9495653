// Words of PTX that stand for types and state spaces.
#pragma once

#include <optional>
#include <string_view>

#include "simulator/ptx/module.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

/// ".global", ".shared", …; none for other words.
std::optional<Space> space_of_word(std::string_view word);
/// Whether it is ".texref", ".samplerref" or ".surfref".
bool is_opaque_type(std::string_view word);
/// A type; an opaque one counts as ".b64", the handle's.
Type take_type(TokenReader& tokens);

}  // namespace convladder::ptx
