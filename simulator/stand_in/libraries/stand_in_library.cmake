# add_stand_in_library(NAME name SONAMES soname... HEADERS header... DECLARATION regex SEEN pattern... SOURCES file...
#                      [LINK library...] [FEWEST number] [NAMES file]):
# a stand-in for a library that programs call: `convladder_<name>`, and libraries by the sonames that need it.
#
# The functions are those that the toolkit's headers declare: DECLARATION is what stands before a name, such as
# "CUBLASWINAPI". A function that no source defines answers "not supported" through the library's own
# `refuse_<name>_call(const char* function)` (see not_supported.cpp), so that programs link and load. Nothing is added where
# the first header is missing: CONVLADDER_HAS_<name> says so. NAMES is a file with functions, one a line, for a library whose
# header is not part of every toolkit; then none is needed.
function(add_stand_in_library)
  cmake_parse_arguments(LIB "" "NAME;DECLARATION;FEWEST;NAMES" "SONAMES;HEADERS;SEEN;SOURCES;LINK" ${ARGN})
  set(CONVLADDER_HAS_${LIB_NAME} OFF CACHE INTERNAL "")
  list(GET LIB_HEADERS 0 first)
  if(NOT LIB_NAMES AND NOT EXISTS "${CONVLADDER_CUDA_INCLUDE_DIR}/${first}")
    message(STATUS "${first} not found: no stand-in for ${LIB_NAME}")
    return()
  endif()
  set(CONVLADDER_HAS_${LIB_NAME} ON CACHE INTERNAL "")
  set(declared "")
  foreach(header IN LISTS LIB_HEADERS)
    set(path "${CONVLADDER_CUDA_INCLUDE_DIR}/${header}")
    if(EXISTS "${path}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
      file(READ "${path}" content)
      string(REPLACE ";" " " content "${content}")
      string(APPEND declared "${content}")
    endif()
  endforeach()
  string(REGEX MATCHALL "${LIB_DECLARATION}[ \n\t]+[A-Za-z0-9_]+[ \n]*\\(" names "${declared}")
  list(TRANSFORM names REPLACE ".*[ \n\t]([A-Za-z0-9_]+)[ \n]*\\(" "\\1")
  if(LIB_NAMES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${LIB_NAMES}")
    file(STRINGS "${LIB_NAMES}" more REGEX "^[A-Za-z]")
    list(APPEND names ${more})
  endif()
  list(FILTER names EXCLUDE REGEX "^__")  # an attribute behind the macro
  list(REMOVE_DUPLICATES names)
  list(LENGTH names found)
  if(LIB_FEWEST AND found LESS LIB_FEWEST)
    message(FATAL_ERROR "${CONVLADDER_CUDA_INCLUDE_DIR}/${first}: expected at least ${LIB_FEWEST} functions, found ${found}")
  endif()
  set_property(GLOBAL PROPERTY "CONVLADDER_NAMES_${LIB_NAME}" "${names}")
  list(TRANSFORM names REPLACE "(.+)" "CONVLADDER_NAME(\\1)")
  list(JOIN names "\n" text)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/names/${LIB_NAME}_names.inc" CONTENT "${text}\n" @ONLY)

  set(parts convladder_${LIB_NAME}_functions)
  add_library(convladder_${LIB_NAME}_functions OBJECT ${LIB_SOURCES})
  target_link_libraries(convladder_${LIB_NAME}_functions PRIVATE convladder_settings fmt::fmt)
  target_include_directories(convladder_${LIB_NAME}_functions SYSTEM PRIVATE "${CONVLADDER_CUDA_INCLUDE_DIR}")
  compile_unmeasured(convladder_${LIB_NAME}_functions)
  add_library(convladder_${LIB_NAME} SHARED not_supported.cpp)
  set_source_files_properties(not_supported.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_compile_definitions(convladder_${LIB_NAME} PRIVATE
    "CONVLADDER_NAMES=\"${LIB_NAME}_names.inc\"" "CONVLADDER_REFUSE=refuse_${LIB_NAME}_call")
  target_include_directories(convladder_${LIB_NAME} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/names")
  target_link_libraries(convladder_${LIB_NAME} PRIVATE convladder_settings convladder_${LIB_NAME}_functions
                        convladder_stand_in ${LIB_LINK} fmt::fmt)
  compile_unmeasured(convladder_${LIB_NAME})
  set_target_properties(convladder_${LIB_NAME} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/stand_in" BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
  # What programs call is seen, and nothing of ours, which could take the place of theirs.
  set(seen "")
  foreach(pattern IN LISTS LIB_SEEN)
    string(APPEND seen " ${pattern};")
  endforeach()
  set(map "${CMAKE_CURRENT_BINARY_DIR}/${LIB_NAME}.map")
  file(CONFIGURE OUTPUT "${map}" CONTENT "{ global:${seen} local: *; };\n")
  target_link_options(convladder_${LIB_NAME} PRIVATE
    "LINKER:--version-script=${map}" LINKER:-Bsymbolic LINKER:-z,nodelete LINKER:-z,defs)
  set(libraries convladder_${LIB_NAME})
  foreach(soname IN LISTS LIB_SONAMES)
    string(MAKE_C_IDENTIFIER "convladder_${soname}" target)
    add_library_by_name(${target} ${soname} convladder_${LIB_NAME} VERSIONED)
    list(APPEND libraries ${target})
  endforeach()
  set(CONVLADDER_STAND_IN_LIBRARIES ${CONVLADDER_STAND_IN_LIBRARIES} ${libraries} CACHE INTERNAL "")
endfunction()
