# Run by cpack before it packs: what Debian wants beyond what `cmake --install` installs, and otherwise than that.

if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(tree "${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}")
set(documents "${tree}/share/doc/convladder")
find_program(gzip gzip REQUIRED)
set(for_everybody OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)

# compress(file): without name and time, so that the same files make the same package.
function(compress file)
  execute_process(COMMAND "${gzip}" -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Debian has the licence once for all packages; what is under others is in the files of those that this was compiled with.
file(REMOVE "${documents}/LICENSE")
string(TIMESTAMP year "%Y" UTC)
file(WRITE "${documents}/copyright"
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: convladder

Files: *
Copyright: ${year} The convladder developers
License: Apache-2.0
 On Debian systems the complete text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
Comment:
 Compiled in are CLI11 (BSD-3-clause), JSON for Modern C++ (MIT), OpenSSL's SHA-256 (Apache-2.0), OpenBLAS and LAPACK
 (BSD-3-clause) and, in a build with nvcc, NVIDIA's CUDA runtime (redistributable by its EULA, Attachment A). Their notices are in
 /usr/share/doc/convladder/compiled-in/. lib/report/library.js, where it is, holds Vega, Vega-Lite and Vega-Embed
 (BSD-3-clause), with their licence in the file.
")
file(MAKE_DIRECTORY "${documents}/compiled-in")
foreach(package libcli11-dev nlohmann-json3-dev libssl-dev libopenblas-serial-dev liblapack-dev)
  if(EXISTS "/usr/share/doc/${package}/copyright")
    file(COPY_FILE "/usr/share/doc/${package}/copyright" "${documents}/compiled-in/${package}")
  endif()
endforeach()

# SOURCE_DATE_EPOCH, where it is set, is the time of this.
string(TIMESTAMP day "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${documents}/changelog.Debian"
"convladder (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * What changed is in changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${day}
")
file(RENAME "${documents}/CHANGELOG.md" "${documents}/changelog")
compress("${documents}/changelog")
compress("${documents}/changelog.Debian")

if(EXISTS "${tree}/share/man/man1/convladder.1")
  compress("${tree}/share/man/man1/convladder.1")
endif()
# Where Debian's zsh looks.
if(EXISTS "${tree}/share/zsh/site-functions")
  file(RENAME "${tree}/share/zsh/site-functions" "${tree}/share/zsh/vendor-completions")
endif()
file(GLOB_RECURSE files "${documents}/*")
file(CHMOD ${files} PERMISSIONS ${for_everybody})
file(CHMOD "${documents}/compiled-in" DIRECTORY_PERMISSIONS
     OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
