# embed_ptxas_reports(target oldest_architecture file.cu...)
# Compiles every .cu file to PTX, has ptxas assemble that for a few architectures and embeds what it reports of registers,
# shared memory and spills, a file per .cu, for kernel_resources() (devices/kernel_resources.hpp). No GPU takes part.
# The PTX is embedded as well, for ptx_images() (devices/ptx_images.hpp).
#
# The PTX is that of the oldest architecture that the kernels run on for all of them, because it is compiled anyway; the program's machine code
# comes from the PTX of its own architecture, where a register or two can differ.

find_program(CONVLADDER_PTXAS ptxas HINTS "${CUDAToolkit_BIN_DIR}" REQUIRED)

set(CONVLADDER_REPORT_ARCHITECTURES "")
foreach(architecture 75 80 90)
  if(known_architectures MATCHES "compute_${architecture}\n" AND
     NOT architecture LESS CONVLADDER_OLDEST_CUDA_ARCHITECTURE)
    list(APPEND CONVLADDER_REPORT_ARCHITECTURES "sm_${architecture}")
  endif()
endforeach()

function(embed_ptxas_reports target oldest_architecture)
  set(report_architectures "")
  foreach(architecture IN LISTS CONVLADDER_REPORT_ARCHITECTURES)
    string(REPLACE "sm_" "" number "${architecture}")
    if(NOT number LESS oldest_architecture)
      list(APPEND report_architectures "${architecture}")
    endif()
  endforeach()
  set(reports "")
  set(images "")
  set(compiler "${CMAKE_CUDA_COMPILER}" -std=c++${CMAKE_CUDA_STANDARD} -lineinfo "-I${PROJECT_SOURCE_DIR}"
               "-arch=compute_${oldest_architecture}")
  if(CMAKE_CUDA_HOST_COMPILER)
    list(APPEND compiler "-ccbin=${CMAKE_CUDA_HOST_COMPILER}")
  endif()
  foreach(source IN LISTS ARGN)
    get_filename_component(name "${source}" NAME_WE)
    source_folder("${source}" place)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/ptx/${place}")
    set(ptx "${folder}/${name}.ptx")
    set(report "${folder}/${name}.txt")
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(
      OUTPUT "${ptx}"
      COMMAND ${compiler} -ptx -MD -MF "${ptx}.d" -MT "${ptx}" -o "${ptx}" "${source}"
      DEPENDS "${source}"
      DEPFILE "${ptx}.d"
      COMMENT "Compiling ${name} to PTX"
      VERBATIM)
    add_custom_command(
      OUTPUT "${report}"
      COMMAND "${CMAKE_COMMAND}" "-DPTXAS=${CONVLADDER_PTXAS}" "-DPTX=${ptx}" "-DOUTPUT=${report}"
              "-DARCHITECTURES=${report_architectures}"
              -P "${PROJECT_SOURCE_DIR}/cmake/ptxas_report_script.cmake"
      DEPENDS "${ptx}" "${PROJECT_SOURCE_DIR}/cmake/ptxas_report_script.cmake"
      COMMENT "Assembling ${name} for its report"
      VERBATIM)
    list(APPEND reports "${report}")
    list(APPEND images "${ptx}")
  endforeach()
  embed_files(TARGET ${target} NAME ${target}_ptxas_reports FILES ${reports} INCLUDE devices/cuda/ptxas_resources.hpp
    REGISTRATION "PtxasReportsRegistration{embedded_${target}_ptxas_reports}")
  embed_files(TARGET ${target} NAME ${target}_nvcc_ptx FILES ${images} INCLUDE devices/ptx_images.hpp REGISTRATION
    "PtxImagesRegistration{\"nvcc\", \"${CMAKE_CUDA_COMPILER_VERSION}\", embedded_${target}_nvcc_ptx}")
endfunction()
