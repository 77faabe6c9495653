#include "harness/workload.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "datasets/image_batch.hpp"
#include "datasets/seeded_random.hpp"
#include "harness/shape_json.hpp"
#include "network/upstream.hpp"
#include "network/weights.hpp"
#include "variants/reference.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr int kIntegerImages = 3;   // an odd number, so that pairs of images leave one over
constexpr int kLargestInteger = 8;  // sums of products stay below 2^24 for the layers of any known network

std::size_t problem_bytes(const Problem& problem) {
  const ConvShape& s = problem.shape;
  const auto compared = static_cast<std::int64_t>(problem.compared_images.size());
  return static_cast<std::size_t>(4 * (s.input_elements() + s.weight_elements()) +
                                  16 * compared * s.output_elements_per_image());
}

/// Cuts the problem's tensors out of the memory, doubles first so that everything is aligned. Returns the end.
std::byte* attach_problem(Problem& problem, std::byte* at) {
  const ConvShape& s = problem.shape;
  at += -reinterpret_cast<std::uintptr_t>(at) % alignof(double);  // after an odd number of floats
  const auto cut = [&at]<typename T>(std::span<const T>& view, std::int64_t elements) {
    view = {reinterpret_cast<const T*>(at), static_cast<std::size_t>(elements)};
    at += elements * sizeof(T);
  };
  const std::int64_t compared =
      static_cast<std::int64_t>(problem.compared_images.size()) * s.output_elements_per_image();
  cut(problem.reference, compared);
  cut(problem.magnitude, compared);
  cut(problem.input, s.input_elements());
  cut(problem.weights, s.weight_elements());
  return at;
}

// Only the constructor that creates the memory writes to it.
template <typename T>
T* writable(std::span<const T> view) {
  return const_cast<T*>(view.data());
}

/// Uniform in 0..1, as activations are; an own sequence for each image.
void fill_random(const ConvShape& s, std::uint64_t seed, float* to) {
#pragma omp parallel for schedule(static)
  for (int image = 0; image < s.batch; ++image) {
    SeededRandom random(seed, static_cast<std::uint64_t>(image));
    float* const values = to + image * s.input_elements_per_image();
    for (std::int64_t i = 0; i < s.input_elements_per_image(); ++i) {
      values[i] = static_cast<float>(random.next() >> 40) * 0x1p-24F;
    }
  }
}

/// Returns what kind of input it is.
std::string fill_real_input(const LayerWork& work, const ImageSet& images, std::uint64_t seed, float* to) {
  const ConvShape& s = work.shape;
  if (work.source == nullptr) {
    if (s.in_channels != 1) {
      fill_random(s, seed, to);
      return "random";
    }
    fill_image_batch(images, 0, s.batch, 1, s.height, s.width, to);
    return "images";
  }
  const ActivationShape& image = work.source->input;
  if (work.layer_index == 0) {
    fill_image_batch(images, 0, s.batch, image.channels, image.height, image.width, to);
    return "images";
  }
  std::vector<float> pixels(image.elements() * s.batch);
  fill_image_batch(images, 0, s.batch, image.channels, image.height, image.width, pixels.data());
  upstream_activations(*work.source, work.layer_index, s.batch, pixels.data(), seed, to);
  return "upstream activations";
}

std::vector<float> real_weights(const LayerWork& work, std::uint64_t seed) {
  if (work.source != nullptr) return initial_convolution_weights(*work.source, work.layer_index, seed);
  return initial_convolution_weights(work.shape, work.shape.in_channels == 1 ? kPixelScale : 1.0F, seed);
}

void fill_integers(std::span<const float> view, std::uint64_t seed, std::uint64_t stream) {
  SeededRandom random(seed, stream);
  float* const to = writable(view);
  for (std::size_t i = 0; i < view.size(); ++i) {
    to[i] = static_cast<float>(random.between(-kLargestInteger, kLargestInteger));
  }
}

void fill_reference(const Problem& problem) {
  const std::int64_t elements = problem.shape.output_elements_per_image();
  for (std::size_t i = 0; i < problem.compared_images.size(); ++i) {
    const float* const image =
        problem.input.data() + problem.compared_images[i] * problem.shape.input_elements_per_image();
    const ReferenceOutput output = reference_convolution(problem.shape, image, problem.weights.data());
    std::ranges::copy(output.value, writable(problem.reference) + static_cast<std::int64_t>(i) * elements);
    std::ranges::copy(output.magnitude, writable(problem.magnitude) + static_cast<std::int64_t>(i) * elements);
  }
}

}  // namespace

std::vector<int> spread_of_images(int batch) {
  const int count = std::min(batch, kMostComparedImages);
  std::vector<int> images;
  for (int i = 0; i < count; ++i) {
    images.push_back(count == 1 ? 0 : static_cast<int>(static_cast<std::int64_t>(i) * (batch - 1) / (count - 1)));
  }
  return images;
}

void Workload::attach() { attach_problem(integers_, attach_problem(real_, memory_->data())); }

Workload::Workload(const LayerWork& planned_work, const ImageSet& images, std::uint64_t seed, int most_images)
    : planned_batch_(planned_work.shape.batch) {
  LayerWork work = planned_work;
  work.shape.batch = std::min(work.shape.batch, most_images);
  real_.shape = work.shape;
  real_.compared_images = spread_of_images(work.shape.batch);
  integers_.shape = work.shape.with_batch(std::min(work.shape.batch, kIntegerImages));
  integers_.compared_images = spread_of_images(integers_.shape.batch);
  memory_ = std::make_unique<SharedMemory>(problem_bytes(real_) + problem_bytes(integers_) + sizeof(double));
  attach();

  input_kind_ = fill_real_input(work, images, seed, writable(real_.input));
  std::ranges::copy(real_weights(work, seed), writable(real_.weights));
  fill_integers(integers_.input, seed, 1);
  fill_integers(integers_.weights, seed, 2);
  fill_reference(real_);
  fill_reference(integers_);
}

ordered_json Workload::header() const {
  return {{"bytes", memory_->bytes()},
          {"input_kind", input_kind_},
          {"planned_batch", planned_batch_},
          {"real", shape_to_list(real_.shape)},
          {"integers", shape_to_list(integers_.shape)}};
}

Workload::Workload(const ordered_json& header, int descriptor)
    : memory_(std::make_unique<SharedMemory>(descriptor, header.at("bytes").get<std::size_t>())),
      input_kind_(header.at("input_kind").get<std::string>()),
      planned_batch_(header.at("planned_batch").get<int>()) {
  real_.shape = shape_from_list(header.at("real"));
  real_.compared_images = spread_of_images(real_.shape.batch);
  integers_.shape = shape_from_list(header.at("integers"));
  integers_.compared_images = spread_of_images(integers_.shape.batch);
  attach();
}

}  // namespace convladder
