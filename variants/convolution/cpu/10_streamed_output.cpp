// Stage 10: outputs do not wait for memory.
//
// A layer with one channel writes far more than it reads, and every line that an ordinary store touches is read from
// memory first. Against stage 9 a register tile goes to memory by streaming stores, which fill whole lines in a buffer
// of the processor and read nothing. That relieves the memory's bandwidth by a third to a half. Streaming is left out
// where it loses: where the threads' part of the last-level cache holds the outputs of a call, so that nothing has to
// leave it; and where a map's outputs are not a multiple of a line, so that registers do not hold whole lines of
// memory. Gathering whole images in a buffer and streaming them from there, a few lines after each register tile, cost
// more than it saved: 10 to 48 % of the layer's time, measured in duels with stage 9 on two cores.
//
// Where streaming is left out the lines are read, but no store waits for them: each is asked for while the tile's sums
// are added up, map by map, and has come when the sums are complete. On two cores of an AMD EPYC (Zen 4) that took a
// tenth off lenet72's first layer, of a batch of 1000. It is left out in turn where outputs stay in the second-level
// cache from call to call.

#include <fmt/format.h>
#include <omp.h>

#include "variants/convolution/cpu/cache_lines.hpp"
#include "variants/convolution/cpu/shifted_rows.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

class StreamedOutput {
 public:
  StreamedOutput(const ConvShape& shape, const float* weights, const Configuration& wanted)
      : convolution_(shape, weights, wanted.without("streamed")),
        cached_(cached_stores(shape, omp_get_max_threads())),
        streamed_(convolution_.rows().whole_lines() &&
                  wanted.value("streamed")
                          .value_or(outgrows_caches(shape.output_elements(), omp_get_max_threads()) ? 1 : 0) != 0) {}
  /// The configurations of stage 9, each with "streamed": 1 for yes, 0 for no.
  static Configurations configurations(const ConvShape& shape, const Configuration& wanted, int most) {
    Configurations result = ShiftedRowsConvolution::configurations(shape, wanted.without("streamed"), most);
    const auto complete = [&](const Configuration& division, bool streamed) {
      return division.with(Configuration({{"streamed", streamed && whole_lines(shape, division) ? 1 : 0}}));
    };
    const bool by_model = outgrows_caches(shape.output_elements(), omp_get_max_threads());
    std::vector<Configuration> all = {complete(result.by_model, by_model), complete(result.by_model, !by_model)};
    for (const Configuration& division : result.candidates) all.push_back(complete(division, by_model));
    result.by_model = complete(result.by_model, wanted.value("streamed").value_or(by_model ? 1 : 0) != 0);
    all.insert(all.begin(), result.by_model);
    result.candidates = candidates_of(all, wanted, most);
    if (!wanted.value("streamed") && whole_lines(shape, result.by_model)) ++result.possible;
    result.of_batch.emplace_back("streamed");
    return result;
  }
  static std::string impossible(const ConvShape& shape, const Configuration& wanted) {
    const Configuration division = wanted.without("streamed");
    if (std::string reason = ShiftedRowsConvolution::impossible(shape, division); !reason.empty()) return reason;
    const int streamed = wanted.value("streamed").value_or(0);
    const Configuration complete = ShiftedRowsConvolution::configurations(shape, division, 1).by_model;
    if (streamed == 0 || (streamed == 1 && whole_lines(shape, complete))) return {};
    return fmt::format("streamed={} is not possible for {} with rows={}", streamed, shape_name(shape),
                       *complete.value("rows"));
  }

  void convolve(const float* input, float* output) {
    convolution_.convolve(input, output, streamed_ && floats_to_line(output) == 0 ? TileStores::past_caches : cached_);
  }
  std::string choice() const {
    return convolution_.rows().choice() + stores_text(streamed_ ? TileStores::past_caches : cached_);
  }

 private:
  /// `ShiftedRows::whole_lines` for a complete configuration.
  static bool whole_lines(const ConvShape& shape, const Configuration& division) {
    return *division.value("rows") == shape.out_height() && shape.out_height() * shape.out_width() % kLineFloats == 0;
  }

  ShiftedRowsConvolution convolution_;
  TileStores cached_;  ///< the kind of stores where the output is not streamed
  bool streamed_;
};

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 10,
     .name = "streamed-output",
     .title = "Streamed output",
     .builds_on = "shifted-rows",
     .hypothesis = "Lines that are written whole need not be read first, which saves up to half of the memory traffic; "
                   "others are asked for early."},
    keep_variant(std::make_unique<TunableCpuVariant<StreamedOutput>>(nullptr, shifted_copies_fit))};

}  // namespace
}  // namespace convladder
