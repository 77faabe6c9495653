#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstdio>

int main() {
  thrust::host_vector<int> numbers(2000);
  unsigned state = 1;
  for (int& one : numbers) {
    state = state * 1103515245u + 12345u;
    one = static_cast<int>(state >> 8);
  }
  thrust::device_vector<int> on_device = numbers;
  thrust::sort(on_device.begin(), on_device.end());
  thrust::host_vector<int> sorted = on_device;
  std::sort(numbers.begin(), numbers.end());
  std::puts(sorted == numbers ? "sorted" : "not sorted");
  return 0;
}
