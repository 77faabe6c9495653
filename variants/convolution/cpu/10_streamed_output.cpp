// Stage 10: outputs bypass the caches.
//
// A layer with one channel writes far more than it reads, and every line that an ordinary store touches is read from
// memory first. Against stage 9 a register tile goes to memory by streaming stores, which fill whole lines in a buffer
// of the processor and read nothing. What it relieves is the memory's bandwidth, by a third to a half. It is left out
// where it loses: where the last-level cache holds the outputs of a call, so that nothing has to leave; and where a
// map's outputs are no multiple of a line, so that the registers' parts of lines do not fit the memory's. To gather
// whole images in a buffer and to stream them from there, a few lines after each register tile, cost more than it
// relieved: 10 to 48 % of the layer's time, measured in duels with stage 9 on two cores.

#include "variants/convolution/cpu/cache_lines.hpp"
#include "variants/convolution/cpu/shifted_rows.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

class StreamedOutput {
 public:
  StreamedOutput(const ConvShape& shape, const float* weights)
      : convolution_(shape, weights),
        streamed_(outgrows_caches(shape.output_elements()) && convolution_.rows().whole_lines()) {}
  void convolve(const float* input, float* output) {
    convolution_.convolve(input, output, streamed_ && floats_to_line(output) == 0);
  }
  std::string choice() const {
    return convolution_.rows().choice() + (streamed_ ? ", streamed from registers" : ", stored through the caches");
  }

 private:
  ShiftedRowsConvolution convolution_;
  bool streamed_;
};

const VariantRegistration registration{
    {.family = "cpu",
     .rung = 10,
     .name = "streamed-output",
     .title = "Streamed output",
     .builds_on = "shifted-rows",
     .hypothesis =
         "Lines that are written whole need not be read first, which saves up to half of the memory traffic."},
    keep_variant(std::make_unique<PreparingCpuVariant<StreamedOutput>>())};

}  // namespace
}  // namespace convladder
