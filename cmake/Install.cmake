# What `cmake --install` puts where. The program finds everything from its own place, so the tree may be moved, and nothing in
# it names another folder:
#
#   bin/convladder
#   lib/convladder/stand_in/    libraries for the programs of others
#   share/convladder/           laid out as a bundle is: scripts/, results/, lib/report/, on_gpu.sh, and the program as a link
#   share/man/, share/bash-completion/, share/zsh/, share/fish/   what the program writes of itself
#   share/doc/convladder/

set(CONVLADDER_SHARE share/convladder)
# What scripts/report_library.sh put together, if it did; reports are complete without it.
set(report_library "${PROJECT_SOURCE_DIR}/build/report-library/library.js")
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(folders bin ${CONVLADDER_SHARE}/scripts ${CONVLADDER_SHARE}/results)
if(NOT CONVLADDER_WHEEL)
  list(APPEND folders share/doc/convladder share/man/man1
       share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d)
endif()
if(CONVLADDER_HAS_STAND_IN)
  list(APPEND folders lib/convladder/stand_in)
endif()
install(CODE "
  set(FOLDERS \"${folders}\")
  set(REPORT_LIBRARY \"${report_library}\" ${CONVLADDER_SHARE}/lib/report)
  include(\"${PROJECT_SOURCE_DIR}/cmake/install_folders_script.cmake\")")

if(CONVLADDER_ONEDNN_DIR)  # it is nowhere where the system looks
  cmake_path(GET CONVLADDER_ONEDNN_LIBRARY PARENT_PATH folder)
  set_property(TARGET convladder APPEND PROPERTY INSTALL_RPATH "${folder}")
endif()
install(TARGETS convladder RUNTIME DESTINATION bin)
if(CONVLADDER_HAS_STAND_IN)
  install(TARGETS ${CONVLADDER_STAND_IN_LIBRARIES} LIBRARY DESTINATION lib/convladder/stand_in)
  install(DIRECTORY simulator/stand_in/python DESTINATION lib/convladder/stand_in USE_SOURCE_PERMISSIONS
          PATTERN __pycache__ EXCLUDE)
endif()
if(CONVLADDER_WHEEL)
  include(WheelLibraries)
elseif(CONVLADDER_HAS_STAND_IN)
  install(DIRECTORY python/convladder DESTINATION lib/convladder/stand_in/python PATTERN __pycache__ EXCLUDE)
endif()

# install_script(folder file): executable where it is a program of its own, and not only sourced.
function(install_script folder file)
  file(READ "${file}" first LIMIT 2 HEX)
  if(first STREQUAL "2321")  # "#!"
    install(PROGRAMS "${file}" DESTINATION "${folder}")
  else()
    install(FILES "${file}" DESTINATION "${folder}")
  endif()
endfunction()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/scripts/installed.txt")
file(STRINGS "${PROJECT_SOURCE_DIR}/scripts/installed.txt" scripts REGEX "^[^#]")
foreach(script IN LISTS scripts)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/scripts/${script}")
    install(DIRECTORY "scripts/${script}" DESTINATION "${CONVLADDER_SHARE}/scripts" PATTERN __pycache__ EXCLUDE)
  else()
    install_script("${CONVLADDER_SHARE}/scripts" "${PROJECT_SOURCE_DIR}/scripts/${script}")
  endif()
endforeach()
file(GLOB schemas CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/results/*.schema.json")
install(FILES ${schemas} DESTINATION "${CONVLADDER_SHARE}/results")
install(DIRECTORY results/published DESTINATION "${CONVLADDER_SHARE}/results" FILES_MATCHING PATTERN "*.json")
if(CONVLADDER_WHEEL)
  return()
endif()

foreach(script on_gpu.sh program.sh parts.sh run_parts.sh)
  install_script("${CONVLADDER_SHARE}" "${PROJECT_SOURCE_DIR}/scripts/bundle/${script}")
endforeach()

install(DIRECTORY docs DESTINATION share/doc/convladder)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION share/doc/convladder)

# Written when it is installed, by the program: a build waits for none of it, and where the program does not run, because it
# was compiled for another processor, the rest is installed all the same.
install(CODE "
  set(PROGRAM \"$<TARGET_FILE:convladder>\")
  set(SHARE \"${CONVLADDER_SHARE}\")
  set(WORK \"${PROJECT_BINARY_DIR}/generated/installed\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/install_texts_script.cmake\")")
