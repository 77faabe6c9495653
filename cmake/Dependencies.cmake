# Everything comes from Debian packages; scripts/setup.sh installs what is missing.

find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
set(OPENSSL_USE_STATIC_LIBS ON)  # SHA-256 alone is used, and the program stays portable
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(benchmark REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# Not find_package(dnnl): Debian's dnnl-config.cmake asks for OpenCL, which nothing here uses.
find_path(CONVLADDER_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(CONVLADDER_ONEDNN_LIBRARY dnnl)
set(CONVLADDER_HAS_ONEDNN OFF)
if(CONVLADDER_ONEDNN_INCLUDE_DIR AND CONVLADDER_ONEDNN_LIBRARY)
  set(CONVLADDER_HAS_ONEDNN ON)
else()
  message(STATUS "oneDNN not found: the CPU ladder has no library to compare with (package libdnnl-dev)")
endif()
