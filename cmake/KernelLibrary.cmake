# add_kernel_library(target KERNELS file.cu... [SOURCES file.cpp...] [TOOLKIT_SOURCES file.cpp...])
# An OBJECT library of CUDA kernels with their launch plans, by whichever compilers there are: machine code and PTX by
# nvcc, PTX by clang, and without nvcc the host's side by clang too. TOOLKIT_SOURCES need the CUDA toolkit and are left out
# without it. What the target embeds registers itself with the devices, so that several such libraries add up.
function(add_kernel_library target)
  cmake_parse_arguments(LIBRARY "" "" "KERNELS;SOURCES;TOOLKIT_SOURCES" ${ARGN})
  if(CONVLADDER_HAS_CUDA)
    add_library(${target} OBJECT ${LIBRARY_KERNELS} ${LIBRARY_SOURCES} ${LIBRARY_TOOLKIT_SOURCES})
    target_link_libraries(${target} PUBLIC convladder_settings fmt::fmt CUDA::cudart_static ${CMAKE_DL_LIBS})
    embed_ptxas_reports(${target} ${LIBRARY_KERNELS})
  else()
    # No machine code and no ptxas: clang compiles the host's side as well.
    clang_host_code(host_code ${LIBRARY_KERNELS})
    add_library(${target} OBJECT ${host_code} ${LIBRARY_SOURCES})
    target_link_libraries(${target} PUBLIC convladder_settings fmt::fmt)
  endif()
  if(CONVLADDER_HAS_CLANG_CUDA)
    embed_clang_ptx(${target} ${LIBRARY_KERNELS})
  endif()
endfunction()
