#include "harness/judge/ranking/submissions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "ladders/expression.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_links.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSubmissions = 10'000;
constexpr std::size_t kMostEntries = 10'000;  // the most that are looked at below one submission's folder
constexpr std::size_t kMostSources = 500;
constexpr std::uint64_t kLargestSource = 8 << 20;
constexpr std::uint64_t kMostBytes = 64 << 20;

constexpr std::array<std::string_view, 16> kSourceEndings{".cpp", ".cu",  ".cc",  ".cxx", ".c",   ".h",
                                                          ".hpp", ".hh",  ".hxx", ".cuh", ".inl", ".inc",
                                                          ".ipp", ".tpp", ".def", ".py"};

struct Language {
  std::string_view family;  ///< empty where the stage itself says it
  std::string_view ending;
};
constexpr std::string_view kPython = ".py";
constexpr std::array<Language, 3> kLanguages{{{"cpu", ".cpp"}, {"cuda", ".cu"}, {"", kPython}}};

/// An error in one submission: the others go on.
struct BrokenSubmission : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool ends_in(const fs::path& path, std::string_view ending) { return path.extension() == ending; }

bool is_source(const fs::path& path) {
  return std::ranges::any_of(kSourceEndings, [&](std::string_view ending) { return ends_in(path, ending); });
}

std::string shown(const fs::path& path) { return printable(path.string(), 4 * kShortText); }

/// Whether the text of a file in Python looks like a stage: a folder may hold scripts as well.
bool is_python_stage(std::string_view text) {
  return text.find("def solve(") != std::string_view::npos || text.find("# @launch") != std::string_view::npos;
}

/// The text of each source by its path in the copy.
using Sources = std::map<std::string, std::string>;

/// Throws BrokenSubmission for a path that leads, links followed, out of `root`.
void require_inside(const fs::path& path, const fs::path& root) {
  const std::string why = why_not_followed(path, {root});
  if (!why.empty()) throw BrokenSubmission(fmt::format("{}: {}", shown(path.filename()), why));
}

/// The text of a regular file that lies, links followed, below `root`. Throws BrokenSubmission.
std::string text_of(const fs::path& file, const fs::path& root) {
  require_inside(file, root);
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (!fs::is_regular_file(real, error)) {
    throw BrokenSubmission(fmt::format("{}: not a regular file", shown(file.filename())));
  }
  try {
    return read_file_text(real.string(), kLargestSource);
  } catch (const UserError& failure) {
    const std::string what = failure.what();  // "FILE: why"
    throw BrokenSubmission(fmt::format("{}: {}", shown(file.filename()), what.substr(real.string().size() + 2)));
  }
}

/// Collects the sources of a person's folder, also those behind links within it.
class SourceCollector {
 public:
  explicit SourceCollector(fs::path root) : root_(std::move(root)) {}

  /// Takes the sources below `folder`, which is canonical, and called `name` below the root. Throws BrokenSubmission.
  void take_below(const fs::path& folder, const fs::path& name) {
    inside_.push_back(folder);
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (++seen_ > kMostEntries) throw BrokenSubmission(fmt::format("more than {} files", kMostEntries));
      const fs::path& path = entry->path();
      if (path.filename().string().starts_with('.')) continue;
      std::error_code ignored;
      const bool is_link = entry->is_symlink(ignored);
      if (is_link) require_inside(path, root_);
      if (fs::is_directory(path, ignored)) {
        const fs::path real = is_link ? fs::canonical(path, ignored) : path;
        if (std::ranges::any_of(inside_, [&](const fs::path& one) { return lies_in(one, real); })) {
          throw BrokenSubmission(fmt::format("{}: a link to a folder that holds it", shown(path.filename())));
        }
        take_below(real, name / path.filename());
      } else if (is_source(path)) {
        take(path, name / path.filename());
      }
    }
    if (error) throw BrokenSubmission(fmt::format("cannot be read: {}", error.message()));
    inside_.pop_back();
  }

  Sources sources() && { return std::move(sources_); }

 private:
  void take(const fs::path& file, const fs::path& name) {
    std::string text = text_of(file, root_);
    bytes_ += text.size();
    if (sources_.size() == kMostSources) throw BrokenSubmission(fmt::format("more than {} sources", kMostSources));
    if (bytes_ > kMostBytes) throw BrokenSubmission(fmt::format("more than {} MB of sources", kMostBytes >> 20U));
    sources_.emplace(name.string(), std::move(text));
  }

  fs::path root_;
  std::vector<fs::path> inside_;  ///< the folders that are being read, links followed
  Sources sources_;
  std::uint64_t bytes_ = 0;
  std::size_t seen_ = 0;
};

/// All sources of a person's folder. Throws BrokenSubmission.
Sources sources_below(const fs::path& folder) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) throw BrokenSubmission(fmt::format("cannot be read: {}", error.message()));
  SourceCollector collector(root);
  collector.take_below(root, {});
  return std::move(collector).sources();
}

/// The person's stage in that language: a key of the sources, empty if there is none. Throws BrokenSubmission where
/// there are several and none is preferred.
std::string stage_of(const Sources& sources, std::string_view ending) {
  std::vector<std::string> stages;
  std::vector<std::string> others;
  for (const auto& [name, text] : sources) {
    if (name.find('/') != std::string::npos || !name.ends_with(ending)) continue;
    if (name == fmt::format("solve{}", ending)) return name;
    if (ending == kPython && !is_python_stage(text)) continue;  // a module of another stage
    (is_stage_name(name) ? stages : others).push_back(name);
  }
  const std::vector<std::string>& found = stages.empty() ? others : stages;
  if (found.empty()) return {};
  if (found.size() > 1) {
    throw BrokenSubmission(
        fmt::format("{} and {}: which of them? One may be called solve{}", shown(found[0]), shown(found[1]), ending));
  }
  return found[0];
}

std::string hash_of(const Sources& sources) {
  Sha256 sum;
  const auto add = [&sum](const std::string& text) {
    const std::string length = fmt::format("{}:", text.size());
    sum.update({reinterpret_cast<const std::uint8_t*>(length.data()), length.size()});
    sum.update({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  for (const auto& [name, text] : sources) {
    add(name);
    add(text);
  }
  return sum.hex();
}

/// Copies the sources and returns the copy's folder; it is made under another name first, so that it is complete
/// wherever it exists. Throws UserError.
fs::path copied(const Sources& sources, const std::string& hash, const fs::path& copies) {
  fs::path place = copies / hash;
  std::error_code error;
  if (fs::is_directory(place, error)) return place;
  const fs::path fresh = copies / fmt::format("{}.{}.new", hash, getpid());
  fs::remove_all(fresh, error);
  for (const auto& [name, text] : sources) {
    fs::create_directories((fresh / name).parent_path(), error);
    if (error) throw UserError(fmt::format("{}: cannot be made: {}", fresh.string(), error.message()));
    write_file_atomically(fresh / name, text);
  }
  fs::rename(fresh, place, error);
  if (error && !fs::is_directory(place)) {
    throw UserError(fmt::format("{}: cannot be made: {}", place.string(), error.message()));
  }
  if (error) fs::remove_all(fresh, error);  // somebody else was faster
  return place;
}

/// Reads the stage's head; in the copy the stage has a plain name, whatever its file was called.
void take_stage(Submission& one, Sources sources, const std::string& stage, std::string_view ending,
                const LadderProblem& problem, const fs::path& copies) {
  const std::string plain = fmt::format("solve{}", ending);
  if (stage != plain) {
    auto moved = sources.extract(stage);
    moved.key() = plain;
    sources.insert(std::move(moved));
  }
  one.content = hash_of(sources);
  try {
    // Its file may have any name: the stage is called by the person's name, and stands beside the ladder.
    one.source = parse_stage(sources.at(plain), fmt::format("library_submission{}", ending), shown(stage));
    one.source.file = plain;
    one.family = one.source.family();
    for (const std::string& need : one.source.needs) static_cast<void>(Expression(need, problem.names()));
  } catch (const UserError& error) {
    one.broken = error.what();
  } catch (const std::invalid_argument& error) {
    one.broken = fmt::format("{}: @requires: {}", shown(stage), error.what());
  }
  if (one.broken.empty()) one.folder = copied(sources, one.content, copies);
}

/// Reads an entry of the folder: it becomes one submission, or two, or none.
class EntryReader {
 public:
  EntryReader(const LadderProblem& problem, const fs::path& copies, Submissions& found)
      : problem_(problem), copies_(copies), found_(found) {}

  void read_file(const fs::path& file) {
    const auto language =
        std::ranges::find_if(kLanguages, [&](const Language& one) { return ends_in(file, one.ending); });
    const auto leave = [&] { found_.left_alone.push_back(shown(file.filename())); };
    if (language == kLanguages.end()) return leave();
    Submission one;
    one.family = language->family;
    one.file = printable(file.filename().string());
    try {
      const std::string plain = fmt::format("solve{}", language->ending);
      std::string text = text_of(file, fs::canonical(file.parent_path()));
      if (language->ending == kPython && !is_python_stage(text)) return leave();
      take_stage(one, {{plain, std::move(text)}}, plain, language->ending, problem_, copies_);
    } catch (const BrokenSubmission& error) {
      one.broken = error.what();
    }
    add(std::move(one), file.stem().string());
  }

  void read_folder(const fs::path& folder) {
    const std::string name = folder.filename().string();
    Sources sources;
    try {
      require_inside(folder, fs::canonical(folder.parent_path()));
      sources = sources_below(folder);
    } catch (const BrokenSubmission& error) {
      return add_broken(name, "", error.what());
    }
    bool any = false;
    for (const Language& language : kLanguages) {
      try {
        const std::string stage = stage_of(sources, language.ending);
        if (stage.empty()) continue;
        any = true;
        Submission one;
        one.family = language.family;
        one.file = printable(fmt::format("{}/{}", name, stage));
        take_stage(one, sources, stage, language.ending, problem_, copies_);
        add(std::move(one), name);
      } catch (const BrokenSubmission& error) {
        any = true;
        add_broken(name, language.family, error.what());
      }
    }
    if (!any) add_broken(name, "", "no solve.cpp, no solve.cu, no solve.py, and no other stage");
  }

 private:
  void add_broken(const std::string& name, std::string_view family, const std::string& why) {
    Submission one;
    one.family = family;
    one.broken = why;
    add(std::move(one), name);
  }

  /// Adds a submission. Names that only differ in characters that cannot be shown are numbered.
  void add(Submission one, const std::string& raw) {
    std::string name = printable(raw);
    if (name.find_first_not_of(' ') == std::string::npos) name = "(without a name)";
    one.name = name;
    for (int number = 2; !names_.emplace(one.family, one.name).second; ++number) {
      one.name = fmt::format("{} ({})", name, number);
    }
    one.source.name = one.name;
    found_.all.push_back(std::move(one));
  }

  const LadderProblem& problem_;
  const fs::path& copies_;
  Submissions& found_;
  std::set<std::pair<std::string, std::string>> names_;
};

}  // namespace

Submissions read_submissions(const fs::path& folder, const LadderProblem& problem, const fs::path& copies) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) throw UserError(fmt::format("{}: not a folder of submissions", shown(folder)));
  std::vector<fs::path> entries;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!entry->path().filename().string().starts_with('.')) entries.push_back(entry->path());
    if (entries.size() > kMostSubmissions) {
      throw UserError(fmt::format("{}: more than {} submissions", shown(folder), kMostSubmissions));
    }
  }
  if (error) throw UserError(fmt::format("{}: cannot be read: {}", shown(folder), error.message()));
  std::ranges::sort(entries);
  fs::create_directories(copies, error);
  if (error) throw UserError(fmt::format("{}: cannot be made: {}", copies.string(), error.message()));

  Submissions found;
  EntryReader reader(problem, copies, found);
  for (const fs::path& path : entries) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      reader.read_folder(path);
    } else {
      reader.read_file(path);
    }
  }
  if (found.all.empty()) {
    throw UserError(fmt::format("{}: no submissions, such as alice.cpp, bob.cu or carol/solve.cpp", shown(folder)));
  }
  std::ranges::stable_sort(found.all, {}, &Submission::name);
  return found;
}

std::string content_of_stage(const fs::path& ladder, const StageSource& stage) {
  try {
    Sources sources = sources_below(ladder);
    std::erase_if(sources, [&](const auto& one) {
      return one.first != stage.file &&
             (is_stage_name(one.first) || one.first == "reference.cpp" || one.first == "reference.py");
    });
    return hash_of(sources);
  } catch (const BrokenSubmission&) {
    return {};
  }
}

}  // namespace convladder
