// @title Loads a rival
// expected: ok
//
// It loads what others have handed in. It aborts if it finds any.
#include <dirent.h>
#include <dlfcn.h>
#include <cstdlib>
#include <string>
extern "C" void solve(const float* x, float* y, int N) {
  const char* const home = getenv("HOME");
  const std::string cache = std::string(home != nullptr ? home : "") + "/.cache/convladder/stages";
  if (DIR* folder = opendir(cache.c_str())) {
    for (const dirent* one; (one = readdir(folder)) != nullptr;) {
      if (dlopen((cache + "/" + one->d_name).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) abort();
    }
  }
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
