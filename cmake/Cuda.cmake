# CUDA is optional: without nvcc the kernels are compiled by clang alone (ClangCuda.cmake) and run on no GPU.

set(CONVLADDER_HAS_CUDA OFF)
if(CONVLADDER_CUDA)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(convladder_nvcc nvcc PATHS /usr/local/cuda/bin)
    if(convladder_nvcc)
      set(CMAKE_CUDA_COMPILER "${convladder_nvcc}")
    endif()
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CONVLADDER_HAS_CUDA ON)
  else()
    message(STATUS "nvcc not found: nothing runs on a GPU")
  endif()
endif()

if(CONVLADDER_HAS_CUDA)
  # Where a GPU is, and in a bundle: machine code for every architecture people still run that this toolkit knows, and PTX
  # of the newest for later ones. Elsewhere PTX of the oldest: a driver compiles it for any GPU that the program meets,
  # and nobody waits for machine code of seven architectures that nothing here runs.
  execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-arch OUTPUT_VARIABLE known_architectures)
  set(wanted_architectures 75 80 86 89 90 100 120)
  set(architectures "")
  foreach(architecture IN LISTS wanted_architectures)
    if(known_architectures MATCHES "compute_${architecture}\n")
      list(APPEND architectures "${architecture}-real")
      set(newest "${architecture}")
    endif()
  endforeach()
  list(APPEND architectures "${newest}-virtual")
  if(NOT CONVLADDER_ALL_CUDA_ARCHITECTURES AND NOT EXISTS /dev/nvidiactl)
    list(GET architectures 0 architectures)
    string(REPLACE "real" "virtual" architectures "${architectures}")
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${architectures}" CACHE STRING "GPU architectures")

  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  # "native", "all" and "all-major" by their numbers; CMake 3.25 knows those of older toolkits only.
  if(CMAKE_CUDA_ARCHITECTURES STREQUAL "native")
    set(CMAKE_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES_NATIVE}")
  elseif(CMAKE_CUDA_ARCHITECTURES MATCHES "^all")
    string(REGEX MATCHALL "[0-9]+" architectures "${known_architectures}")
    if(CMAKE_CUDA_ARCHITECTURES STREQUAL "all-major")
      list(FILTER architectures INCLUDE REGEX "0$")
    endif()
    list(GET architectures -1 newest)
    list(TRANSFORM architectures APPEND "-real")
    set(CMAKE_CUDA_ARCHITECTURES "${architectures}" "${newest}-virtual")
  endif()

  # The oldest of them: GPUs before it are refused, and the PTX that reports are made from is compiled for it.
  string(REGEX MATCHALL "[0-9]+" numbers "${CMAKE_CUDA_ARCHITECTURES}")
  list(SORT numbers COMPARE NATURAL)
  list(GET numbers 0 CONVLADDER_OLDEST_CUDA_ARCHITECTURE)

  # CMake 3.25 does not know that nvcc 12 and later have C++20; this is what 3.26 sets.
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)

  # No -Wpedantic for .cu files: it objects to the line markers and GNU extensions in nvcc's own intermediate files.
  set(warning_flags "-Xcompiler=-Wall,-Wextra")
  if(CONVLADDER_WERROR)
    list(APPEND warning_flags -Werror=all-warnings "-Xcompiler=-Werror")
  endif()
  # Line information lets Nsight Compute show the source beside its counters; it costs no time.
  target_compile_options(convladder_settings INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:${warning_flags};-lineinfo>")
  # Machine code of seven architectures with line information: a third of its size. Drivers that run programs of such a
  # toolkit can read it.
  if(CONVLADDER_ALL_CUDA_ARCHITECTURES AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    target_compile_options(convladder_settings INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>")
  endif()

  # cuda_architectures_from(number RESULT-VARIABLE): those that are compiled for, without the ones before `number`; if
  # none is left, that one alone.
  function(cuda_architectures_from first result)
    set(kept "")
    foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
      string(REGEX MATCH "^[0-9]+" number "${architecture}")
      if(NOT number LESS first)
        list(APPEND kept "${architecture}")
      endif()
    endforeach()
    if(NOT kept)
      set(kept "${first}-virtual")
    endif()
    set(${result} "${kept}" PARENT_SCOPE)
  endfunction()

  include(NvccPtx)
endif()
