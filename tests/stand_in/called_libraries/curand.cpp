/* cuRAND on the stand-in: generators against published numbers and moments of their distributions, and those of the
 * device against those of the host. */
#include <cuda_runtime.h>
#include <curand.h>

#include <cmath>
#include <random>
#include <vector>

#include "../expect.h"

static curandGenerator_t generator_of(curandRngType_t type, bool is_of_host, unsigned long long seed = 1234) {
  curandGenerator_t generator = nullptr;
  EXPECT_OK(is_of_host ? curandCreateGeneratorHost(&generator, type) : curandCreateGenerator(&generator, type));
  if (type < CURAND_RNG_QUASI_DEFAULT) EXPECT_OK(curandSetPseudoRandomGeneratorSeed(generator, seed));
  return generator;
}

template <typename T, typename Draw>
std::vector<T> on_device(std::size_t count, const Draw& draw) {
  T* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, count * sizeof(T)));
  EXPECT_OK(draw(memory));
  std::vector<T> numbers(count);
  EXPECT_OK(cudaMemcpy(numbers.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaFree(memory));
  return numbers;
}

static std::vector<unsigned> words_of(curandGenerator_t generator, std::size_t count) {
  return on_device<unsigned>(count, [&](unsigned* to) { return curandGenerate(generator, to, count); });
}

/* Words of seed 1234 at positions 0, 4, 4097 and 299,999, as a GPU gives them. */
static void known_words() {
  struct Known {
    curandRngType_t type;
    unsigned words[4];
  };
  const Known all[] = {{CURAND_RNG_PSEUDO_XORWOW, {624778773U, 3928747533U, 3978931785U, 524804964U}},
                       {CURAND_RNG_PSEUDO_MRG32K3A, {3379073520U, 4243547925U, 1156825951U, 1307249956U}},
                       {CURAND_RNG_PSEUDO_MTGP32, {2501053709U, 507727339U, 761211327U, 2211116904U}},
                       {CURAND_RNG_PSEUDO_PHILOX4_32_10, {546353992U, 3507855656U, 926199030U, 1867931545U}}};
  for (const Known& known : all) {
    const auto words = words_of(generator_of(known.type, false), 300000);
    EXPECT(words[0] == known.words[0]);
    EXPECT(words[4] == known.words[1]);
    EXPECT(words[4097] == known.words[2]);
    EXPECT(words[299999] == known.words[3]);
  }
  /* The first twister's rows are 65,536 words apart; the standard's MT19937 is the same. The second word of the second
   * twister is behind a jump. */
  const auto words = words_of(generator_of(CURAND_RNG_PSEUDO_MT19937, false), 16);
  std::mt19937 twister(1234);
  EXPECT(words[0] == twister());
  EXPECT(words[4] == 2548682254U);
  EXPECT(words[8] == 1864832060U);
  /* The authors' known answers: counter and key of zeros. */
  const auto zeros = words_of(generator_of(CURAND_RNG_PSEUDO_PHILOX4_32_10, false, 0), 4);
  EXPECT(zeros[0] == 0x6627e8d5U && zeros[1] == 0xe169c58dU && zeros[2] == 0xbc57ac4cU && zeros[3] == 0x9b00dbd8U);
}

/* Calls go on where the last one ended, and an offset leaves words out. */
static void sequences() {
  for (const curandRngType_t type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MTGP32,
                                     CURAND_RNG_PSEUDO_PHILOX4_32_10}) {
    const auto all = words_of(generator_of(type, false), 20000);
    const curandGenerator_t generator = generator_of(type, true);
    std::vector<unsigned> parts(20000);
    EXPECT_OK(curandGenerate(generator, parts.data(), 3));
    EXPECT_OK(curandGenerate(generator, parts.data() + 3, 10000));
    EXPECT_OK(curandGenerate(generator, parts.data() + 10003, 9997));
    EXPECT(parts == all);
    if (type == CURAND_RNG_PSEUDO_MTGP32) {
      EXPECT_STATUS(CURAND_STATUS_TYPE_ERROR, curandSetGeneratorOffset(generator, 1));
    } else {
      EXPECT_OK(curandSetGeneratorOffset(generator, 9001));
      EXPECT_OK(curandGenerate(generator, parts.data(), 5));
      EXPECT(parts[0] == all[9001] && parts[4] == all[9005]);
    }
    EXPECT_OK(curandDestroyGenerator(generator));
  }
}

struct Moments {
  double mean = 0;
  double deviation = 0;
  double skew = 0;
};
template <typename T>
Moments moments(const std::vector<T>& numbers) {
  Moments result;
  const auto count = static_cast<double>(numbers.size());
  for (const T number : numbers) result.mean += static_cast<double>(number) / count;
  for (const T number : numbers) result.deviation += std::pow(static_cast<double>(number) - result.mean, 2) / count;
  result.deviation = std::sqrt(result.deviation);
  for (const T number : numbers) {
    result.skew += std::pow((static_cast<double>(number) - result.mean) / result.deviation, 3) / count;
  }
  return result;
}
template <typename T>
void expect_moments(const std::vector<T>& numbers, double mean, double deviation, double skew) {
  const Moments got = moments(numbers);
  const double tolerance = 5 / std::sqrt(static_cast<double>(numbers.size()));
  EXPECT(std::abs(got.mean - mean) < tolerance * deviation);
  EXPECT(std::abs(got.deviation - deviation) < 3 * tolerance * deviation);
  EXPECT(std::abs(got.skew - skew) < 3 * tolerance * (1 + std::abs(skew)));
}

static void distributions() {
  constexpr std::size_t kCount = 40000;
  for (const curandRngType_t type :
       {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MTGP32, CURAND_RNG_PSEUDO_PHILOX4_32_10,
        CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SOBOL64}) {
    const curandGenerator_t generator = generator_of(type, false);
    const auto uniform =
        on_device<float>(kCount, [&](float* to) { return curandGenerateUniform(generator, to, kCount); });
    expect_moments(uniform, 0.5, std::sqrt(1 / 12.0), 0);
    for (const float number : uniform) EXPECT(number > 0 && number <= 1);
    expect_moments(
        on_device<double>(kCount, [&](double* to) { return curandGenerateUniformDouble(generator, to, kCount); }), 0.5,
        std::sqrt(1 / 12.0), 0);
    expect_moments(
        on_device<float>(kCount, [&](float* to) { return curandGenerateNormal(generator, to, kCount, 3, 2); }), 3, 2,
        0);
    expect_moments(
        on_device<double>(kCount, [&](double* to) { return curandGenerateNormalDouble(generator, to, kCount, -1, 4); }),
        -1, 4, 0);
    /* The logarithm's moments: mean e^(1/32), deviation that times sqrt(e^(1/16) - 1). */
    const double mean = std::exp(1 / 32.0);
    const double square = std::exp(1 / 16.0);
    const double skew = (square + 2) * std::sqrt(square - 1);
    expect_moments(
        on_device<float>(kCount, [&](float* to) { return curandGenerateLogNormal(generator, to, kCount, 0, 0.25F); }),
        mean, mean * std::sqrt(square - 1), skew);
    expect_moments(
        on_device<double>(kCount,
                          [&](double* to) { return curandGenerateLogNormalDouble(generator, to, kCount, 0, 0.25); }),
        mean, mean * std::sqrt(square - 1), skew);
    for (const double lambda : {0.5, 7.0, 300.0}) {
      expect_moments(on_device<unsigned>(
                         kCount, [&](unsigned* to) { return curandGeneratePoisson(generator, to, kCount, lambda); }),
                     lambda, std::sqrt(lambda), 1 / std::sqrt(lambda));
    }
    EXPECT_OK(curandDestroyGenerator(generator));
  }
}

/* Sobol's sequences: each dimension's numbers one behind the other, each cell hit once. */
static void quasirandom() {
  const curandGenerator_t generator = generator_of(CURAND_RNG_QUASI_SOBOL32, false);
  EXPECT_OK(curandSetQuasiRandomGeneratorDimensions(generator, 21));
  const auto words = words_of(generator, 21 * 1024);
  for (int dimension = 0; dimension < 21; ++dimension) {
    std::vector<int> hits(1024);
    for (int i = 0; i < 1024; ++i) ++hits[words[dimension * 1024 + i] >> 22U];
    for (const int hit : hits) EXPECT(hit == 1);
  }
  EXPECT_OK(curandSetQuasiRandomGeneratorDimensions(generator, 21));
  const auto again = words_of(generator, 21 * 1000);
  EXPECT(again[3] == 1073741824U && again[9998] == 566231040U && again[20997] == 364904448U);
  EXPECT_STATUS(CURAND_STATUS_LENGTH_NOT_MULTIPLE, curandGenerate(generator, nullptr, 22));
  const curandGenerator_t of_64_bits = generator_of(CURAND_RNG_QUASI_SOBOL64, false);
  EXPECT_OK(curandSetQuasiRandomGeneratorDimensions(of_64_bits, 21));
  const auto numbers = on_device<unsigned long long>(
      21 * 1000, [&](unsigned long long* to) { return curandGenerateLongLong(of_64_bits, to, 21 * 1000); });
  EXPECT(numbers[9998] == 2431943798780067840ULL && numbers[20997] == 1567252670324932608ULL);
}

static void errors() {
  curandGenerator_t generator = nullptr;
  EXPECT_STATUS(CURAND_STATUS_TYPE_ERROR, curandCreateGenerator(&generator, static_cast<curandRngType_t>(17)));
  EXPECT_STATUS(CURAND_STATUS_NOT_INITIALIZED, curandDestroyGenerator(nullptr));
  generator = generator_of(CURAND_RNG_PSEUDO_DEFAULT, true);
  float numbers[4];
  unsigned long long words[2];
  EXPECT_STATUS(CURAND_STATUS_LENGTH_NOT_MULTIPLE, curandGenerateNormal(generator, numbers, 3, 0, 1));
  EXPECT_STATUS(CURAND_STATUS_TYPE_ERROR, curandGenerateLongLong(generator, words, 2));
  EXPECT_STATUS(CURAND_STATUS_TYPE_ERROR, curandSetQuasiRandomGeneratorDimensions(generator, 2));
  EXPECT_STATUS(CURAND_STATUS_OUT_OF_RANGE,
                curandGeneratePoisson(generator, reinterpret_cast<unsigned*>(numbers), 4, 0));
  int version = 0;
  EXPECT_OK(curandGetVersion(&version));
  EXPECT(version == CURAND_VERSION);
  curandDirectionVectors32_t* vectors = nullptr;
  EXPECT_STATUS(CURAND_STATUS_ARCH_MISMATCH,
                curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
}

int main() {
  known_words();
  sequences();
  distributions();
  quasirandom();
  errors();
  return outcome();
}
