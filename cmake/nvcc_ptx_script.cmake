# Run by embed_nvcc_ptx() at build time: PTX, the file that nvcc kept, without the architecture in its name; REPORT, the
# -v output of ptxas for each architecture, one after another. The rest of what nvcc kept, megabytes a kernel, goes.

# Its source files by their paths in the repository: where that lay is nobody's business.
file(READ "${KEPT}" content)
string(REPLACE "\"${SOURCE_DIR}/" "\"" content "${content}")
file(WRITE "${PTX}" "${content}")

set(report "")
foreach(architecture IN LISTS ARCHITECTURES)
  execute_process(
    COMMAND "${PTXAS}" -v "-arch=${architecture}" -o "${REPORT}.cubin" "${PTX}"
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "ptxas failed on ${PTX} for ${architecture}:\n${output}")
  endif()
  string(APPEND report "${output}")
endforeach()
file(REMOVE "${REPORT}.cubin")
file(WRITE "${REPORT}" "${report}")

get_filename_component(folder "${KEPT}" DIRECTORY)
get_filename_component(name "${KEPT}" NAME_WE)
file(GLOB rest "${folder}/${name}.*")
list(REMOVE_ITEM rest "${KEPT}")
if(rest)  # a cache of the compiler brings back the PTX alone
  file(REMOVE ${rest})
endif()
