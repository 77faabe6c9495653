# Run by embed_ptxas_reports() at build time: the -v output of ptxas for each architecture, one after another.

set(report "")
foreach(architecture IN LISTS ARCHITECTURES)
  execute_process(
    COMMAND "${PTXAS}" -v "-arch=${architecture}" -o "${OUTPUT}.cubin" "${PTX}"
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "ptxas failed on ${PTX} for ${architecture}:\n${output}")
  endif()
  string(APPEND report "${output}")
endforeach()
file(REMOVE "${OUTPUT}.cubin")
file(WRITE "${OUTPUT}" "${report}")
