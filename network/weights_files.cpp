#include "network/weights_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "datasets/catalogue.hpp"
#include "datasets/idx_reader.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_weights();  // network/weights/*.safetensors, by cmake/EmbedFiles.cmake

namespace fs = std::filesystem;

namespace {

constexpr const char* kRemedy = "remove it, or train it again";

NetworkWeights load_cached(const Network& network, const fs::path& file) {
  try {
    return load_weights(network, file);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}; {}", error.what(), kRemedy));
  }
}

}  // namespace

std::string dataset_key(const ImageSet& images) {
  if (images.name == "synthetic") return "synthetic";
  if (images.name.starts_with("MNIST ")) return "mnist";
  if (images.name.starts_with("Fashion-MNIST ")) return "fashion-mnist";
  return "own";
}

fs::path weights_cache_folder() {
  const fs::path cache = user_cache_folder();
  return cache.empty() ? cache : cache / "weights";
}

std::string weights_file_name(const Network& network, const std::string& dataset, const std::string& quality) {
  std::string name = fmt::format("{}-{}-{}.safetensors", network.name, dataset, quality);
  // The name of a user's network may be anything, a path too.
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '_');
  return name;
}

NetworkWeights load_weights(const Network& network, const fs::path& file) {
  return parse_weights(network, read_data_file(file), file.string());
}

std::optional<NetworkWeights> find_weights(const Network& network, const std::string& dataset,
                                           const std::string& quality) {
  const std::string name = weights_file_name(network, dataset, quality);
  std::error_code error;
  const fs::path cached = weights_cache_folder() / name;
  if (cached.is_absolute() && fs::exists(cached, error)) {
    NetworkWeights weights = load_cached(network, cached);
    const WeightsOrigin& origin = weights.origin;
    const auto differs = [](const std::string& said, const std::string& wanted) {
      return !said.empty() && said != wanted;
    };
    if (differs(origin.network, network.name) || differs(origin.dataset, dataset)) {
      throw UserError(fmt::format(
          "{}: by its name these are weights of {} for {} images, but it was trained for {} on {} images; {}",
          cached.string(), network.name, dataset, origin.network, origin.dataset, kRemedy));
    }
    weights.origin.from = "in the cache";
    return weights;
  }
  const auto built_in = std::ranges::find(embedded_weights(), name, &EmbeddedFile::name);
  if (built_in == embedded_weights().end()) return std::nullopt;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(built_in->content.data());
  NetworkWeights weights = parse_weights(network, {bytes, built_in->content.size()}, name);
  weights.origin.from = "built in";
  return weights;
}

}  // namespace convladder
