# clang as a compiler of the CUDA kernels, without the CUDA toolkit: a second one beside nvcc, and the only one where nvcc
# is missing. Its PTX is executed by the simulated device; no machine code is made.
#
# CONVLADDER_HAS_CLANG_CUDA: clang compiles the kernels. CONVLADDER_CLANG_CUDA_VERSION: "14.0.6".
# CONVLADDER_HAS_CUDA_FAMILY: the CUDA variants are in the build, whoever compiled them.

set(CONVLADDER_HAS_CLANG_CUDA OFF)
set(CONVLADDER_CLANG_CUDA_VERSION "")
if(CONVLADDER_CLANG_CUDA AND NOT CONVLADDER_FUZZ)
  find_program(CONVLADDER_CLANG NAMES clang++ clang++-14)
  if(CONVLADDER_CLANG)
    execute_process(COMMAND "${CONVLADDER_CLANG}" -dumpversion OUTPUT_VARIABLE CONVLADDER_CLANG_CUDA_VERSION
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND "${CONVLADDER_CLANG}" -print-targets OUTPUT_VARIABLE targets ERROR_QUIET)
    if(CONVLADDER_CLANG_CUDA_VERSION VERSION_LESS 14)
      message(STATUS "clang ${CONVLADDER_CLANG_CUDA_VERSION} is older than 14, so it cannot compile the kernels")
    elseif(NOT targets MATCHES "nvptx64")
      message(STATUS "clang ${CONVLADDER_CLANG_CUDA_VERSION} has no PTX target, so it cannot compile the kernels")
    else()
      set(CONVLADDER_HAS_CLANG_CUDA ON)
    endif()
  endif()
endif()

set(CONVLADDER_HAS_CUDA_FAMILY OFF)
if(CONVLADDER_HAS_CUDA OR CONVLADDER_HAS_CLANG_CUDA)
  set(CONVLADDER_HAS_CUDA_FAMILY ON)
else()
  message(STATUS "neither nvcc nor clang compiles the kernels: the cuda family is left out")
endif()

# The kernels' source is CUDA; what nvcc would declare for it comes from a header of our own, and no path leads to a toolkit
# that may be there, so that clang does the same on every machine.
set(convladder_clang_cuda_flags
  -x cuda --cuda-path=/nonexistent -nocudainc -nocudalib -std=c++20 -Wall -Wextra "-I${PROJECT_SOURCE_DIR}"
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/="
  -include "${PROJECT_SOURCE_DIR}/devices/cuda_without_toolkit/cuda_language.hpp")
if(CONVLADDER_WERROR)
  list(APPEND convladder_clang_cuda_flags -Werror)
endif()

# clang_compile_kernels(KIND file.cu RESULT-VARIABLE architecture flag...): a custom command that makes a file below
# clang_KIND/, where the source lies below the current folder.
function(clang_compile_kernels kind source result architecture)
  get_filename_component(name "${source}" NAME_WE)
  source_folder("${source}" place)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/clang_${kind}/${place}")
  file(MAKE_DIRECTORY "${folder}")
  set(output "${folder}/${name}.${kind}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CONVLADDER_CLANG}" ${convladder_clang_cuda_flags} "--cuda-gpu-arch=sm_${architecture}" ${ARGN} -S -MD -MF "${output}.d" -MT "${output}"
            -o "${output}" "${source}"
    DEPENDS "${source}" "${PROJECT_SOURCE_DIR}/devices/cuda_without_toolkit/cuda_language.hpp"
    DEPFILE "${output}.d"
    COMMENT "Compiling ${name} to ${kind} with clang"
    VERBATIM)
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

# embed_clang_ptx(target name architecture file.cu...): embeds their PTX in the target, a file per .cu, for ptx_images()
# (devices/ptx_images.hpp). PTX 7.0 for sm_70 or sm_80 is the newest in which clang 14 knows every instruction that it
# can make.
function(embed_clang_ptx target name architecture)
  set(images "")
  foreach(source IN LISTS ARGN)
    clang_compile_kernels(ptx "${source}" image "${architecture}"
      --cuda-device-only -O3 -gline-tables-only -Xclang -target-feature -Xclang +ptx70)
    list(APPEND images "${image}")
  endforeach()
  embed_files(TARGET ${target} NAME ${name}_clang_ptx FILES ${images} INCLUDE devices/ptx_images.hpp REGISTRATION
    "PtxImagesRegistration{\"clang\", \"${CONVLADDER_CLANG_CUDA_VERSION}\", embedded_${name}_clang_ptx}")
endfunction()

# clang_host_code(RESULT-VARIABLE architecture file.cu...): the host's side of .cu files, as assembly sources for any target: launch
# plans, registrations, and a call for each kernel that tells the runtime its name. clang makes these calls only if there
# is a GPU binary to register; an empty one does, because nothing loads it.
function(clang_host_code result architecture)
  set(sources "")
  foreach(source IN LISTS ARGN)
    clang_compile_kernels(s "${source}" assembly "${architecture}"
      --cuda-host-only -O2 -fPIE -Xclang -fcuda-include-gpubinary -Xclang /dev/null -Xclang -target-sdk-version=11.0)
    list(APPEND sources "${assembly}")
  endforeach()
  # The assembler has no use for the definitions and dependency files that every source of a target gets.
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "-Wno-unused-command-line-argument")
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

if(CONVLADDER_HAS_CLANG_CUDA AND NOT CONVLADDER_HAS_CUDA)
  set(CMAKE_ASM_COMPILER "${CONVLADDER_CLANG}")  # what clang wrote, clang reads
  # CMake 3.25 takes its ways with precompiled headers for those of C++ as well.
  set(extension "${CMAKE_PCH_EXTENSION}")
  set(prologue "${CMAKE_PCH_PROLOGUE}")
  enable_language(ASM)
  set(CMAKE_PCH_EXTENSION "${extension}")
  set(CMAKE_PCH_PROLOGUE "${prologue}")
endif()
