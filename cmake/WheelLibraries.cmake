# The shared libraries of a wheel lie beside its program, all but those of C and C++, which belong to the machine: nobody who installs
# a wheel installs Debian packages. They are not where the stand-in's libraries lie, as that folder comes first for the programs of
# others, who may bring their own.

set(folder lib/convladder/libraries)
set_property(TARGET convladder PROPERTY INSTALL_RPATH "$ORIGIN/../${folder}")
set(programs convladder)
if(CONVLADDER_HAS_STAND_IN)
  list(APPEND programs ${CONVLADDER_STAND_IN_LIBRARIES})
  foreach(target IN LISTS CONVLADDER_STAND_IN_LIBRARIES)
    set_property(TARGET ${target} PROPERTY INSTALL_RPATH "$ORIGIN;$ORIGIN/../libraries")
  endforeach()
endif()
set(files "")
foreach(target IN LISTS programs)
  list(APPEND files "$<TARGET_FILE:${target}>")
endforeach()
install(CODE "
  set(FILES \"${files}\")
  set(OWN_FOLDER \"${PROJECT_BINARY_DIR}/stand_in\")
  set(FOLDER ${folder})
  include(\"${PROJECT_SOURCE_DIR}/cmake/install_wheel_libraries_script.cmake\")")
