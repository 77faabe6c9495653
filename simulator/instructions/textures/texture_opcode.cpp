#include "simulator/instructions/textures/texture_opcode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "simulator/instructions/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

using Words = std::vector<std::string_view>;

bool begins_with_word(std::string_view opcode, std::string_view word) {
  return opcode.starts_with(word) && opcode.size() > word.size() && opcode[word.size()] == '.';
}

constexpr std::array kGeometries = {Geometry::one,         Geometry::two,  Geometry::three,       Geometry::one_layered,
                                    Geometry::two_layered, Geometry::cube, Geometry::cube_layered};

std::optional<Geometry> geometry_of(std::string_view word) {
  const auto* const found =
      std::ranges::find(kGeometries, word, [](Geometry one) { return std::string_view(geometry_name(one)); });
  return found == kGeometries.end() ? std::nullopt : std::optional(*found);
}

template <typename T, std::size_t kCount>
std::optional<T> value_of(const std::pair<std::string_view, T> (&table)[kCount], std::string_view word) {
  const auto* const found = std::ranges::find(table, word, &std::pair<std::string_view, T>::first);
  return found == std::end(table) ? std::nullopt : std::optional(found->second);
}

constexpr std::pair<std::string_view, SurfaceClamp> kClamps[] = {
    {"trap", SurfaceClamp::trap}, {"clamp", SurfaceClamp::clamp}, {"zero", SurfaceClamp::zero}};
constexpr std::pair<std::string_view, SurfaceReduction> kReductions[] = {{"add", SurfaceReduction::add},
                                                                         {"min", SurfaceReduction::minimum},
                                                                         {"max", SurfaceReduction::maximum},
                                                                         {"and", SurfaceReduction::and_},
                                                                         {"or", SurfaceReduction::or_}};
constexpr std::string_view kCacheWords[] = {"ca", "cg", "cs", "cv", "wb", "wt"};

std::optional<SurfaceAccess> access_of(const Words& words) {
  const bool formatted = words[1] == "p";
  if (!formatted && words[1] != "b") return std::nullopt;
  if (words[0] == "suld") return formatted ? std::nullopt : std::optional(SurfaceAccess::load);
  if (words[0] == "sust") return formatted ? SurfaceAccess::formatted_store : SurfaceAccess::store;
  if (words[0] != "sured") return std::nullopt;
  return formatted ? SurfaceAccess::formatted_reduction : SurfaceAccess::reduction;
}

/// Whether the access has this type.
bool has_type(const SurfaceOpcode& opcode, const ptx::Type& type) {
  using ptx::TypeClass;
  const bool is_32 = type.bits == 32;
  switch (opcode.access) {
    case SurfaceAccess::load:
    case SurfaceAccess::store:
      return type.type_class == TypeClass::bits && type.bits <= 64 && opcode.bytes() <= 16;
    case SurfaceAccess::formatted_store:
      return is_32 && type.type_class != TypeClass::floating_pair;
    default:
      break;
  }
  if (opcode.elements != 1 || (!is_32 && type.bits != 64)) return false;
  const bool is_logic = opcode.reduction == SurfaceReduction::and_ || opcode.reduction == SurfaceReduction::or_;
  if (opcode.access == SurfaceAccess::formatted_reduction && !is_32) return false;
  if (type.type_class == TypeClass::floating || type.type_class == TypeClass::floating_pair) return false;
  return is_logic == (type.type_class == TypeClass::bits) || opcode.access == SurfaceAccess::formatted_reduction;
}

}  // namespace

bool is_texture_fetch(std::string_view opcode) {
  return begins_with_word(opcode, "tex") || begins_with_word(opcode, "tld4");
}
bool reads_texels(std::string_view opcode) { return is_texture_fetch(opcode) || begins_with_word(opcode, "suld"); }
bool writes_texels(std::string_view opcode) {
  return begins_with_word(opcode, "sust") || begins_with_word(opcode, "sured");
}

std::optional<FetchOpcode> parse_fetch(std::string_view opcode) {
  if (!is_texture_fetch(opcode)) return std::nullopt;
  const Words words = ptx::split_opcode(opcode);
  FetchOpcode fetch;
  std::size_t next = 1;
  if (words[0] == "tld4") {
    constexpr std::string_view components = "rgba";
    if (words[1].size() != 1 || components.find(words[1]) == std::string_view::npos) return std::nullopt;
    fetch.gathers = true;
    fetch.component = static_cast<std::uint8_t>(components.find(words[1]));
    next = 2;
  } else if (words[1] == "level" || words[1] == "grad" || words[1] == "base") {
    fetch.operands_of_level = words[1] == "level" ? 1 : words[1] == "grad" ? 2 : 0;
    next = 2;
  }
  if (words.size() != next + 4) return std::nullopt;
  const auto geometry = geometry_of(words[next]);
  if (!geometry) return std::nullopt;
  fetch.geometry = *geometry;
  const std::string_view vector = words[next + 1];
  const std::string_view type = words[next + 2];
  const std::string_view coordinates = words[next + 3];
  fetch.result = type == "f16x2" ? TexelResult::half_pair : type == "f16" ? TexelResult::half : TexelResult::word;
  const bool is_word = type == "u32" || type == "s32" || type == "f32";
  if (fetch.result == TexelResult::word && !is_word) return std::nullopt;
  if (vector != (fetch.result == TexelResult::half_pair ? "v2" : "v4")) return std::nullopt;
  if (coordinates != "f32" && coordinates != "s32") return std::nullopt;
  fetch.has_whole_coordinates = coordinates == "s32";
  const bool is_cube = fetch.geometry == Geometry::cube || fetch.geometry == Geometry::cube_layered;
  if (fetch.has_whole_coordinates && (fetch.gathers || is_cube || fetch.operands_of_level == 2)) return std::nullopt;
  if (fetch.gathers && dimensions(fetch.geometry) != 2) return std::nullopt;
  return fetch;
}

std::optional<SurfaceOpcode> parse_surface_access(std::string_view opcode) {
  if (!begins_with_word(opcode, "suld") && !writes_texels(opcode)) return std::nullopt;
  const Words words = ptx::split_opcode(opcode);
  const auto access = access_of(words);
  if (!access || words.size() < 5) return std::nullopt;
  SurfaceOpcode surface;
  surface.access = *access;
  const bool reduces = words[0] == "sured";
  std::optional<Geometry> geometry;
  const auto clamp = value_of(kClamps, words.back());
  const auto type = ptx::type_of_suffix(fmt::format(".{}", words[words.size() - 2]));
  if (!clamp || !type || type->type_class == ptx::TypeClass::predicate) return std::nullopt;
  for (std::size_t i = 2; i + 2 < words.size(); ++i) {
    const auto reduction = value_of(kReductions, words[i]);
    if (const auto found = geometry_of(words[i]); found && !geometry) {
      geometry = found;
    } else if (reduction && reduces && surface.reduction == SurfaceReduction::none) {
      surface.reduction = *reduction;
    } else if (words[i] == "v2" || words[i] == "v4") {
      surface.elements = static_cast<std::uint8_t>(words[i][1] - '0');
    } else if (std::ranges::find(kCacheWords, words[i]) == std::end(kCacheWords)) {
      return std::nullopt;
    }
  }
  if (!geometry || *geometry == Geometry::cube || *geometry == Geometry::cube_layered) return std::nullopt;
  if (reduces != (surface.reduction != SurfaceReduction::none)) return std::nullopt;
  surface.geometry = *geometry;
  surface.clamp = *clamp;
  surface.bits = static_cast<std::uint16_t>(type->bits);
  surface.is_signed = type->type_class == ptx::TypeClass::signed_;
  if (!has_type(surface, *type)) return std::nullopt;
  return surface;
}

}  // namespace convladder::simulated
