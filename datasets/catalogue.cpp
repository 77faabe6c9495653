#include "datasets/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "datasets/byte_source.hpp"
#include "datasets/garments.hpp"
#include "datasets/idx_reader.hpp"
#include "support/errors.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

using ClassNames = std::array<std::string_view, 10>;
constexpr ClassNames digits = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

/// A set by its SHA-256. Of an unpacked file where that is published; Fashion-MNIST's are known packed, as distributed.
struct KnownSet {
  std::string_view name;
  const ClassNames& class_names;
  std::string_view images;
  std::string_view labels;
  std::string_view packed_images;
};

constexpr std::array<KnownSet, 5> known_sets = {{
    {"MNIST test", digits, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
     "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2", ""},
    {"MNIST train", digits, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
     "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", ""},
    {"Fashion-MNIST test", garment_names, "", "", "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
    {"Fashion-MNIST train", garment_names, "", "", "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
    {"Fashion-MNIST sample of 900", garment_names, "a5edcee6460babe27fd113620533a71752840981a7b8c04171752fc92a4c68d3",
     "fad354ede7696e1f860e26ba64b6759b477cd4a48fc22e605fc25d840a14ac1b", ""},
}};

/// How the two files of a pair are named after their common beginning.
struct Naming {
  std::string_view images;
  std::string_view labels;
};
constexpr std::array<Naming, 4> namings = {{
    {"-images-idx3-ubyte", "-labels-idx1-ubyte"},
    {"-images-idx3-ubyte.gz", "-labels-idx1-ubyte.gz"},
    {"-images.idx3-ubyte", "-labels.idx1-ubyte"},
    {"-images.idx3-ubyte.gz", "-labels.idx1-ubyte.gz"},
}};

/// An image file found in a folder. `beginning` is its name up to "-images", which its labels share.
struct Found {
  std::string beginning;
  fs::path images;
};

std::optional<std::string> beginning_of(const std::string& file_name) {
  for (const Naming& naming : namings) {
    if (file_name.ends_with(naming.images)) return file_name.substr(0, file_name.size() - naming.images.size());
  }
  return std::nullopt;
}

/// The image files of a folder by name, so that the plain file comes before its packed twin and the order is the same
/// on every machine.
std::vector<Found> image_files(const fs::path& folder) {
  std::error_code error;
  std::vector<Found> found;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::optional<std::string> beginning = beginning_of(entry->path().filename().string());
    if (beginning) found.push_back({*beginning, entry->path()});
  }
  if (error) throw UserError(fmt::format("{}: cannot be read as a folder: {}", folder.string(), error.message()));
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.images < b.images; });
  return found;
}

std::optional<Found> find_beginning(const std::vector<Found>& files, std::string_view beginning) {
  const auto at =
      std::find_if(files.begin(), files.end(), [&](const Found& file) { return file.beginning == beginning; });
  if (at == files.end()) return std::nullopt;
  return *at;
}

Found choose(const fs::path& folder, const std::vector<Found>& files, Split split) {
  const std::optional<Found> test = find_beginning(files, "t10k");
  const std::optional<Found> train = find_beginning(files, "train");
  if (split == Split::test && test) return *test;
  if (train) return *train;
  if (files.empty() || test) {
    throw UserError(
        fmt::format("{}: no IDX {} found, looked for {}-images-idx3-ubyte and its -labels-idx1-ubyte, "
                    "with or without .gz",
                    folder.string(), test ? "training images" : "images", test ? "train" : "*"));
  }
  std::vector<std::string_view> beginnings;
  for (const Found& file : files) {
    if (beginnings.empty() || beginnings.back() != file.beginning) beginnings.emplace_back(file.beginning);
  }
  if (beginnings.size() > 1) {
    throw UserError(fmt::format("{}: expected IDX images named t10k or train, or of one other name, found {}",
                                folder.string(), fmt::join(beginnings, ", ")));
  }
  return files.front();
}

fs::path find_labels(const Found& file) {
  std::vector<std::string> names;
  for (const Naming& naming : namings) {
    names.push_back(file.beginning + std::string(naming.labels));
    std::error_code error;
    fs::path labels = file.images.parent_path() / names.back();
    if (fs::exists(labels, error)) return labels;
  }
  throw UserError(fmt::format("{}: no labels beside it, looked for {}", file.images.string(), fmt::join(names, ", ")));
}

const KnownSet* find_known(const IdxImages& images, std::span<const std::uint8_t> file) {
  const std::string packed = is_gzip(file) ? sha256_hex(file) : "";
  for (const KnownSet& known : known_sets) {
    if (images.sha256 == known.images || (!packed.empty() && packed == known.packed_images)) return &known;
  }
  return nullptr;
}

void check_labels(const KnownSet& known, const IdxLabels& labels, const fs::path& path) {
  if (!known.labels.empty() && labels.sha256 != known.labels) {
    throw UserError(fmt::format("{}: expected the labels of {} (SHA-256 {}), found others ({})", path.string(),
                                known.name, known.labels, labels.sha256));
  }
  const auto at = std::find_if(labels.labels.begin(), labels.labels.end(),
                               [&](std::uint8_t label) { return label >= known.class_names.size(); });
  if (at != labels.labels.end()) {
    throw UserError(fmt::format("{}: label {}: expected one of the {} classes of {}, found {}", path.string(),
                                at - labels.labels.begin(), known.class_names.size(), known.name, *at));
  }
}

ImageSet load_pair(const fs::path& images_path, const fs::path& labels_path) {
  const std::vector<std::uint8_t> file = read_data_file(images_path);
  IdxImages images = parse_idx_images(file, images_path.string());
  IdxLabels labels = read_idx_labels(labels_path);
  if (labels.labels.size() != static_cast<std::size_t>(images.count)) {
    throw UserError(fmt::format("{}: expected {} labels, one for each image of {}, found {}", labels_path.string(),
                                images.count, images_path.filename().string(), labels.labels.size()));
  }
  ImageSet set;
  set.name = "unknown IDX files";
  if (const KnownSet* known = find_known(images, file)) {
    check_labels(*known, labels, labels_path);
    set.name = known->name;
    set.class_names.assign(known->class_names.begin(), known->class_names.end());
  }
  set.source = images_path.filename().string();
  set.sha256 = std::move(images.sha256);
  set.count = images.count;
  set.height = images.height;
  set.width = images.width;
  set.pixels = std::move(images.pixels);
  set.labels = std::move(labels.labels);
  return set;
}

}  // namespace

ImageSet load_image_folder(const fs::path& folder, Split split) {
  const Found file = choose(folder, image_files(folder), split);
  return load_pair(file.images, find_labels(file));
}

fs::path user_cache_folder() {
  // A relative XDG_CACHE_HOME is to be ignored (XDG Base Directory Specification), and so is a relative HOME.
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path(cache).is_absolute()) return fs::path(cache) / "convladder";
  const char* home = std::getenv("HOME");
  if (home != nullptr && fs::path(home).is_absolute()) return fs::path(home) / ".cache/convladder";
  return {};
}

fs::path default_cache_folder() {
  const fs::path cache = user_cache_folder();
  return cache.empty() ? cache : cache / "datasets";
}

std::optional<fs::path> find_cached_folder(const fs::path& cache) {
  if (cache.empty()) return std::nullopt;
  for (const std::string_view name : {"fashion-mnist", "mnist"}) {
    std::error_code error;
    if (!fs::is_directory(cache / name, error)) continue;
    if (!image_files(cache / name).empty()) return cache / name;
  }
  return std::nullopt;
}

}  // namespace convladder
