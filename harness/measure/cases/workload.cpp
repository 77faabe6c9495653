#include "harness/measure/cases/workload.hpp"

#include <algorithm>
#include <stdexcept>

#include "datasets/image_set.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "network/network_problem.hpp"
#include "network/reference_network.hpp"
#include "network/weights.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

namespace {

constexpr int kIntegerImages = 3;   // an odd number, so that pairs of images leave one over
constexpr int kLargestInteger = 8;  // sums of products stay below 2^24 for the layers of any known network

constexpr std::size_t kAlignment = 64;  // of a tensor in the memory, bytes

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::size_t problem_bytes(const ProblemSize& size) {
  std::size_t sum = 0;
  for (const ProblemTensor& one : size.problem->given(size)) {
    sum += aligned(one.bytes() * static_cast<std::size_t>(size.batch));
  }
  for (const ProblemTensor& one : size.problem->constants(size)) sum += aligned(one.bytes());
  return sum;
}

/// Cuts the problem's tensors out of the memory. Returns the end.
std::byte* attach_problem(ProblemData& data, std::byte* at) {
  const auto cut = [&at](const std::vector<ProblemTensor>& tensors, int items) {
    std::vector<TensorData> views;
    for (const ProblemTensor& tensor : tensors) {
      const std::size_t bytes = tensor.bytes() * static_cast<std::size_t>(items);
      views.push_back({tensor, {at, bytes}});
      at += aligned(bytes);
    }
    return views;
  };
  data.given = cut(data.shape.problem->given(data.shape), data.shape.batch);
  data.constants = cut(data.shape.problem->constants(data.shape), 1);
  return at;
}

// A tensor's elements, to be written. Only the constructor that creates the memory writes to it.
float* writable(const TensorData& data) { return data.placed().as<float>(); }

/// Fills with values uniform in 0..1, as activations are; each image has a sequence of its own.
void fill_random(const ProblemSize& size, std::uint64_t seed, float* to) {
  const std::int64_t elements = size.input_elements_per_item();
#pragma omp parallel for schedule(static)
  for (int image = 0; image < size.batch; ++image) {
    SeededRandom random(seed, static_cast<std::uint64_t>(image));
    float* const values = to + image * elements;
    for (std::int64_t i = 0; i < elements; ++i) values[i] = static_cast<float>(random.next() >> 40) * 0x1p-24F;
  }
}

void fill_layer_input(const LayerWork& work, const ImageSet& images, std::uint64_t seed, float* to) {
  const std::string kind = input_kind(work);
  const ProblemSize& size = work.shape;
  if (kind == "random") return fill_random(size, seed, to);
  if (kind == "images") {
    const ActivationShape image = size.problem->input_image(size);
    return fill_image_batch(images, 0, size.batch, image.channels, image.height, image.width, to);
  }
  const ActivationShape& image = work.source->input;
  std::vector<float> pixels(image.elements() * size.batch);
  fill_image_batch(images, 0, size.batch, image.channels, image.height, image.width, pixels.data());
  upstream_activations(*work.source, work.layer_index, size.batch, pixels.data(), seed, to);
}

std::vector<float> layer_weights(const LayerWork& work, std::uint64_t seed) {
  if (work.source != nullptr) return initial_convolution_weights(*work.source, work.layer_index, seed);
  return initial_convolution_weights(work.shape, work.shape.at("in_channels") == 1 ? kPixelScale : 1.0F, seed);
}

void fill_integers(const TensorData& data, std::uint64_t seed, std::uint64_t stream) {
  SeededRandom random(seed, stream);
  float* const to = writable(data);
  for (std::size_t i = 0; i < data.values().size(); ++i) {
    to[i] = static_cast<float>(random.between(-kLargestInteger, kLargestInteger));
  }
}

/// Fills any problem's tensors, as the problem says: each item and each constant has a sequence of its own.
void fill_problem(const ProblemData& data, std::uint64_t seed, bool whole) {
  const Problem& problem = *data.shape.problem;
#pragma omp parallel for schedule(static)
  for (int item = 0; item < data.shape.batch; ++item) {
    SeededRandom random(seed, static_cast<std::uint64_t>(item));
    for (const TensorData& given : data.given) {
      PlacedTensor of_item = given.placed();
      of_item.address =
          static_cast<std::byte*>(of_item.address) + static_cast<std::size_t>(item) * given.tensor.bytes();
      problem.fill(data.shape, of_item, random, whole);
    }
  }
  for (std::size_t which = 0; which < data.constants.size(); ++which) {
    SeededRandom random(~seed, which);
    problem.fill(data.shape, data.constants[which].placed(), random, whole);
  }
}

}  // namespace

void Workload::attach() { attach_problem(integers_, attach_problem(real_, memory_->data())); }

Workload::Workload(const LayerWork& planned_work, const ImageSet& images, std::uint64_t seed, int most_images)
    : planned_batch_(planned_work.shape.batch) {
  LayerWork work = planned_work;
  if (work.shape.problem->items_are_alike()) work.shape.batch = std::min(work.shape.batch, most_images);
  real_.shape = work.shape;
  integers_.shape =
      work.shape.problem->whole_number_size(work.shape).with_batch(std::min(work.shape.batch, kIntegerImages));
  memory_ = std::make_unique<SharedMemory>(problem_bytes(real_.shape) + problem_bytes(integers_.shape));
  attach();

  input_kind_ = convladder::input_kind(work);
  if (work.shape.problem->is_linear()) {
    fill_integers(integers_.given[0], seed, 1);
    fill_integers(integers_.constants[0], seed, 2);
  } else {
    fill_problem(real_, seed, false);
    fill_problem(integers_, seed, true);
  }
  if (takes_convolution_data(work)) {
    fill_layer_input(work, images, seed, writable(real_.given[0]));
    std::ranges::copy(layer_weights(work, seed), writable(real_.constants[0]));
  }
  if (const NetworkProblem* const network = network_of(work)) {
    fill_layer_input(work, images, seed, writable(real_.given[0]));
    const NetworkWeights weights = initial_weights(network->network(), seed);
    const std::vector<PlacedTensor> placed = network->placed(weights);
    for (std::size_t i = 0; i < placed.size(); ++i) {
      std::copy_n(placed[i].as<float>(), placed[i].tensor.elements, writable(real_.constants[i]));
    }
  }
  memory_->seal();
  attach();
}

const Expectation& Workload::expected(ProblemKind kind) const {
  const std::scoped_lock lock(expecting_);
  std::unique_ptr<Expectation>& expected = expected_.at(kind == ProblemKind::real ? 0 : 1);
  if (expected == nullptr) expected = make_expectation(problem(kind));
  return *expected;
}

namespace {

std::vector<int> numbers_of(const ProblemSize& size) {
  std::vector<int> numbers{size.batch};
  numbers.insert(numbers.end(), size.values.begin(), size.values.end());
  return numbers;
}

ProblemSize size_of(const Problem& problem, const std::vector<int>& numbers) {
  return {&problem, numbers.at(0), {numbers.begin() + 1, numbers.end()}};
}

}  // namespace

WorkloadHeader Workload::header() const {
  WorkloadHeader header{.bytes = memory_->bytes(),
                        .input_kind = input_kind_,
                        .planned_batch = planned_batch_,
                        .real = numbers_of(real_.shape),
                        .integers = numbers_of(integers_.shape),
                        .problem = std::nullopt,
                        .definition = std::nullopt};
  if (!real_.shape.problem->is_default()) header.problem = argument_of(*real_.shape.problem);
  if (const auto* const folder = dynamic_cast<const FolderProblem*>(real_.shape.problem)) {
    header.definition = folder->text();
  }
  return header;
}

Workload::Workload(const WorkloadHeader& header, int descriptor)
    : memory_(std::make_unique<SharedMemory>(descriptor, header.bytes)),
      input_kind_(header.input_kind),
      planned_batch_(header.planned_batch) {
  const Problem* const problem = header.definition
                                     ? &open_ladder_text(*header.definition)
                                     : problem_named(header.problem.value_or(std::string(kDefaultProblem)));
  if (problem == nullptr) throw std::invalid_argument("this build does not have the problem");
  real_.shape = size_of(*problem, header.real);
  integers_.shape = size_of(*problem, header.integers);
  attach();
}

}  // namespace convladder
