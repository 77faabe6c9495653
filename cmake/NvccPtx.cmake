# embed_nvcc_ptx(target library oldest_architecture file.cu...)
# What nvcc makes of the .cu files of `target`, embedded by an OBJECT library of its own: their PTX for ptx_images()
# (devices/ptx_images.hpp), and what ptxas reports of its registers, shared memory and spills, assembled for a few
# architectures, for kernel_resources() (devices/kernel_resources.hpp). A file per .cu each; no GPU takes part.
#
# nvcc writes the PTX when it makes the object and would delete it; here it keeps it. It is that of the oldest
# architecture that the kernels run on; the program's machine code comes from the PTX of its own architecture, where a
# register or two can differ.
#
# A library of its own because what is embedded is made from the target's own objects, and a target cannot wait for
# itself.

find_program(CONVLADDER_PTXAS ptxas HINTS "${CUDAToolkit_BIN_DIR}" REQUIRED)

set(CONVLADDER_REPORT_ARCHITECTURES "")
foreach(architecture 75 80 90)
  if(known_architectures MATCHES "compute_${architecture}\n" AND
     NOT architecture LESS CONVLADDER_OLDEST_CUDA_ARCHITECTURE)
    list(APPEND CONVLADDER_REPORT_ARCHITECTURES "sm_${architecture}")
  endif()
endforeach()

function(embed_nvcc_ptx target library oldest_architecture)
  set(report_architectures "")
  foreach(architecture IN LISTS CONVLADDER_REPORT_ARCHITECTURES)
    string(REPLACE "sm_" "" number "${architecture}")
    if(NOT number LESS oldest_architecture)
      list(APPEND report_architectures "${architecture}")
    endif()
  endforeach()

  # nvcc names the architecture in the names of what it keeps where it compiles for several.
  get_target_property(architectures ${target} CUDA_ARCHITECTURES)
  list(TRANSFORM architectures REPLACE "-(real|virtual)$" "")
  list(REMOVE_DUPLICATES architectures)
  if(NOT oldest_architecture IN_LIST architectures)
    set_property(TARGET ${target} APPEND PROPERTY CUDA_ARCHITECTURES "${oldest_architecture}-virtual")
    list(APPEND architectures "${oldest_architecture}")
  endif()
  set(ending ".ptx")
  list(LENGTH architectures count)
  if(count GREATER 1)
    set(ending ".compute_${oldest_architecture}.ptx")
  endif()

  set(kept_folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_kept")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_ptx")
  set(reports "")
  set(images "")
  foreach(source IN LISTS ARGN)
    get_filename_component(name "${source}" NAME_WE)
    source_folder("${source}" place)
    set(kept "${kept_folder}/${place}/${name}${ending}")
    set(ptx "${folder}/${place}/${name}.ptx")
    set(report "${folder}/${place}/${name}.txt")
    file(MAKE_DIRECTORY "${kept_folder}/${place}" "${folder}/${place}")
    # --keep by its other name: at this one ccache knows that there is more to keep than the object.
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS --save-temps "--keep-dir=${kept_folder}/${place}")
    set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_OUTPUTS "${kept}")
    add_custom_command(
      OUTPUT "${ptx}" "${report}"
      COMMAND "${CMAKE_COMMAND}" "-DPTXAS=${CONVLADDER_PTXAS}" "-DKEPT=${kept}" "-DPTX=${ptx}" "-DREPORT=${report}"
              "-DARCHITECTURES=${report_architectures}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
              -P "${PROJECT_SOURCE_DIR}/cmake/nvcc_ptx_script.cmake"
      DEPENDS "${kept}" "${PROJECT_SOURCE_DIR}/cmake/nvcc_ptx_script.cmake"
      COMMENT "Assembling ${name} for its report"
      VERBATIM)
    list(APPEND reports "${report}")
    list(APPEND images "${ptx}")
  endforeach()
  add_library(${library} OBJECT)
  target_link_libraries(${library} PRIVATE convladder_settings)
  target_compile_options(${library} PRIVATE ${CONVLADDER_UNMEASURED_FLAGS})
  unite_sources(${library})
  embed_files(TARGET ${library} NAME ${target}_ptxas_reports FILES ${reports} INCLUDE devices/cuda/ptxas_resources.hpp
    REGISTRATION "PtxasReportsRegistration{embedded_${target}_ptxas_reports}")
  embed_files(TARGET ${library} NAME ${target}_nvcc_ptx FILES ${images} INCLUDE devices/ptx_images.hpp REGISTRATION
    "PtxImagesRegistration{\"nvcc\", \"${CMAKE_CUDA_COMPILER_VERSION}\", embedded_${target}_nvcc_ptx}")
endfunction()
