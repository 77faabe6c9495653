# add_library_by_name(target soname library [VERSIONED] [FUNCTIONS pattern...]): a shared library of the stand-in by a name
# that programs ask for. It only needs `library`, which has the functions; what is added to it later and matches a pattern
# of FUNCTIONS is seen as well. VERSIONED: the symbols that programs ask of it have a version by its name.
function(add_library_by_name target soname library)
  cmake_parse_arguments(NAMED "VERSIONED" "" "FUNCTIONS" ${ARGN})
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "extern \"C\" const char ${target}_is_here = 1;\n")
  add_library(${target} SHARED "${source}")
  add_dependencies(convladder_stand_in_libraries ${target})
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME "${soname}" SUFFIX "" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/stand_in"
    NO_SONAME ON BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
  target_link_libraries(${target} PRIVATE ${library})
  target_link_options(${target} PRIVATE "LINKER:-soname=${soname}" LINKER:--no-as-needed)
  if(NAMED_VERSIONED AND NOT soname MATCHES "-")  # no linker takes the name of a version that has a hyphen
    set(functions "")
    foreach(pattern IN LISTS NAMED_FUNCTIONS)
      string(APPEND functions " ${pattern};")
    endforeach()
    set(map "${CMAKE_CURRENT_BINARY_DIR}/${target}.map")
    file(CONFIGURE OUTPUT "${map}" CONTENT "${soname} { global: ${target}_is_here;${functions} local: *; };\n")
    target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
  endif()
endfunction()
