// Profiles as nvprof and as Nsight Systems print them; as text, CSV and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/profile/profile_table.hpp"
#include "harness/measure/profile/program_time.hpp"

namespace convladder {

enum class ProfileLayout {
  nvprof,  ///< "Type  Time(%)  Time  Calls  Avg  Min  Max  Name", each time in its own unit
  nsys     ///< "Time (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns) … Name", with a column of cumulative shares
};

enum class ProfileEncoding { text, csv, json };

struct ProfileFormat {
  ProfileLayout layout = ProfileLayout::nvprof;
  ProfileEncoding encoding = ProfileEncoding::text;
  double cut_percent = 90;  ///< rows until this share of the time is reached; 100 shows all
  bool full_names = false;  ///< text only: names are not shortened to fit 100 columns
};

/// "nvprof" or "nsys", "text", "csv" or "json"; throw UserError naming `flag` and the known words.
ProfileLayout parse_profile_layout(const std::string& flag, const std::string& text);
ProfileEncoding parse_profile_encoding(const std::string& flag, const std::string& text);

/// The whole table as text or CSV, ending in a newline.
std::string profile_text(const ProfileTable& table, const ProfileFormat& format);

/// The table of a case.
struct TitledProfile {
  std::string id;
  ProfileTable table;
  std::optional<ProgramTime> program;
  bool predicted = false;  ///< everything but the host phases comes from a virtual clock
};
/// All tables, each with its title and the program's time where they are text. JSON (profile_json.hpp) is the same for
/// both layouts.
std::string profiles_text(const std::vector<TitledProfile>& profiles, const ProfileFormat& format);

/// Nanoseconds as nvprof writes them: "242ns", "1.5680us", "49.974ms", "1.87342s".
std::string nvprof_time_text(double nanoseconds);

/// A kernel's name in at most `width` columns: parameters, template arguments and namespaces are dropped, in this order
/// and only as far as needed; a name that is still too long ends in "...".
std::string fitted_name(const std::string& name, std::size_t width);

}  // namespace convladder
