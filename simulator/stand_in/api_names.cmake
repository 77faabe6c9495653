# Names that the toolkit's headers declare, as lists for the compiler:
#   driver_names.inc   CONVLADDER_NAME(name, version, symbol) of every form of every function of the driver
#   driver_errors.inc  CONVLADDER_ERROR(name)
#   runtime_names.inc  CONVLADDER_NAME(name)
# Sets `per_thread_names` to the functions that have a form for the default stream of the calling thread.

# read_headers(NAME HEADER...): their text as NAME, of those that are there: toolkits come in parts. It is read again when
# they change.
macro(read_headers name)
  set(${name} "")
  foreach(header IN ITEMS ${ARGN})
    set(path "${CONVLADDER_CUDA_INCLUDE_DIR}/${header}")
    if(EXISTS "${path}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
      file(READ "${path}" content)
      string(APPEND ${name} "${content}")
    endif()
  endforeach()
endmacro()

# write_names(FILE FEWEST LINE...): fails where a header is not as this file reads it.
function(write_names file fewest)
  list(LENGTH ARGN found)
  if(found LESS fewest)
    message(FATAL_ERROR "${CONVLADDER_CUDA_INCLUDE_DIR}: expected at least ${fewest} names for ${file}, found ${found}")
  endif()
  list(JOIN ARGN "\n" text)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/names/${file}" CONTENT "${text}\n" @ONLY)
endfunction()

# A type for every form says since which version of CUDA it is there. The first form has the function's name, the others
# _v2, _v3 behind it.
read_headers(types cudaTypedefs.h cudaProfilerTypedefs.h cudaGLTypedefs.h cudaEGLTypedefs.h cudaVDPAUTypedefs.h)
string(REGEX MATCHALL "PFN_cu[A-Za-z0-9]+_v[0-9]+\\)" types "${types}")
list(FILTER types EXCLUDE REGEX "cuWGL")  # Windows
list(REMOVE_DUPLICATES types)
list(SORT types COMPARE NATURAL)
set(names "")
set(before "")
foreach(type IN LISTS types)
  string(REGEX MATCH "^PFN_(.+)_v([0-9]+)" matched "${type}")
  if(CMAKE_MATCH_1 STREQUAL before)
    math(EXPR form "${form} + 1")
    set(symbol "${CMAKE_MATCH_1}_v${form}")
  else()
    set(form 1)
    set(symbol "${CMAKE_MATCH_1}")
  endif()
  set(before "${CMAKE_MATCH_1}")
  list(APPEND names "CONVLADDER_NAME(${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}, ${symbol})")
endforeach()
write_names(driver_names.inc 500 ${names})

read_headers(driver cuda.h cudaGL.h)
string(REGEX MATCHALL "\n *CUDA_(SUCCESS|ERROR_[A-Z0-9_]+) *=" names "${driver}")
list(TRANSFORM names REPLACE "\n *([A-Z0-9_]+) *=" "CONVLADDER_ERROR(\\1)")
write_names(driver_errors.inc 90 ${names})

read_headers(runtime cuda_runtime_api.h cuda_profiler_api.h cuda_gl_interop.h cuda_egl_interop.h cuda_vdpau_interop.h)
string(REGEX MATCHALL "CUDARTAPI[ \n]+cuda[A-Za-z0-9_]+ *\\(" names "${runtime}")
list(FILTER names EXCLUDE REGEX "cudaWGL|_pt(sz|ds)")
list(TRANSFORM names REPLACE "CUDARTAPI[ \n]+([A-Za-z0-9_]+).*" "CONVLADDER_NAME(\\1)")
list(REMOVE_DUPLICATES names)
# The runtime has two more, which the code that nvcc makes may call.
write_names(runtime_names.inc 300 ${names} "CONVLADDER_NAME(__cudaGetProcAddress)"
            "CONVLADDER_NAME(__cudaRegisterUnifiedTable)")

string(REGEX MATCHALL "__CUD[A-Z]*_API_PT(DS|SZ)\\(cu[A-Za-z0-9_]+\\)" by_macro "${driver}${runtime}")
list(TRANSFORM by_macro REPLACE ".*PTDS\\((.*)\\)" "\\1_ptds")
list(TRANSFORM by_macro REPLACE ".*PTSZ\\((.*)\\)" "\\1_ptsz")
string(REGEX MATCHALL "CUDAAPI +cu[A-Za-z0-9_]+_pt(sz|ds)" per_thread_names "${driver}")
list(TRANSFORM per_thread_names REPLACE "CUDAAPI +" "")
list(APPEND per_thread_names ${by_macro} __cudaLaunchKernel_ptsz)
list(REMOVE_DUPLICATES per_thread_names)
