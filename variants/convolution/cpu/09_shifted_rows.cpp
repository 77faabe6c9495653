// Stage 9: the input copied once for each column of the filter.
//
// In stage 7 a run of outputs goes on over the columns between the end of an output row and the next, which belong to
// no output: 6 of 33 lanes at a filter of 7 and 27 outputs. Here a band's input is copied once for each column of the
// filter, shifted by it and cut to the output's width. Then the inputs of any tap are one line without gaps, as the
// outputs are: no lane is wasted between rows, sums are stored as they are, and a tap is still nothing but an offset.
// The copies are as many as the filter has columns, a seventh of what stage 8 writes down for a filter of 7; they are
// read again for every row of the filter. Known as MEC, Cho and Brand, "MEC: Memory-efficient Convolution for Deep
// Neural Network", ICML 2017, there with a matrix product over the copies.
//
// Where an output row is a register tile or more, and a few columns besides, the tiles' inputs need no copies: they are
// read where they lie. Only the columns left over are copied, and computed as one line for all rows: 2 of 66 of
// lenet72's first layer, whose copies took 5 % of the time.
//
// The register tile is wider where there are few maps, so that it has enough sums. It loses where many channels leave
// the copies of a band no room in the second-level cache, and where a batch is too small to give each core a band.

#include "variants/convolution/cpu/shifted_rows.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

class ShiftedRowsStage {
 public:
  ShiftedRowsStage(const ConvShape& shape, const float* weights, const Configuration& wanted)
      : convolution_(shape, weights, wanted) {}
  static Configurations configurations(const ConvShape& shape, const Configuration& wanted, int most) {
    return ShiftedRowsConvolution::configurations(shape, wanted, most);
  }
  static std::string impossible(const ConvShape& shape, const Configuration& wanted) {
    return ShiftedRowsConvolution::impossible(shape, wanted);
  }
  void convolve(const float* input, float* output) { convolution_.convolve(input, output, TileStores::plain); }
  std::string choice() const { return convolution_.rows().choice(); }

 private:
  ShiftedRowsConvolution convolution_;
};

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 9,
     .name = "shifted-rows",
     .title = "Shifted rows",
     .builds_on = "register-tile",
     .hypothesis =
         "One copy of the input for each filter column where it is needed, so no lane is wasted between output rows."},
    keep_variant(std::make_unique<TunableCpuVariant<ShiftedRowsStage>>(nullptr, shifted_copies_fit))};

}  // namespace
}  // namespace convladder
