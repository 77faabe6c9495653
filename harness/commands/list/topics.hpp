// The topics of `convladder list`: each function returns the whole answer, in one of the formats that the command
// offers.
#pragma once

#include <string>
#include <vector>

namespace convladder {

/// Variants in ladder order, operators, layers and devices; text or json.
std::string variants_listing(const std::string& format);
/// Dimensions, sizes and stages of a folder, without compiling anything, or of a problem by its name; text or json.
/// Throws UserError.
std::string ladder_listing(const std::string& word, const std::string& format);

/// How the profiles in published figures are printed.
struct PublishedLayout {
  std::string layout = "nvprof";
  double cut_percent = 100;
  bool full_names = false;
};
/// The figures of others that the program was built with: a list of all, or with a name the tables of that one; text,
/// json or csv (for one only). Throws UserError.
std::string published_listing(const std::string& name, const std::string& format, const PublishedLayout& layout);

/// The case whose launches are listed.
struct LaunchesOf {
  std::vector<std::string> variants;  ///< exactly one
  std::vector<std::string> layers;    ///< one, or a shape
  std::vector<std::string> shapes;
  std::vector<std::string> batches;  ///< at most one; empty: 1
};
/// The kernels that one call of a CUDA variant launches for a layer, known without a GPU; text, json or csv. Throws
/// UserError for bad input, for a shape that the variant refuses, and where a library decides for itself.
std::string launches_listing(const LaunchesOf& launches, const std::string& format);

}  // namespace convladder
