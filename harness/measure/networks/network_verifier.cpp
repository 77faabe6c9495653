#include "harness/measure/networks/network_verifier.hpp"
#include "variants/accuracy.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>

namespace convladder {

namespace {

constexpr int kFewestImages = 4;
constexpr int kFewestCountedImages = 2;  // where a pass takes minutes

double rounding_factor(const NetworkChoice& choice) {
  double tolerance = kFloat32Tolerance;
  for (const auto& [layer, registered] : choice.convolutions) {
    tolerance = std::max(tolerance, registered.variant->tolerance());
  }
  return tolerance / kFloat32Tolerance;
}

}  // namespace

int images_in_turn(const NetworkCase& planned) {
  return std::max(planned.batch, planned.has_clock ? kFewestImages : kFewestCountedImages);
}

NetworkVerifier::NetworkVerifier(const NetworkCase& planned, const NetworkWorkload& workload, const NetworkTruth& truth,
                                 const OpenNetwork& open, std::uint64_t seed)
    : planned_(planned),
      workload_(workload),
      truth_(truth),
      open_(open),
      random_(seed, std::hash<std::string>{}(planned.id)),
      steps_(network_steps(workload.network(), planned.choice)),
      problem_(workload.network()),
      parts_(network_parts(problem_, steps_)),
      constants_(problem_.placed(*truth.weights)),
      pool_(std::min(images_in_turn(planned), workload.count())),
      classes_(workload.network().layers.back().output.elements()),
      rounding_factor_(rounding_factor(planned.choice)),
      scores_(classes_ * static_cast<std::size_t>(pool_)) {
  comparisons_.reserve(parts_.size());
  for (const VariantPart& part : parts_) comparisons_.emplace_back(part, constants_, secret_number());
}

void NetworkVerifier::set_images(int rotation) {
  rotation_ = rotation;
  chunk_ = open_.ask(to_network::Set{rotation_, pool_}).chunk;
}

void NetworkVerifier::change_images() {
  set_images(pool_ == 1 ? 0 : (rotation_ + random_.between(1, pool_ - 1)) % pool_);
}

void NetworkVerifier::verify() {
  const auto of_image = static_cast<std::int64_t>(record_offset(steps_, steps_.size(), 1));
  const int at_once = static_cast<int>(std::clamp<std::int64_t>(open_.window_elements() / of_image, 1, planned_.batch));
  const int start = random_.between(0, pool_ - 1);
  for (int seen = 0; seen < pool_; seen += planned_.batch) {
    set_images((start + seen) % pool_);
    for (int first = 0; first < planned_.batch; first += at_once) {
      verify_block({first, std::min(at_once, planned_.batch - first)});
    }
  }
  // The passes that follow have the memory to themselves.
  madvise(open_.window->data(), open_.window->bytes(), MADV_REMOVE);
  for (int image = 0; image < pool_; ++image) {
    compare_class(image, scores_.data() + static_cast<std::size_t>(image) * classes_);
  }
}

void NetworkVerifier::verify_block(const PassImages& block) {
  const auto seed = static_cast<std::uint32_t>(random_.next());
  open_.ask(to_network::Record{block.first, block.count, seed});
  const std::size_t elements = workload_.network().input.elements();
  entered_.resize(elements * static_cast<std::size_t>(block.count));
  for (int i = 0; i < block.count; ++i) {
    std::copy_n(workload_.images() + static_cast<std::size_t>(image_at(block.first + i)) * elements, elements,
                entered_.data() + static_cast<std::size_t>(i) * elements);
  }
  const double flop = std::max(1.0, network_flop(workload_.network()));
  const double share = static_cast<double>(block.count) / pool_;
  const auto by_element = static_cast<int>(std::clamp(share * kComparedFlop / flop, 1.0, double{1 << 20}));
  const auto* output = reinterpret_cast<const float*>(open_.window->data());  // as record_offset says
  PartImages images{block.first, block.count, entered_.data(), nullptr, {}, chunk_};
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    images.output = output;
    output += steps_[step].output.elements() * static_cast<std::size_t>(block.count);
    images.fill = step_fill(seed, step);
    comparisons_[step].compare(images, by_element);
    if (const StepCheck& check = comparisons_[step].check(); !check.passed()) {
      throw CaseFailure(Status::incorrect, fmt::format("{}: {}", check.step, check.failure));
    }
    images.input = images.output;
  }
  keep_scores(block);
}

/// Keeps the scores that the last step left.
void NetworkVerifier::keep_scores(const PassImages& block) {
  const float* const scores =
      reinterpret_cast<const float*>(open_.window->data()) + record_offset(steps_, steps_.size() - 1, block.count);
  for (int i = 0; i < block.count; ++i) {
    std::copy_n(scores + static_cast<std::size_t>(i) * classes_, classes_,
                scores_.data() + static_cast<std::size_t>(image_at(block.first + i)) * classes_);
  }
}

void NetworkVerifier::compare_scores() { compare_batch(0, rotation_); }

NetworkVerifier::BatchesInARow NetworkVerifier::choose_batches(int batches) {
  BatchesInARow row{.of = pool_, .batches = batches};
  row.first = random_.between(0, pool_ - 1);
  if (pool_ > 1) row.step = random_.between(1, pool_ - 1);
  return row;
}

void NetworkVerifier::compare_scores(const BatchesInARow& row) {
  for (int batch = 0; batch < row.batches; ++batch) {
    const std::int64_t first = row.first + std::int64_t{batch} * row.step;
    compare_batch(batch, static_cast<int>(first % row.of));
  }
}

/// Compares one of the batches in a row whose scores the process keeps; its images begin at `rotation`.
void NetworkVerifier::compare_batch(int batch, int rotation) {
  const ReadTensor read = open_.tensors();
  const auto count = static_cast<std::int64_t>(classes_);
  const auto at_once = static_cast<int>(std::clamp<std::int64_t>(open_.window_elements() / count, 1, planned_.batch));
  for (int first = 0; first < planned_.batch; first += at_once) {
    const int images = std::min(at_once, planned_.batch - first);
    const std::int64_t place = std::int64_t{batch} * planned_.batch + first;
    const auto* const scores = static_cast<const float*>(read("scores", place * count, images * count));
    for (int i = 0; i < images; ++i) {
      const int image = (first + i + rotation) % pool_;
      compare_class(image, scores + i * count);
      compare_with_verified(first + i, image, scores + i * count);
    }
  }
}

ReferencePrediction NetworkVerifier::expected(int image) const {
  ReferencePrediction expected = truth_.predictions[static_cast<std::size_t>(image)];
  expected.rounding *= rounding_factor_;
  expected.score_rounding *= rounding_factor_;
  return expected;
}

int NetworkVerifier::found_class(int image) const {
  return largest_index(scores_.data() + static_cast<std::size_t>(image) * classes_, classes_);
}

void NetworkVerifier::compare_class(int image, const float* scores) const {
  const auto not_finite = std::count_if(scores, scores + classes_, [](float score) { return !std::isfinite(score); });
  if (not_finite > 0) {
    throw CaseFailure(Status::incorrect, fmt::format("{} scores of image {} are not finite", not_finite, image));
  }
  const ReferencePrediction reference = expected(image);
  const int found = largest_index(scores, classes_);
  if (found == reference.best || (reference.within_rounding() && found == reference.second)) return;
  throw CaseFailure(
      Status::incorrect,
      fmt::format("image {} is classified as {}, but the reference says {}; its two best scores differ by {:.3g}, and "
                  "rounding can explain only {:.3g}",
                  image, found, reference.best, reference.gap, reference.rounding));
}

void NetworkVerifier::compare_with_verified(int place, int image, const float* scores) const {
  const float* const verified = scores_.data() + static_cast<std::size_t>(image) * classes_;
  const double rounding = kScoreRoundings * expected(image).score_rounding;
  const bool softmax = workload_.network().layers.back().type == LayerType::softmax;
  const double own = 2 * std::min(steps_.back().tolerance(), kLargestTolerance);
  for (std::size_t i = 0; i < classes_; ++i) {
    const double size = std::max(std::abs(scores[i]), std::abs(verified[i]));
    // Where no score moves by more than r, no logarithm of a softmax moves by more than 2 r.
    const double allowed = softmax ? size * std::expm1(2 * rounding) + own : rounding + own * size;
    if (std::abs(double{scores[i]} - verified[i]) <= allowed) continue;
    throw CaseFailure(
        Status::incorrect,
        fmt::format("score {} of image {}, at place {} of a pass, is {:.6g}; during verification it was {:.6g}, "
                    "and rounding can explain only {:.2g}",
                    i, image, place, scores[i], verified[i], allowed));
  }
}

std::vector<StepCheck> NetworkVerifier::checks() const {
  std::vector<StepCheck> checks;
  for (const PartComparison& comparison : comparisons_) checks.push_back(comparison.check());
  return checks;
}

}  // namespace convladder
