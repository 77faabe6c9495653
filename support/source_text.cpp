#include "support/source_text.hpp"

#include <cstdint>
#include <fstream>
#include <system_error>

#include "support/printable.hpp"

namespace convladder {

std::vector<std::string> source_lines(const std::filesystem::path& path) {
  constexpr std::uintmax_t kLargestSource = 16 << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > kLargestSource) {
    return {};
  }
  std::ifstream stream(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string short_source(const std::string& line, std::size_t most) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  std::string text = printable(line.substr(first));
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U; };
  while (end > 0 && continues(end)) --end;  // no character is cut in two
  text.resize(end);
  return text + "...";
}

}  // namespace convladder
