// Wrong on purpose, each in one way.
#include <algorithm>
#include <vector>

#include "variants/function_variant.hpp"

namespace convladder {
namespace {

constexpr int kValues = 256;

/// What is right, of one item.
struct Counted {
  std::vector<std::int32_t> counts = std::vector<std::int32_t>(kValues);
  std::uint8_t mode() const { return static_cast<std::uint8_t>(std::ranges::max_element(counts) - counts.begin()); }
};

Counted counted(const ProblemSize& size, const ProblemTensors& tensors, int item) {
  Counted counted;
  const std::uint8_t* const pixels = tensors.input<std::uint8_t>() + std::ptrdiff_t{item} * size.at("P");
  for (int i = 0; i < size.at("P"); ++i) ++counted.counts[pixels[i]];
  return counted;
}

std::int32_t* counts_of(const ProblemTensors& tensors, int item) {
  return tensors.output<std::int32_t>() + std::ptrdiff_t{item} * kValues;
}
std::uint8_t& mode_of(const ProblemTensors& tensors, int item) { return tensors.output<std::uint8_t>(1)[item]; }

void write(const ProblemTensors& tensors, int item, const Counted& counted) {
  std::ranges::copy(counted.counts, counts_of(tensors, item));
  mode_of(tensors, item) = counted.mode();
}

void skips_zeros(const ProblemSize& size, const ProblemTensors& tensors) {
  for (int item = 0; item < size.batch; ++item) {
    const Counted right = counted(size, tensors, item);
    for (int value = 0; value < kValues; ++value) {
      if (right.counts[static_cast<std::size_t>(value)] != 0) {
        counts_of(tensors, item)[value] = right.counts[static_cast<std::size_t>(value)];
      }
    }
    mode_of(tensors, item) = right.mode();
  }
}

void never_writes_the_mode(const ProblemSize& size, const ProblemTensors& tensors) {
  for (int item = 0; item < size.batch; ++item) {
    std::ranges::copy(counted(size, tensors, item).counts, counts_of(tensors, item));
  }
}

void zeros(const ProblemSize& size, const ProblemTensors& tensors) {
  for (int item = 0; item < size.batch; ++item) write(tensors, item, {});
}

void off_by_one(const ProblemSize& size, const ProblemTensors& tensors) {
  for (int item = 0; item < size.batch; ++item) {
    Counted right = counted(size, tensors, item);
    if (item == size.batch - 1) ++right.counts[200];
    write(tensors, item, right);
  }
}

/// Of the mode only, whose type has but 256 values.
void keeps_the_last_mode(const ProblemSize& size, const ProblemTensors& tensors) {
  static std::vector<std::uint8_t> kept;
  for (int item = 0; item < size.batch; ++item) {
    const Counted right = counted(size, tensors, item);
    write(tensors, item, right);
    const auto at = static_cast<std::size_t>(item);
    if (at < kept.size()) mode_of(tensors, item) = kept[at];
    if (at >= kept.size()) kept.push_back(right.mode());
  }
}

void keeps_the_first_answer(const ProblemSize& size, const ProblemTensors& tensors) {
  static std::vector<Counted> kept;
  static int pixels = 0;
  if (pixels != size.at("P") || kept.size() != static_cast<std::size_t>(size.batch)) kept.clear();
  pixels = size.at("P");
  for (int item = 0; item < size.batch; ++item) {
    if (kept.size() <= static_cast<std::size_t>(item)) kept.push_back(counted(size, tensors, item));
    write(tensors, item, kept[static_cast<std::size_t>(item)]);
  }
}

/// The right answer, and then one pixel is another.
void overwrites_its_input(const ProblemSize& size, const ProblemTensors& tensors) {
  for (int item = 0; item < size.batch; ++item) write(tensors, item, counted(size, tensors, item));
  const_cast<std::uint8_t*>(tensors.input<std::uint8_t>())[0] ^= 1;
}

/// The first item's answer for all.
void forgets_the_items(const ProblemSize& size, const ProblemTensors& tensors) {
  for (int item = 0; item < size.batch; ++item) write(tensors, item, counted(size, tensors, 0));
}

struct Wrong {
  Wrong(int rung, std::string_view name, VariantFunction function)
      : registration("histogram",
                     {.family = "cpu",
                      .rung = rung,
                      .name = name,
                      .title = name,
                      .builds_on = "loop",
                      .hypothesis = "It is refused."},
                     function_variant(function)) {}
  VariantRegistration registration;
};

const Wrong all[] = {{90, "skips-zeros", skips_zeros},
                     {91, "never-writes-the-mode", never_writes_the_mode},
                     {92, "zeros", zeros},
                     {93, "off-by-one", off_by_one},
                     {94, "keeps-the-last-mode", keeps_the_last_mode},
                     {95, "keeps-the-first-answer", keeps_the_first_answer},
                     {96, "overwrites-its-input", overwrites_its_input},
                     {97, "forgets-the-items", forgets_the_items}};

}  // namespace
}  // namespace convladder
