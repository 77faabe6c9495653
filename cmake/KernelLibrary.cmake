# source_folder(file RESULT-VARIABLE): where it lies below the current folder, so that what is made of files of one name in
# two folders does not meet; empty for a file from elsewhere.
function(source_folder file result)
  get_filename_component(folder "${file}" DIRECTORY)
  file(RELATIVE_PATH place "${CMAKE_CURRENT_SOURCE_DIR}" "${folder}")
  if(place MATCHES "^\\.\\.")
    set(place "")
  endif()
  set(${result} "${place}" PARENT_SCOPE)
endfunction()

# add_kernel_library(target KERNELS file.cu... [SOURCES file.cpp...] [TOOLKIT_SOURCES file.cpp...] [NEEDS 80]
#                    [ARCHITECTURES 75-real])
# An OBJECT library of CUDA kernels with their launch plans, by whichever compilers there are: machine code and PTX by
# nvcc; without nvcc PTX and the host's side by clang. TOOLKIT_SOURCES need the CUDA toolkit and are left out without it.
# NEEDS is the architecture whose instructions the kernels use: nothing is compiled for older ones, where a launch fails
# because there is no kernel image. ARCHITECTURES are compiled for instead of CMAKE_CUDA_ARCHITECTURES. What is embedded
# registers itself with the devices, so that several such libraries add up.
#
# Where both compilers are there, a program with clang's PTX as well is one with the property CONVLADDER_BOTH_COMPILERS:
# the tests compare the two, nobody else waits for it.
function(add_kernel_library target)
  cmake_parse_arguments(LIBRARY "" "NEEDS" "KERNELS;SOURCES;TOOLKIT_SOURCES;ARCHITECTURES" ${ARGN})
  set(clang_architecture 70)
  if(LIBRARY_NEEDS)
    set(clang_architecture "${LIBRARY_NEEDS}")
  endif()
  if(CONVLADDER_HAS_CUDA)
    add_library(${target} OBJECT ${LIBRARY_KERNELS} ${LIBRARY_SOURCES} ${LIBRARY_TOOLKIT_SOURCES})
    target_link_libraries(${target} PUBLIC convladder_settings fmt::fmt CUDA::cudart_static ${CMAKE_DL_LIBS})
    set(oldest_architecture "${CONVLADDER_OLDEST_CUDA_ARCHITECTURE}")
    if(LIBRARY_ARCHITECTURES)
      set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${LIBRARY_ARCHITECTURES}")
    elseif(LIBRARY_NEEDS)
      cuda_architectures_from("${LIBRARY_NEEDS}" architectures)
      set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
    endif()
    if(LIBRARY_NEEDS AND oldest_architecture LESS LIBRARY_NEEDS)
      set(oldest_architecture "${LIBRARY_NEEDS}")
    endif()
    # Objects of an OBJECT library are not passed on, sources of its interface are.
    embed_nvcc_ptx(${target} ${target}_nvcc_ptx "${oldest_architecture}" ${LIBRARY_KERNELS})
    target_sources(${target} INTERFACE $<TARGET_OBJECTS:${target}_nvcc_ptx>)
    if(CONVLADDER_HAS_CLANG_CUDA)
      add_library(${target}_clang_ptx OBJECT EXCLUDE_FROM_ALL)
      target_link_libraries(${target}_clang_ptx PRIVATE convladder_settings)
      target_compile_options(${target}_clang_ptx PRIVATE ${CONVLADDER_UNMEASURED_FLAGS})
      embed_clang_ptx(${target}_clang_ptx ${target} ${clang_architecture} ${LIBRARY_KERNELS})
      target_sources(${target} INTERFACE
        "$<$<BOOL:$<TARGET_PROPERTY:CONVLADDER_BOTH_COMPILERS>>:$<TARGET_OBJECTS:${target}_clang_ptx>>")
    endif()
  else()
    # No machine code and no ptxas: clang compiles the host's side as well.
    clang_host_code(host_code ${clang_architecture} ${LIBRARY_KERNELS})
    add_library(${target} OBJECT ${host_code} ${LIBRARY_SOURCES})
    target_link_libraries(${target} PUBLIC convladder_settings fmt::fmt)
    embed_clang_ptx(${target} ${target} ${clang_architecture} ${LIBRARY_KERNELS})
  endif()
endfunction()
