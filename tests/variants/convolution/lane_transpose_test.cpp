// Images side by side in the lanes of vectors, and back: every number of pixels, with every instruction set.
#include "variants/convolution/cpu/lane_transpose.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace convladder {
namespace {

constexpr int kMostLanes = 16;
constexpr float kNotWritten = -1;

/// Calls body(instruction set) for those that this processor has.
template <typename Body>
void for_each_set_of_this_processor(const Body& body) {
  for (const char* name : {"avx512", "avx2", "baseline"}) {
    setenv("CONVLADDER_INSTRUCTION_SET", name, 1);
    try {
      const InstructionSet set = chosen_instruction_set();
      SCOPED_TRACE(name);
      body(set);
    } catch (const std::runtime_error&) {  // the processor has no such registers
    }
  }
  unsetenv("CONVLADDER_INSTRUCTION_SET");
}

/// What float i of a run is.
float lane_value(int run, int i) { return static_cast<float>(1000 * run + i); }

struct TransposeSquare {
  template <typename Set>
  static void run(float* const& square) {
    Vector<Set> rows[Set::lanes];
    for (int i = 0; i < Set::lanes; ++i) load_vector(rows[i], square + i * Set::lanes);
    transpose<Set>(rows);
    for (int i = 0; i < Set::lanes; ++i) store_vector(square + i * Set::lanes, rows[i]);
  }
};

struct InterleaveRuns {
  template <typename Set>
  static void run(const std::vector<std::vector<float>>& from, const int& count, float* const& to) {
    const float* runs[Set::lanes];
    for (int lane = 0; lane < Set::lanes; ++lane) runs[lane] = from[static_cast<std::size_t>(lane)].data();
    // Vectors from the last to the first: their place is the caller's choice.
    interleave<Set>(runs, count, [&](int i) { return to + (count - 1 - i) * Set::lanes; });
  }
};

struct DeinterleaveRuns {
  template <typename Set>
  static void run(const float* const& from, const int& count, const std::vector<int>& all_lengths,
                  std::vector<std::vector<float>>* const& to) {
    float* runs[Set::lanes];
    int lengths[Set::lanes];
    for (int lane = 0; lane < Set::lanes; ++lane) {
      const auto index = static_cast<std::size_t>(lane);
      lengths[lane] = all_lengths[index];
      runs[lane] = lengths[lane] == 0 ? nullptr : (*to)[index].data();
    }
    deinterleave<Set>(from, count, runs, lengths);
  }
};

struct StreamRuns {
  template <typename Set>
  static void run(const float* const& from, const int& count, float* const& to, const int& pitch) {
    float* runs[Set::lanes];
    for (int lane = 0; lane < Set::lanes; ++lane) runs[lane] = to + lane * pitch;
    deinterleave_streaming<Set>(from, count, runs);
    finish_streams();
  }
};

TEST(LaneTranspose, ExchangesRowsAndColumns) {
  for_each_set_of_this_processor([](const InstructionSet& set) {
    std::vector<float> square;
    for (int i = 0; i < set.lanes * set.lanes; ++i) square.push_back(lane_value(i / set.lanes, i % set.lanes));
    run_with<TransposeSquare>(set.kind, square.data());
    for (int i = 0; i < set.lanes * set.lanes; ++i) {
      ASSERT_EQ(square[static_cast<std::size_t>(i)], lane_value(i % set.lanes, i / set.lanes)) << i;
    }
  });
}

TEST(LaneTranspose, PutsRunsOfAnyLengthSideBySide) {
  for_each_set_of_this_processor([](const InstructionSet& set) {
    for (int count = 0; count <= 3 * kMostLanes + 1; ++count) {
      // Runs end where they may be read: the sanitizer sees whoever reads on.
      std::vector<std::vector<float>> runs;
      for (int run = 0; run < set.lanes; ++run) {
        std::vector<float>& floats = runs.emplace_back();
        for (int i = 0; i < count; ++i) floats.push_back(lane_value(run, i));
        floats.shrink_to_fit();
      }
      std::vector<float> vectors(static_cast<std::size_t>(count * set.lanes), kNotWritten);
      run_with<InterleaveRuns>(set.kind, runs, count, vectors.data());
      for (int i = 0; i < count * set.lanes; ++i) {
        ASSERT_EQ(vectors[static_cast<std::size_t>(i)], lane_value(i % set.lanes, count - 1 - i / set.lanes)) << count;
      }
    }
  });
}

TEST(LaneTranspose, WritesBackAsMuchAsEachRunTakes) {
  for_each_set_of_this_processor([](const InstructionSet& set) {
    for (int count = 1; count <= 3 * kMostLanes + 1; ++count) {
      std::vector<float> vectors;
      for (int i = 0; i < count * set.lanes; ++i) vectors.push_back(lane_value(i % set.lanes, i / set.lanes));
      for (const int shorter : {0, 1, 5, count}) {  // every third run takes so many floats less, every fourth none
        std::vector<int> lengths;
        for (int run = 0; run < set.lanes; ++run) {
          lengths.push_back(run % 4 == 3 && shorter > 0 ? 0 : run % 3 == 2 ? std::max(0, count - shorter) : count);
        }
        std::vector<std::vector<float>> runs(static_cast<std::size_t>(set.lanes),
                                             std::vector<float>(static_cast<std::size_t>(count), kNotWritten));
        run_with<DeinterleaveRuns>(set.kind, vectors.data(), count, lengths, &runs);
        for (int run = 0; run < set.lanes; ++run) {
          const auto index = static_cast<std::size_t>(run);
          for (int i = 0; i < count; ++i) {
            const float expected = i < lengths[index] ? lane_value(run, i) : kNotWritten;
            ASSERT_EQ(runs[index][static_cast<std::size_t>(i)], expected) << run << " " << i << " of " << count;
          }
        }
      }
    }
  });
}

// From any place in a line on, ends in lines that others write as well.
TEST(LaneTranspose, WritesBackPastTheCaches) {
  const InstructionSet set = chosen_instruction_set();
  if (set.lanes != kLineFloats) GTEST_SKIP() << "a vector is no line of a cache";
  constexpr int kPitch = 8 * kLineFloats;
  for (int place = 0; place < kLineFloats; ++place) {
    for (const int count : {1, 7, 15, 16, 17, 31, 32, 33, 50, 96}) {
      std::vector<float> vectors;
      for (int i = 0; i < count * set.lanes; ++i) vectors.push_back(lane_value(i % set.lanes, i / set.lanes));
      AlignedFloats runs(std::int64_t{set.lanes} * kPitch);
      std::fill_n(runs.data(), set.lanes * kPitch, kNotWritten);
      run_with<StreamRuns>(set.kind, static_cast<const float*>(vectors.data()), count, runs.data() + place, kPitch);
      for (int i = 0; i < set.lanes * kPitch; ++i) {
        const int of_run = i % kPitch - place;
        const float expected = of_run >= 0 && of_run < count ? lane_value(i / kPitch, of_run) : kNotWritten;
        ASSERT_EQ(runs.data()[i], expected) << i << ": " << count << " floats from place " << place << " on";
      }
    }
  }
}

}  // namespace
}  // namespace convladder
