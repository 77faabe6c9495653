#include "simulator/stand_in/modules/machine_code.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace convladder::stand_in {
namespace {

/// Thrown by what reads tables of lines: the text is taken without lines then.
struct NotReadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T>
std::optional<T> structure_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest(reinterpret_cast<const char*>(bytes.data()) + offset, bytes.size() - offset);
  return rest.substr(0, rest.find('\0'));
}

struct Section {
  std::span<const std::byte> bytes;
  std::span<const std::byte> relocations;
};

/// The sections of these names.
std::map<std::string_view, Section> sections_of(std::span<const std::byte> elf) {
  std::map<std::string_view, Section> sections;
  const auto header = structure_at<Elf64_Ehdr>(elf, 0);
  if (!header) return sections;
  const auto section = [&](std::uint64_t i) {
    return structure_at<Elf64_Shdr>(elf, header->e_shoff + i * sizeof(Elf64_Shdr)).value_or(Elf64_Shdr{});
  };
  const auto bytes_of = [&](const Elf64_Shdr& one) -> std::span<const std::byte> {
    if (one.sh_type == SHT_NOBITS || one.sh_offset > elf.size() || one.sh_size > elf.size() - one.sh_offset) return {};
    return elf.subspan(one.sh_offset, one.sh_size);
  };
  const std::span<const std::byte> names = bytes_of(section(header->e_shstrndx));
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr one = section(i);
    constexpr std::string_view kRelocations = ".rela";
    std::string_view name = text_at(names, one.sh_name);
    if (one.sh_type == SHT_RELA && name.starts_with(kRelocations)) {
      sections[name.substr(kRelocations.size())].relocations = bytes_of(one);
    } else {
      sections[name].bytes = bytes_of(one);
    }
  }
  return sections;
}

/// Reads a section from its beginning to its end.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t place() const { return at_; }
  void go_to(std::uint64_t place) {
    if (place > bytes_.size()) throw NotReadable("a place behind the section");
    at_ = place;
  }
  bool is_at_end() const { return at_ >= bytes_.size(); }

  template <typename T>
  T number() {
    const std::optional<T> value = structure_at<T>(bytes_, at_);
    if (!value) throw NotReadable("a section that ends too early");
    at_ += sizeof(T);
    return *value;
  }
  std::string_view text() {
    const std::string_view text = text_at(bytes_, at_);
    go_to(at_ + text.size() + 1);
    return text;
  }
  std::uint64_t packed() {  // ULEB128
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = number<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    throw NotReadable("a number of more than 64 bits");
  }
  std::int64_t packed_signed() {  // SLEB128
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = number<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) != 0) continue;
      if ((byte & 0x40U) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(value);
    }
    throw NotReadable("a number of more than 64 bits");
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t at_ = 0;
};

/// A place of the code: the function's symbol, and the address in it.
using Place = std::pair<std::uint64_t, std::uint64_t>;

struct Line {
  std::string_view folder;
  std::string_view file;
  std::uint64_t line = 0;  ///< a sum of differences, modulo 2^64: tables may hold any
  bool is_end = false;     ///< of a function
};

/// The rows of a section's tables of lines (DWARF 2, 6.2), in the order of places.
std::map<Place, Line> lines_of(const Section& section) {
  std::map<std::uint64_t, std::uint64_t> symbols;  // of the relocation at a place of the section
  for (std::uint64_t at = 0; at < section.relocations.size(); at += sizeof(Elf64_Rela)) {
    if (const auto one = structure_at<Elf64_Rela>(section.relocations, at))
      symbols[one->r_offset] = ELF64_R_SYM(one->r_info);
  }
  std::map<Place, Line> lines;
  Reader reader(section.bytes);
  while (!reader.is_at_end()) {
    const auto bytes = reader.number<std::uint32_t>();
    const std::uint64_t end = reader.place() + bytes;
    const auto version = reader.number<std::uint16_t>();
    if (version < 2 || version > 4) throw NotReadable("another version of DWARF");
    const auto header_bytes = reader.number<std::uint32_t>();
    const std::uint64_t program = reader.place() + header_bytes;
    const auto step = reader.number<std::uint8_t>();
    if (version == 4) reader.number<std::uint8_t>();
    reader.number<std::uint8_t>();
    const auto line_base = reader.number<std::int8_t>();
    const auto line_range = reader.number<std::uint8_t>();
    const auto first_special = reader.number<std::uint8_t>();
    if (line_range == 0 || first_special == 0) throw NotReadable("a table without special operations");
    std::vector<std::uint8_t> operands(first_special);
    for (std::size_t i = 1; i < first_special; ++i) operands[i] = reader.number<std::uint8_t>();
    std::vector<std::string_view> folders = {""};
    for (std::string_view folder = reader.text(); !folder.empty(); folder = reader.text()) folders.push_back(folder);
    std::vector<Line> files(1);
    for (std::string_view file = reader.text(); !file.empty(); file = reader.text()) {
      const std::uint64_t folder = reader.packed();
      files.push_back({.folder = folder < folders.size() ? folders[folder] : "", .file = file});
      reader.packed();
      reader.packed();
    }
    reader.go_to(program);
    Place place;
    std::uint64_t file = 1;
    std::uint64_t line = 1;
    const auto add = [&](bool is_end) {
      Line one = file < files.size() ? files[file] : Line{};
      one.line = line;
      one.is_end = is_end;
      lines.insert_or_assign(place, one);
    };
    while (reader.place() < end) {
      const auto operation = reader.number<std::uint8_t>();
      if (operation >= first_special) {
        const unsigned both = operation - first_special;
        place.second += both / line_range * step;
        line += static_cast<std::uint64_t>(std::int64_t{line_base} + both % line_range);
        add(false);
        continue;
      }
      switch (operation) {
        case 0: {  // an extended one; those of NVIDIA's, for inlined functions, are skipped
          const std::uint64_t length = reader.packed();
          if (length > section.bytes.size()) throw NotReadable("an operation that is longer than the section");
          const std::uint64_t behind = reader.place() + length;
          const auto extended = length > 0 ? reader.number<std::uint8_t>() : std::uint8_t{0};
          if (extended == 1) {  // the end of a function
            add(true);
            place = {};
            file = 1;
            line = 1;
          } else if (extended == 2) {
            const auto symbol = symbols.find(reader.place());
            place = {symbol == symbols.end() ? 0 : symbol->second, reader.number<std::uint64_t>()};
          }
          reader.go_to(behind);
          break;
        }
        case 1:
          add(false);
          break;
        case 2:
          place.second += reader.packed() * step;
          break;
        case 3:
          line += static_cast<std::uint64_t>(reader.packed_signed());
          break;
        case 4:
          file = reader.packed();
          break;
        case 8:
          place.second += (255U - first_special) / line_range * step;
          break;
        case 9:
          place.second += reader.number<std::uint16_t>();
          break;
        default:
          for (unsigned i = 0; i < operands[operation]; ++i) reader.packed();
      }
    }
    reader.go_to(end);
  }
  return lines;
}

/// The lines of the source by the lines of the PTX.
std::map<std::uint64_t, Line> sources_of(const Section& of_source, const Section& of_ptx) {
  const std::map<Place, Line> sources = lines_of(of_source);
  std::map<std::uint64_t, Line> found;
  for (const auto& [place, ptx] : lines_of(of_ptx)) {
    auto source = sources.upper_bound(place);
    if (ptx.is_end || source == sources.begin()) continue;
    --source;
    if (source->first.first != place.first || source->second.is_end || source->second.file.empty()) continue;
    found.emplace(ptx.line, source->second);
  }
  return found;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

/// Writes a .loc for each group of lines whose source is known into the empty line before it, where the compiler's own
/// .loc stood: the numbers of lines stay.
void write_sources(std::vector<std::string>& lines, const std::map<std::uint64_t, Line>& sources) {
  std::map<std::string, int> files;
  const auto number_of = [&](const Line& source) {
    const std::string path = source.folder.empty() || source.file.starts_with('/')
                                 ? std::string(source.file)
                                 : fmt::format("{}/{}", source.folder, source.file);
    return files.emplace(path, static_cast<int>(files.size()) + 1).first->second;
  };
  std::ptrdiff_t depth = 0;  // of braces: a .loc stands in the body of a function
  for (std::size_t i = 0; i < lines.size(); ++i) {
    depth += std::ranges::count(lines[i], '{') - std::ranges::count(lines[i], '}');
    if (depth == 0 || !is_blank(lines[i])) continue;
    const std::size_t blank = i;
    for (std::size_t next = i + 1; next < lines.size() && !is_blank(lines[next]); ++next) {
      const auto source = sources.find(next + 1);
      if (source == sources.end()) continue;
      lines[blank] = fmt::format(".loc {} {} 0", number_of(source->second), source->second.line);
      break;
    }
  }
  for (const auto& [path, number] : files) lines.push_back(fmt::format(".file {} \"{}\"", number, path));
}

}  // namespace

std::uint64_t machine_code_bytes(const void* header) {
  Elf64_Ehdr elf{};
  std::memcpy(elf.e_ident, header, SELFMAG);
  if (std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  std::memcpy(&elf, header, EI_CLASS + 1);
  if (elf.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  std::memcpy(&elf, header, sizeof elf);
  if (elf.e_shentsize != sizeof(Elf64_Shdr)) return 0;
  std::uint64_t end = elf.e_shoff + std::uint64_t{elf.e_shnum} * elf.e_shentsize;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  if (elf.e_shoff > kMost) return 0;
  for (std::uint64_t i = 0; i < elf.e_shnum; ++i) {
    Elf64_Shdr section{};
    std::memcpy(&section, static_cast<const std::byte*>(header) + elf.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end > kMost ? 0 : std::max<std::uint64_t>(end, sizeof elf);
}

std::string ptx_in_machine_code(std::span<const std::byte> elf) {
  std::map<std::string_view, Section> sections = sections_of(elf);
  const std::span<const std::byte> text = sections[".nv_debug_ptx_txt"].bytes;
  if (text.empty()) return {};
  std::vector<std::string> lines;
  for (std::uint64_t at = 0; at < text.size(); at += lines.back().size() + 1) lines.emplace_back(text_at(text, at));
  try {
    write_sources(lines, sources_of(sections[".debug_line"], sections[".nv_debug_line_sass"]));
  } catch (const NotReadable&) {
    // Findings name lines of the PTX alone.
  }
  std::string ptx;
  for (const std::string& line : lines) ptx += line + "\n";
  return ptx;
}

}  // namespace convladder::stand_in
