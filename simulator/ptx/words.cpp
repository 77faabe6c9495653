#include "simulator/ptx/words.hpp"

#include <utility>

namespace convladder::ptx {
namespace {

constexpr std::pair<std::string_view, Type> kTypes[] = {
    {".pred", {TypeClass::predicate, 1}}, {".b8", {TypeClass::bits, 8}},
    {".b16", {TypeClass::bits, 16}},      {".b32", {TypeClass::bits, 32}},
    {".b64", {TypeClass::bits, 64}},      {".b128", {TypeClass::bits, 128}},
    {".u8", {TypeClass::unsigned_, 8}},   {".u16", {TypeClass::unsigned_, 16}},
    {".u32", {TypeClass::unsigned_, 32}}, {".u64", {TypeClass::unsigned_, 64}},
    {".s8", {TypeClass::signed_, 8}},     {".s16", {TypeClass::signed_, 16}},
    {".s32", {TypeClass::signed_, 32}},   {".s64", {TypeClass::signed_, 64}},
    {".f16", {TypeClass::floating, 16}},  {".f16x2", {TypeClass::floating_pair, 32}},
    {".f32", {TypeClass::floating, 32}},  {".f64", {TypeClass::floating, 64}},
};

constexpr std::pair<std::string_view, Space> kSpaces[] = {
    {".global", Space::global}, {".const", Space::constant}, {".shared", Space::shared},
    {".local", Space::local},   {".param", Space::param},    {".tex", Space::global},
};

}  // namespace

std::optional<Type> type_of_suffix(std::string_view suffix) {
  for (const auto& [name, type] : kTypes) {
    if (name == suffix) return type;
  }
  return std::nullopt;
}

std::optional<Space> space_of_word(std::string_view word) {
  for (const auto& [name, space] : kSpaces) {
    if (name == word) return space;
  }
  return std::nullopt;
}

bool is_opaque_type(std::string_view word) { return word == ".texref" || word == ".samplerref" || word == ".surfref"; }

Type take_type(TokenReader& tokens) {
  const Token word = tokens.take_word("a type");
  if (is_opaque_type(word.text)) return {TypeClass::bits, 64};
  const auto type = type_of_suffix(word.text);
  if (!type) tokens.fail(word, "'" + shown(word.text) + "' is not a type");
  return *type;
}

std::vector<std::string_view> split_opcode(std::string_view opcode) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= opcode.size();) {
    const std::size_t end = std::min(opcode.find('.', begin), opcode.size());
    parts.push_back(opcode.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace convladder::ptx
