#include "harness/measure/ladders/ladder_library.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <system_error>

#include "ladders/problem_file.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_ladders();

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemplate = "template";

struct Library {
  std::vector<LibraryLadder> ladders;
  LibraryLadder first;
};

/// Adds the headers of the folders beside it as the ladder's own: a folder that is written for a user has nothing
/// beside it.
void take_in_headers(LibraryLadder& ladder, const LadderProblem& problem,
                     const std::map<std::string, std::vector<EmbeddedFile>>& folders) {
  if (problem.include_folders.empty()) return;
  for (const std::string& folder : problem.include_folders) {
    const std::vector<EmbeddedFile>& shared = folders.at(fs::path(folder).filename().string());
    ladder.files.insert(ladder.files.end(), shared.begin(), shared.end());
  }
  std::string& text = std::ranges::find(ladder.files, "problem.json", &EmbeddedFile::name)->content;
  const std::size_t line = text.rfind('\n', text.find("\"include_folders\""));
  text.erase(line, text.find('\n', line + 1) - line);
}

Library read_library() {
  std::map<std::string, std::vector<EmbeddedFile>> folders;
  for (const EmbeddedFile& file : embedded_ladders()) {
    const fs::path path(file.name);
    folders[path.parent_path().filename().string()].push_back({path.filename().string(), file.content});
  }
  Library library;
  for (const auto& [folder, files] : folders) {
    const auto problem = std::ranges::find(files, "problem.json", &EmbeddedFile::name);
    if (problem == files.end()) continue;  // a folder of headers that others include
    const LadderProblem read = parse_problem(problem->content, folder + "/problem.json");
    LibraryLadder ladder{read.name, read.title, files};
    take_in_headers(ladder, read, folders);
    if (folder == kTemplate) {
      library.first = std::move(ladder);
    } else {
      library.ladders.push_back(std::move(ladder));
    }
  }
  std::ranges::sort(library.ladders, {}, &LibraryLadder::name);
  return library;
}

const Library& library() {
  static const Library read = read_library();
  return read;
}

}  // namespace

const std::vector<LibraryLadder>& ladder_library() { return library().ladders; }

const LibraryLadder* find_in_library(std::string_view name) {
  const auto found = std::ranges::find(ladder_library(), name, &LibraryLadder::name);
  return found == ladder_library().end() ? nullptr : &*found;
}

const LibraryLadder& ladder_template() { return library().first; }

void write_ladder(const LibraryLadder& ladder, const fs::path& folder) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    throw UserError(fmt::format("{}: there is something of that name already", printable(folder.string())));
  }
  if (!fs::create_directory(folder, error)) {
    throw UserError(fmt::format("{}: cannot be made: {}", printable(folder.string()), error.message()));
  }
  for (const EmbeddedFile& file : ladder.files) write_file_atomically(folder / file.name, file.content);
}

fs::path unpacked_ladder(const LibraryLadder& ladder, const fs::path& cache) {
  std::string all;
  for (const EmbeddedFile& file : ladder.files) all += file.name + '\n' + file.content;
  const std::string hash = sha256_hex(all);
  fs::path folder = cache / "ladders" / hash.substr(0, 16) / ladder.name;
  std::error_code error;
  if (fs::exists(folder / "problem.json", error)) return folder;
  fs::create_directories(folder.parent_path(), error);
  if (error) throw UserError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
  // Complete from the beginning, even if another process writes it at the same time.
  const fs::path fresh = folder.string() + fmt::format(".{}.new", getpid());
  fs::remove_all(fresh, error);
  write_ladder(ladder, fresh);
  fs::rename(fresh, folder, error);
  if (error) fs::remove_all(fresh, error);
  if (!fs::exists(folder / "problem.json", error)) {
    throw UserError(fmt::format("{}: cannot be written", folder.string()));
  }
  return folder;
}

}  // namespace convladder
