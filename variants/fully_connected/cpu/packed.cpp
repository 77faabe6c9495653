// The fully connected layer as a matrix product over weights that are packed in the order in which they are used.
//
// The weights of a panel of up to 48 outputs (with AVX-512) lie together, input by input, so that a vector holds one
// input's weights of 16 outputs; panels differ by one vector at most, so that cores get equal shares. A register tile
// is some images x a panel: a vector of weights is loaded once for all images of the tile, an image's input is a
// broadcast. Inputs are taken in blocks, whose weights stay in the second-level cache while the images pass by. A small
// batch is bound by reading the weights, one stream from the first to the last: it is shared out by outputs, so that
// each weight is read by one core, and, where outputs leave cores idle, by inputs too; the sums of their blocks are
// stored and added up afterwards. A large batch may be shared out by images. In any case an output is the sum of its
// blocks from the first to the last, so an image's outputs do not depend on the batch that it is in, to the last bit.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "variants/accuracy.hpp"
#include "variants/layer_shapes.hpp"
#include "variants/variant.hpp"
#include "variants/vector_lanes.hpp"
#include "variants/vector_tile.hpp"

namespace convladder {
namespace {

constexpr int kBlock = 512;     // inputs at once: sums stay short chains, and the weights in the second-level cache
constexpr int kMostParts = 16;  // parts of the inputs

/// How a layer is shared out: each task is a part of the images, a panel of outputs and a part of the inputs.
struct PackedDivision {
  int threads = 1;
  int panels = 1;
  int image_parts = 1;
  int input_parts = 1;
};

/// The division that takes the busiest thread the least time, in cycles: two multiply-adds or loads of a vector each,
/// weights that come from beyond the second-level cache, and sums that are added up again. One panel more than
/// necessary is often better than splitting the inputs, since then no sums have to be stored.
PackedDivision least_cost_division(int batch, int inputs, int vectors, const InstructionSet& set, int most_threads) {
  constexpr double kCyclesOfLine = 6;          // 64 bytes of one core's stream of weights
  constexpr double kCyclesOfThread = 8000;     // work that justifies another thread
  constexpr double kCyclesOfSums = 4;          // a vector that is written, read and added up
  constexpr double kCyclesOfFarSums = 25;      // a vector that has left the second-level cache in between
  constexpr std::int64_t kNearSums = 1 << 17;  // sums of a thread that have not left it
  constexpr std::int64_t kMostSums = 1 << 20;  // sums that are stored before they are added up
  const int fewest_panels = rounded_up_quotient(vectors, set.vectors);
  const int blocks = rounded_up_quotient(inputs, kBlock);
  const double lines_of_vector = set.lanes / 16.0;
  /// The cost of one input for all outputs.
  const auto cost_of_input = [&](int images, int panels) {
    const int tiles = rounded_up_quotient(images, set.maps);
    const double of_tile = static_cast<double>(images) / tiles;
    const double of_panel = static_cast<double>(vectors) / panels;
    return panels * tiles * std::max({of_panel, of_panel * of_tile / 2, (of_panel + of_tile) / 2}) +
           vectors * lines_of_vector * kCyclesOfLine;
  };
  PackedDivision best;
  double least = std::numeric_limits<double>::infinity();
  const double whole = cost_of_input(batch, fewest_panels) * inputs;
  const int threads = static_cast<int>(std::clamp(whole / kCyclesOfThread, 1.0, static_cast<double>(most_threads)));
  const int most_panels = std::min(vectors, fewest_panels + threads - 1);
  const int most_input_parts = threads > 1 ? std::min(kMostParts, blocks) : 1;
  for (int input_parts = 1; input_parts <= most_input_parts; ++input_parts) {
    const std::int64_t sums = input_parts > 1 ? std::int64_t{batch} * vectors * set.lanes * blocks : 0;
    if (sums > kMostSums) continue;
    const double cycles_of_sums = (sums > kNearSums * threads ? kCyclesOfFarSums : kCyclesOfSums) *
                                  static_cast<double>(sums) / set.lanes / std::min(threads, batch);
    for (int image_parts = 1; image_parts <= std::min(batch, threads); ++image_parts) {
      for (int panels = fewest_panels; panels <= most_panels; ++panels) {
        const double of_input = cost_of_input(rounded_up_quotient(batch, image_parts), panels) / panels;
        const int rounds = rounded_up_quotient(image_parts * panels * input_parts, threads);
        const double cost =
            static_cast<double>(rounds) * rounded_up_quotient(blocks, input_parts) * kBlock * of_input + cycles_of_sums;
        if (!(cost < 0.98 * least)) continue;
        least = cost;
        best = {threads, panels, image_parts, input_parts};
      }
    }
  }
  return best;
}

/// A layer's sizes, how it is cut, and its weights in order: [panel of outputs][input][output of the panel].
struct PackedLayer {
  int batch;
  int inputs;
  int outputs;
  InstructionSet set;
  int vectors;  ///< vectors of outputs
  PackedDivision division;
  AlignedFloats weights;
  std::vector<float> bias;  ///< empty if the layer has no bias

  PackedLayer(const FullyConnectedLayer& layer, const ProblemTensors& tensors)
      : batch(layer.batch),
        inputs(layer.inputs),
        outputs(layer.outputs),
        set(chosen_instruction_set()),
        vectors(rounded_up_quotient(outputs, set.lanes)),
        division(least_cost_division(batch, inputs, vectors, set, omp_get_max_threads())),
        weights(std::int64_t{vectors} * set.lanes * inputs),
        bias(bias_of(layer, tensors), bias_of(layer, tensors) + (layer.has_bias ? outputs : 0)) {
    pack(tensors.constant());
  }

  std::int64_t elements() const { return std::int64_t{batch} * outputs; }
  int blocks() const { return rounded_up_quotient(inputs, kBlock); }
  int first_image(int part) const { return static_cast<int>(std::int64_t{batch} * part / division.image_parts); }
  /// The first input of a part: parts have whole numbers of blocks, except for the last one.
  int first_input(int part) const {
    return std::min(inputs, rounded_up_quotient(inputs, kBlock) * part / division.input_parts * kBlock);
  }
  /// The first output of a panel, which is also the end of the previous one.
  int first_output(int which) const { return vectors * which / division.panels * set.lanes; }
  /// Lanes of a panel, including those without an output.
  int width(int which) const { return first_output(which + 1) - first_output(which); }
  const float* panel(int which) const { return weights.data() + std::int64_t{first_output(which)} * inputs; }

 private:
  void pack(const float* rows) {
    const int blocks = rounded_up_quotient(inputs, 64);  // of a panel: their weights stay in the first-level cache
    float* const packed = weights.data();
#pragma omp parallel for collapse(2) schedule(static)
    for (int which = 0; which < division.panels; ++which) {
      for (int block = 0; block < blocks; ++block) {
        const int end = std::min(inputs, (block + 1) * 64);
        const int first = first_output(which);
        const std::ptrdiff_t pitch = width(which);
        for (int o = 0; o < std::min(width(which), outputs - first); ++o) {
          const float* const from = rows + static_cast<std::ptrdiff_t>(first + o) * inputs;
          float* const to = packed + std::ptrdiff_t{first} * inputs + o;
          for (int i = block * 64; i < end; ++i) to[i * pitch] = from[i];
        }
      }
    }
  }
};

/// A task: some images, one panel of outputs, some inputs.
struct PackedTask {
  const PackedLayer& layer;
  int panel;
  int first_image;
  int end_image;
  int first_input;
  int end_input;
  const float* input;  ///< input of the batch
  float* output;       ///< output of the batch; overwritten, not added to
  float* partial;      ///< null: blocks are added up in `output`; otherwise [block of all inputs][image][output]

  template <typename Set>
  static void run(const PackedTask& task) {
    const int columns =
        std::min(task.layer.width(task.panel), task.layer.outputs - task.layer.first_output(task.panel));
    const int tiles = rounded_up_quotient(task.end_image - task.first_image, Set::maps);
    for (int block = task.first_input; block < task.end_input; block += kBlock) {
      const int length = std::min(kBlock, task.end_input - block);
      for (int tile = 0; tile < tiles; ++tile) {
        const int images = task.end_image - task.first_image;
        const int first = task.first_image + images * tile / tiles;
        const int end = task.first_image + images * (tile + 1) / tiles;
        with_constant<Set::maps>(end - first, [&](auto count) {
          with_constant<Set::vectors>(rounded_up_quotient(columns, Set::lanes), [&](auto vectors) {
            task.multiply<Set, count, vectors>(first, block, length, columns);
          });
        });
      }
    }
  }

 private:
  template <typename Set, int kImages, int kVectors>
  [[gnu::always_inline]] void multiply(int first, int block, int length, int columns) const {
    constexpr int kWidth = kVectors * Set::lanes;
    const float* rows[kImages];
#pragma GCC unroll 8
    for (int image = 0; image < kImages; ++image) {
      rows[image] = input + std::ptrdiff_t{first + image} * layer.inputs + block;
    }
    const float* w = layer.panel(panel) + std::ptrdiff_t{block} * kWidth;
    RegisterTile<Set, kImages, kVectors> tile;
    tile.clear();
    for (std::ptrdiff_t i = 0; i < length; ++i, w += kWidth) {
      Vector<Set> weights[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) load_vector(weights[v], w + v * Set::lanes);
#pragma GCC unroll 8
      for (int image = 0; image < kImages; ++image) {
        const float pixel = rows[image][i];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) tile.sums[image][v] += weights[v] * pixel;
      }
    }
    alignas(64) float values[kImages * kVectors * Set::lanes];
    tile.store(values, kVectors * Set::lanes);  // all values, so that none has to outlive the calls below in a register
    for (int image = 0; image < kImages; ++image) {
      leave(values + image * kVectors * Set::lanes, first + image, columns, block / kBlock);
    }
  }

  [[gnu::always_inline]] void leave(const float* row, int image, int columns, int block) const {
    const int first = layer.first_output(panel);
    const std::ptrdiff_t place = std::ptrdiff_t{image} * layer.outputs + first;
    if (partial != nullptr) {
      std::copy_n(row, columns, partial + block * layer.elements() + place);
    } else if (block > 0) {
      for (int o = 0; o < columns; ++o) output[place + o] += row[o];
    } else if (layer.bias.empty()) {
      std::copy_n(row, columns, output + place);
    } else {
      for (int o = 0; o < columns; ++o) output[place + o] = row[o] + layer.bias[static_cast<std::size_t>(first + o)];
    }
  }
};

class PreparedPacked final : public PreparedVariant {
 public:
  PreparedPacked(const FullyConnectedLayer& layer, const ProblemTensors& tensors)
      : layer_(layer, tensors),
        input_(tensors.input()),
        output_(tensors.output()),
        partial_(layer_.division.input_parts > 1 ? layer_.blocks() * layer_.elements() : 0) {}

  void run() override {
    const int parts = layer_.division.image_parts * layer_.division.panels * layer_.division.input_parts;
#pragma omp parallel num_threads(layer_.division.threads)
    {
#pragma omp for schedule(static)
      for (int part = 0; part < parts; ++part) run_part(part);
      if (layer_.division.input_parts > 1) {
#pragma omp for schedule(static)
        for (int image = 0; image < layer_.batch; ++image) add_up(image);
      }
    }
  }
  std::string choice() const override {
    return fmt::format("{}, {} images x {} outputs at once, in {} x {} x {} parts of images, outputs and inputs",
                       layer_.set.name, layer_.set.maps, layer_.set.tile_pixels(), layer_.division.image_parts,
                       layer_.division.panels, layer_.division.input_parts);
  }

 private:
  /// Computes a part. Neighbouring parts belong to one thread: they have the same images, or continue one stream of
  /// weights.
  void run_part(int part) {
    const int of_inputs = part % layer_.division.input_parts;
    const int panel = part / layer_.division.input_parts % layer_.division.panels;
    const int of_images = part / layer_.division.input_parts / layer_.division.panels;
    run_with<PackedTask>(layer_.set.kind,
                         PackedTask{layer_, panel, layer_.first_image(of_images), layer_.first_image(of_images + 1),
                                    layer_.first_input(of_inputs), layer_.first_input(of_inputs + 1), input_, output_,
                                    layer_.division.input_parts > 1 ? partial_.data() : nullptr});
  }

  void add_up(int image) {
    const std::int64_t first = std::int64_t{image} * layer_.outputs;
    const float* const sums = partial_.data() + first;
    for (int o = 0; o < layer_.outputs; ++o) {
      float sum = sums[o];
      if (!layer_.bias.empty()) sum += layer_.bias[static_cast<std::size_t>(o)];
      for (int block = 1; block < layer_.blocks(); ++block) sum += sums[block * layer_.elements() + o];
      output_[first + o] = sum;
    }
  }

  PackedLayer layer_;
  const float* input_;
  float* output_;
  AlignedFloats partial_;  ///< the blocks' sums where the inputs are shared out
};

class PackedFullyConnected final : public Variant {
 public:
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedPacked>(fully_connected_layer(size), tensors);
  }
  double tolerance() const override { return tolerance::fully_connected; }
};

const VariantRegistration registration{
    "fully-connected",
    {.family = "cpu",
     .rung = 2,
     .name = "packed",
     .title = "Packed weights",
     .builds_on = "",
     .hypothesis = "A matrix product in register tiles; the weights are packed once in the order of their use."},
    keep_variant(std::make_unique<PackedFullyConnected>())};

}  // namespace
}  // namespace convladder
