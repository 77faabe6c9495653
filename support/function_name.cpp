#include "support/function_name.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace convladder {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";

bool is_of_name(char character) { return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_'; }

/// The end of the brackets that are opened at `begin`, or the end of the text.
std::size_t end_of_brackets(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const bool is_arrow = text[i] == '>' && i > 0 && text[i - 1] == '-';
    if (std::string_view("(<{[").find(text[i]) != std::string_view::npos) ++depth;
    if (std::string_view(")>}]").find(text[i]) != std::string_view::npos && !is_arrow && --depth == 0) return i + 1;
  }
  return text.size();
}

/// The end of an operator's name that begins at `begin`: "operator()", "operator<<".
std::size_t end_of_operator(std::string_view text, std::size_t begin) {
  std::size_t end = begin + kOperator.size();
  if (text.substr(end).starts_with("()") || text.substr(end).starts_with("[]")) return end + 2;
  while (end < text.size() && std::string_view("<>=-+*/%&|^~!,").find(text[end]) != std::string_view::npos) ++end;
  return end;
}

/// Removes nvcc's namespace of a file's own names: "_INTERNAL_3bcd7a6c_7_file_cu_da775988::(anonymous namespace)::f".
std::string without_file_namespaces(std::string text) {
  constexpr std::string_view kFile = "_INTERNAL_";
  for (std::size_t at = text.find(kFile); at != std::string::npos; at = text.find(kFile, at)) {
    const std::size_t end = text.find("::", at);
    if (end == std::string::npos || (at > 0 && is_of_name(text[at - 1]))) {
      ++at;
    } else {
      text.erase(at, end + 2 - at);
    }
  }
  return text;
}

}  // namespace

std::string function_name(std::string_view demangled) {
  std::string name;
  bool is_operator = false;
  for (std::size_t i = 0; i < demangled.size();) {
    const std::string_view rest = demangled.substr(i);
    if (rest.starts_with(kAnonymous)) {
      name += kAnonymous;
      i += kAnonymous.size();
    } else if (rest.starts_with(kOperator) && (i == 0 || !is_of_name(demangled[i - 1])) &&
               rest.size() > kOperator.size() && !is_of_name(rest[kOperator.size()])) {
      const std::size_t end = end_of_operator(demangled, i);
      name += demangled.substr(i, end - i);
      i = end;
      is_operator = true;
    } else if (rest[0] == '(') {
      const std::size_t end = end_of_brackets(demangled, i);
      std::string_view behind = demangled.substr(end);
      if (behind.starts_with(" const::")) behind.remove_prefix(std::string_view(" const").size());
      if (!behind.starts_with("::")) break;  // otherwise these are parameters of an enclosing function
      i = demangled.size() - behind.size();
    } else if (rest.starts_with("[abi:")) {  // a tag, of which Numba gives every kernel a long one
      i = end_of_brackets(demangled, i);
    } else if (rest[0] == '<' || rest[0] == '{' || rest[0] == '[') {
      const std::size_t end = end_of_brackets(demangled, i);
      name += demangled.substr(i, end - i);
      i = end;
    } else if (rest[0] == ' ' && !is_operator) {
      if (rest.starts_with(" [")) break;  // "[clone .cold]"
      name.clear();                       // it was a type
      ++i;
    } else {
      name += rest[0];
      ++i;
    }
  }
  return without_file_namespaces(std::move(name));
}

std::string_view without_file_prefix(std::string_view mangled) {
  // "__nv_static_26__ff59cd14_8_names_cu_plain__Z4statPf": the length of a prefix, the prefix, and the name.
  constexpr std::string_view kStatic = "__nv_static_";
  if (!mangled.starts_with(kStatic)) return mangled;
  const char* const begin = mangled.data() + kStatic.size();
  const char* const end = mangled.data() + mangled.size();
  std::size_t length = 0;
  const auto [number_end, error] = std::from_chars(begin, end, length);
  const auto left = static_cast<std::size_t>(end - number_end);
  if (error != std::errc() || left < 3 || length > left - 3) return mangled;
  return mangled.substr(mangled.size() - left + length + 2);
}

}  // namespace convladder
