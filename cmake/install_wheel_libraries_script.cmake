# Run by `cmake --install` of a wheel: copies the libraries that FILES need into FOLDER of the prefix, under the names by which they are
# asked for, as a wheel has no links. OWN_FOLDER has those that the build made itself, which are installed elsewhere.
# The C and C++ libraries are the machine's: in the process of somebody's program, older ones of ours would take the place of its own.

file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${FILES} RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
     PRE_EXCLUDE_REGEXES "^(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libutil|libstdc\\+\\+|libgcc_s)\\.so")
if(missing)
  message(FATAL_ERROR "not found: ${missing}")
endif()
set(target "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${FOLDER}")
file(MAKE_DIRECTORY "${target}")
foreach(library IN LISTS found)
  cmake_path(IS_PREFIX OWN_FOLDER "${library}" NORMALIZE is_own)
  if(NOT is_own)
    cmake_path(GET library FILENAME name)
    file(REAL_PATH "${library}" file)
    file(COPY_FILE "${file}" "${target}/${name}" ONLY_IF_DIFFERENT)
  endif()
endforeach()
