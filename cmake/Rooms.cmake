# Folders of sources as parts of the program, and what a test of one of them is linked with.
#
# Every folder is an OBJECT library, or a few: a static library would drop the objects that register variants, devices and
# commands. OBJECT libraries are not passed on, so each says once which folder of layers.txt it is of (add_part), and
# programs name no part at all (link_parts).

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/layers.txt")
file(STRINGS "${PROJECT_SOURCE_DIR}/layers.txt" CONVLADDER_LAYERS REGEX "^[^#]")
if(CONVLADDER_SIMULATOR_ONLY)  # and what it stands on
  list(FIND CONVLADDER_LAYERS "simulator/stand_in" last)
  math(EXPR count "${last} + 1")
  list(SUBLIST CONVLADDER_LAYERS 0 ${count} CONVLADDER_LAYERS)
endif()

# add_part(target FOLDER folder): the target is part of the program, and lies in that folder of layers.txt.
function(add_part target)
  cmake_parse_arguments(PART "" "FOLDER" "" ${ARGN})
  string(REPLACE ";" " " folders "${CONVLADDER_LAYERS}")
  string(FIND " ${folders} " " ${PART_FOLDER} " place)
  if(place EQUAL -1)
    message(FATAL_ERROR "${target}: no folder ${PART_FOLDER} in layers.txt")
  endif()
  set_property(GLOBAL APPEND PROPERTY "CONVLADDER_PARTS_${PART_FOLDER}" "${target}")
endfunction()

# folders_of_layer(line RESULT-VARIABLE folder): the folders that a line of layers.txt stands for, of those in the current
# folder: FOLDER/* are all in it that are not named themselves.
function(folders_of_layer line result)
  string(REPLACE " " ";" named "${line}")
  string(REPLACE ";" " " layers "${CONVLADDER_LAYERS}")
  set(folders "")
  foreach(folder IN LISTS named)
    if(NOT folder MATCHES "/\\*$")
      list(APPEND folders "${folder}")
      continue()
    endif()
    file(GLOB found CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
    foreach(one IN LISTS found)
      if(IS_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/${one}" AND NOT " ${layers} " MATCHES " ${one} ")
        list(APPEND folders "${one}")
      endif()
    endforeach()
  endforeach()
  set(${result} "${folders}" PARENT_SCOPE)
endfunction()

# link_parts(target [OF folder] [REVERSED]): what stands on the lines above the folder's in layers.txt and the folder
# itself; without a folder, every part. REVERSED links the same in another order.
function(link_parts target)
  cmake_parse_arguments(LINK "REVERSED" "OF" "" ${ARGN})
  set(parts "")
  foreach(line IN LISTS CONVLADDER_LAYERS)
    string(REPLACE " " ";" folders "${line}")
    if("${LINK_OF}" IN_LIST folders)
      set(folders "${LINK_OF}")
    endif()
    foreach(folder IN LISTS folders)
      get_property(targets GLOBAL PROPERTY "CONVLADDER_PARTS_${folder}")
      list(APPEND parts ${targets})
    endforeach()
    if("${folders}" STREQUAL "${LINK_OF}")
      break()
    endif()
  endforeach()
  if(LINK_REVERSED)
    list(REVERSE parts)
  endif()
  target_link_libraries(${target} PRIVATE ${parts})
endfunction()
