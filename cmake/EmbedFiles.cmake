# embed_files(TARGET target NAME name FILES file... [INCLUDE header REGISTRATION initializer] [RELATIVE_TO folder])
# Adds to `target` a source that defines
#   const std::vector<convladder::EmbeddedFile>& convladder::embedded_<name>();
# holding the files' base names and contents, so that the program needs no data beside it. With a REGISTRATION,
# `Type{arguments}`, it also has a static object of that type, so that what several targets embed is found in one place.

function(embed_files)
  cmake_parse_arguments(EMBED "" "TARGET;NAME;INCLUDE;REGISTRATION;RELATIVE_TO" "FILES" ${ARGN})
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_${EMBED_NAME}.cpp")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DNAME=${EMBED_NAME}" "-DFILES=${EMBED_FILES}"
            "-DINCLUDE=${EMBED_INCLUDE}" "-DREGISTRATION=${EMBED_REGISTRATION}"
            "-DRELATIVE_TO=${EMBED_RELATIVE_TO}" -P "${PROJECT_SOURCE_DIR}/cmake/embed_files_script.cmake"
    DEPENDS ${EMBED_FILES} "${PROJECT_SOURCE_DIR}/cmake/embed_files_script.cmake"
    COMMENT "Embedding ${EMBED_NAME}"
    VERBATIM)
  target_sources(${EMBED_TARGET} PRIVATE "${output}")
endfunction()
