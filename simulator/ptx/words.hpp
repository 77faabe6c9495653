// Words of PTX that stand for types and state spaces.
#pragma once

#include <optional>
#include <string_view>

#include "simulator/ptx/module.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

/// The state space of ".global", ".shared", …; none for other words.
std::optional<Space> space_of_word(std::string_view word);
/// Whether the word is ".texref", ".samplerref" or ".surfref".
bool is_opaque_type(std::string_view word);
/// Takes a type; an opaque one counts as ".b64", the handle's type.
Type take_type(TokenReader& tokens);

}  // namespace convladder::ptx
