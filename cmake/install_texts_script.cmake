# Run by `cmake --install`: what the program writes of itself, PROGRAM, and the link to it in SHARE. WORK is a folder for
# files on their way.

set(failed "")
# install_text(folder file word...): what the program prints when it is called with these words.
function(install_text folder file)
  file(MAKE_DIRECTORY "${WORK}")
  execute_process(COMMAND "${PROGRAM}" ${ARGN} OUTPUT_FILE "${WORK}/${file}" ERROR_VARIABLE messages RESULT_VARIABLE status)
  if(NOT status STREQUAL 0)
    set(failed "${messages}" PARENT_SCOPE)
    return()
  endif()
  file(INSTALL "${WORK}/${file}" DESTINATION "${CMAKE_INSTALL_PREFIX}/${folder}"
       PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  set(CMAKE_INSTALL_MANIFEST_FILES ${CMAKE_INSTALL_MANIFEST_FILES} PARENT_SCOPE)
endfunction()

string(TIMESTAMP day "%Y-%m-%d" UTC)
install_text(share/man/man1 convladder.1 manual --date "${day}")
install_text(share/bash-completion/completions convladder completion bash)
install_text(share/zsh/site-functions _convladder completion zsh)
install_text(share/fish/vendor_completions.d convladder.fish completion fish)
if(failed)
  message(WARNING "no manual page and no completion: the program does not run here: ${failed}")
endif()

# As a bundle has it, for the scripts beside it.
string(REGEX REPLACE "[^/]+" ".." up "${SHARE}")
set(link "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${SHARE}/convladder")
file(REMOVE "${link}")
file(CREATE_LINK "${up}/bin/convladder" "${link}" SYMBOLIC)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_PREFIX}/${SHARE}/convladder")
