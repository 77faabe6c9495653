#include "harness/measure/profile/profile_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/measure/profile/profile_json.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

constexpr std::size_t kNvprofNumberColumns = 77;  // before the name
constexpr std::size_t kNarrowestName = 24;        // where the numbers alone take all columns (nsys)

/// A number of a row, blank where it is not known.
template <typename T>
std::string or_blank(const std::optional<T>& value, fmt::format_string<const T&> format) {
  return value ? fmt::format(format, *value) : std::string();
}

std::string nvprof_time_or_blank(const std::optional<double>& nanoseconds) {
  return nanoseconds ? nvprof_time_text(*nanoseconds) : std::string();
}

std::string cut_name(const ProfileGroup& group) { return fmt::format("({})", plural(group.cut_rows, "more row")); }

/// A text in the middle of a column, as nsys prints "  ---  "; the left side gets the odd space.
std::string centered(const std::string& text, std::size_t width) {
  const std::size_t spaces = width - std::min(width, text.size());
  return std::string((spaces + 1) / 2, ' ') + text + std::string(spaces / 2, ' ');
}

// nvprof

std::string nvprof_text(const ProfileTable& table, bool full_names) {
  const std::size_t name_columns = kTextColumns - kNvprofNumberColumns;
  std::string text = fmt::format("{:>16}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}  Name\n", "Type", "Time(%)", "Time",
                                 "Calls", "Avg", "Min", "Max");
  for (const ProfileGroup& group : table.groups) {
    std::string type = fmt::format("{}:", group.name);
    for (const ProfileRow& row : group.rows) {
      text += fmt::format("{:>16}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}  {}\n", type,
                          or_blank(row.time_percent, "{:.2f}%"), nvprof_time_or_blank(row.total_ns),
                          or_blank(row.calls, "{}"), nvprof_time_or_blank(row.average_ns),
                          nvprof_time_or_blank(row.minimum_ns), nvprof_time_or_blank(row.maximum_ns),
                          full_names ? row.name : fitted_name(row.name, name_columns));
      type.clear();  // once per group
    }
    if (group.cut_rows > 0) {
      text += fmt::format("{:>16}{:>9}{:52}{}\n", type, fmt::format("{:.2f}%", group.cut_percent), "", cut_name(group));
    }
  }
  return text;
}

std::string nvprof_csv(const ProfileTable& table) {
  std::string text = "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n,%,ns,,ns,ns,ns,\n";
  for (const ProfileGroup& group : table.groups) {
    const std::string type = csv_quoted(group.name);
    for (const ProfileRow& row : group.rows) {
      text +=
          fmt::format("{},{},{},{},{},{},{},{}\n", type, or_blank(row.time_percent, "{:.2f}"),
                      or_blank(row.total_ns, "{:.0f}"), or_blank(row.calls, "{}"), or_blank(row.average_ns, "{:.1f}"),
                      or_blank(row.minimum_ns, "{:.0f}"), or_blank(row.maximum_ns, "{:.0f}"), csv_quoted(row.name));
    }
    if (group.cut_rows > 0) {
      text += fmt::format("{},{:.2f},,,,,,{}\n", type, group.cut_percent, csv_quoted(cut_name(group)));
    }
  }
  return text;
}

// Nsight Systems

constexpr std::size_t kNsysNumbers = 9;
using NsysNumbers = std::array<std::string, kNsysNumbers>;

/// The heading of a count: calls for API calls and phases of the host, instances for kernels, copies and layers.
NsysNumbers nsys_header(const ProfileGroup& group) {
  const bool calls = group.name == activity_group::kApi || group.name == activity_group::kHost;
  return {"Time (%)", "Cum. (%)", "Total Time (ns)", calls ? "Num Calls" : "Instances", "Avg (ns)", "Med (ns)",
          "Min (ns)", "Max (ns)", "StdDev (ns)"};
}

NsysNumbers nsys_numbers(const ProfileRow& row, const std::optional<double>& cumulative) {
  return {or_blank(row.time_percent, "{:.1f}"),
          or_blank(cumulative, "{:.1f}"),
          or_blank(row.total_ns, "{:.0f}"),
          or_blank(row.calls, "{}"),
          or_blank(row.average_ns, "{:.1f}"),
          or_blank(row.median_ns, "{:.1f}"),
          or_blank(row.minimum_ns, "{:.0f}"),
          or_blank(row.maximum_ns, "{:.0f}"),
          or_blank(row.standard_deviation_ns, "{:.1f}")};
}

struct NsysLine {
  NsysNumbers numbers;
  std::string name;
};

/// The group's rows as texts. Shares add up as long as every row has its own.
std::vector<NsysLine> nsys_lines(const ProfileGroup& group) {
  std::vector<NsysLine> lines;
  std::optional<double> cumulative = 0.0;
  for (const ProfileRow& row : group.rows) {
    cumulative = cumulative && row.time_percent ? std::optional(*cumulative + *row.time_percent) : std::nullopt;
    lines.push_back({nsys_numbers(row, cumulative), row.name});
  }
  if (group.cut_rows > 0) {
    ProfileRow rest;
    rest.time_percent = group.cut_percent;
    if (cumulative) *cumulative += group.cut_percent;
    lines.push_back({nsys_numbers(rest, cumulative), cut_name(group)});
  }
  return lines;
}

std::string nsys_group_text(const ProfileGroup& group, bool full_names) {
  const NsysNumbers header = nsys_header(group);
  const std::vector<NsysLine> lines = nsys_lines(group);
  std::array<std::size_t, kNsysNumbers> widths{};
  std::size_t number_columns = 1;
  for (std::size_t column = 0; column < kNsysNumbers; ++column) {
    widths[column] = header[column].size();
    for (const NsysLine& line : lines) widths[column] = std::max(widths[column], line.numbers[column].size());
    number_columns += widths[column] + 2;
  }
  const std::size_t fitting = std::max(kNarrowestName, kTextColumns - std::min(kTextColumns, number_columns));
  std::vector<std::string> names;
  std::size_t name_width = 4;
  for (const NsysLine& line : lines) {
    names.push_back(full_names ? line.name : fitted_name(line.name, fitting));
    name_width = std::max(name_width, names.back().size());
  }

  std::string text = fmt::format(" ** {}:\n\n", group.name);
  std::string titles;
  std::string rule;
  for (std::size_t column = 0; column < kNsysNumbers; ++column) {
    titles += fmt::format("{}{}", column == 0 ? " " : "  ", centered(header[column], widths[column]));
    rule += fmt::format("{}{}", column == 0 ? " " : "  ", std::string(widths[column], '-'));
  }
  text += fmt::format("{}  Name\n{}  {}\n", titles, rule, std::string(name_width, '-'));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t column = 0; column < kNsysNumbers; ++column) {
      text += fmt::format("{}{:>{}}", column == 0 ? " " : "  ", lines[i].numbers[column], widths[column]);
    }
    text += fmt::format("  {}\n", names[i]);
  }
  return text;
}

std::string nsys_group_csv(const ProfileGroup& group) {
  std::string text = fmt::format("{},Name\n", fmt::join(nsys_header(group), ","));
  for (const NsysLine& line : nsys_lines(group)) {
    text += fmt::format("{},{}\n", fmt::join(line.numbers, ","), csv_quoted(line.name));
  }
  return text;
}

std::string nsys_text(const ProfileTable& table, const ProfileFormat& format) {
  std::string text;
  for (const ProfileGroup& group : table.groups) {
    if (!text.empty()) text += '\n';
    text += format.encoding == ProfileEncoding::csv ? nsys_group_csv(group) : nsys_group_text(group, format.full_names);
  }
  return text;
}

// Names

/// Drops the parameters or the template arguments, which begin with `open`; keeps a name's own first character.
void erase_from(std::string& name, char open) {
  const std::size_t at = name.find(open);
  if (at != 0 && at != std::string::npos) name.erase(at);
}

template <typename T, std::size_t N>
T parse_choice(const std::string& flag, const std::string& text,
               const std::array<std::pair<const char*, T>, N>& known) {
  const auto name = &std::pair<const char*, T>::first;
  return find_known("choice", text, known, name, flag + ": ").second;
}

}  // namespace

std::string nvprof_time_text(double nanoseconds) {
  struct Unit {
    const char* name;
    double nanoseconds;
    int significant_digits;
  };
  // Five digits, six for seconds, and whole nanoseconds of the clock.
  if (nanoseconds < 1000) nanoseconds = std::round(nanoseconds);
  if (nanoseconds < 1000) return fmt::format("{:.0f}ns", nanoseconds);
  for (const Unit unit : {Unit{"us", 1e3, 5}, Unit{"ms", 1e6, 5}, Unit{"s", 1e9, 6}}) {
    const double value = nanoseconds / unit.nanoseconds;
    double limit = 10;
    for (int before_point = 1; before_point <= 3; ++before_point, limit *= 10) {
      const std::string text = fmt::format("{:.{}f}", value, unit.significant_digits - before_point);
      if (std::stod(text) < limit) return text + unit.name;
    }
  }
  return fmt::format("{:.2f}s", nanoseconds / 1e9);
}

std::string fitted_name(const std::string& name, std::size_t width) {
  if (name.size() <= width) return name;
  std::string fitted = name;
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at = fitted.find(anonymous); at != std::string::npos; at = fitted.find(anonymous)) {
    fitted.erase(at, anonymous.size());
  }
  if (fitted.starts_with("void ")) fitted.erase(0, 5);
  // Parameters that are functions, or template arguments with parentheses, are gone with the rest.
  if (fitted.size() > width) erase_from(fitted, '(');
  if (fitted.size() > width) erase_from(fitted, '<');
  for (std::size_t colons = fitted.find("::"); fitted.size() > width && colons != std::string::npos;
       colons = fitted.find("::")) {
    fitted.erase(0, colons + 2);
  }
  if (fitted.size() <= width) return fitted;
  std::size_t end = width - std::min<std::size_t>(width, 3);
  while (end > 0 && (static_cast<unsigned char>(fitted[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return fitted.substr(0, end) + "...";
}

ProfileLayout parse_profile_layout(const std::string& flag, const std::string& text) {
  return parse_choice<ProfileLayout, 2>(flag, text,
                                        {{{"nvprof", ProfileLayout::nvprof}, {"nsys", ProfileLayout::nsys}}});
}

ProfileEncoding parse_profile_encoding(const std::string& flag, const std::string& text) {
  return parse_choice<ProfileEncoding, 3>(
      flag, text, {{{"text", ProfileEncoding::text}, {"csv", ProfileEncoding::csv}, {"json", ProfileEncoding::json}}});
}

std::string profile_text(const ProfileTable& table, const ProfileFormat& format) {
  const ProfileTable shown = cut_profile(table, format.cut_percent);
  if (format.layout == ProfileLayout::nsys) return nsys_text(shown, format);
  return format.encoding == ProfileEncoding::csv ? nvprof_csv(shown) : nvprof_text(shown, format.full_names);
}

std::string profiles_text(const std::vector<TitledProfile>& profiles, const ProfileFormat& format) {
  if (format.encoding == ProfileEncoding::json) return profiles_json(profiles, format.cut_percent);
  const bool is_text = format.encoding == ProfileEncoding::text;
  std::string text;
  for (const TitledProfile& profile : profiles) {
    if (is_text) {
      text +=
          fmt::format("{}, {}\n", profile.id, profile.predicted ? "predicted, but host phases measured" : "measured");
    }
    text += profile_text(profile.table, format);
    if (is_text && profile.program) text += fmt::format("\n{}\n", program_time_text(*profile.program));
  }
  return text;
}

}  // namespace convladder
