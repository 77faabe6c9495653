# `cpack` in a build folder of the preset `package` makes a Debian package of what `cmake --install` installs (cmake/Install.cmake);
# `cpack -G TGZ` an archive. scripts/package.sh does all of it.

set(CPACK_PACKAGE_NAME convladder)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CONVLADDER_PACKAGER "convladder developers <convladder@example.com>" CACHE STRING "Who makes packages: Name <address>")
set(CPACK_PACKAGE_CONTACT "${CONVLADDER_PACKAGER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "climb one kernel stage by stage: verified, measured, explained")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_SOURCE_DIR}/build")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(processors "${CONVLADDER_CPU_ARCHITECTURE} processors")
if(CONVLADDER_CPU_ARCHITECTURE STREQUAL "native")
  set(processors "processors like that of the machine where it was built")
endif()
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"It writes one kernel again and again, each time with one more idea, and shows
what every idea is worth. It comes with the forward convolution of a neural
network, with stages for CPUs and in CUDA from plain loops to faster than the
vendor's library, and with smaller ladders.

Every result is proved right against float64 before a time is published. A GPU
is not needed: without one the CUDA stages are executed from their PTX,
verified and counted. A folder with a kernel of your own climbs the same way.

It is compiled for ${processors}.")
# What is linked is found by dpkg-shlibdeps. Charts and reports are drawn by Python; folders of the user's are compiled.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/stand_in")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-jinja2, python3-matplotlib, python3-numpy, g++")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "clang, python3-jsonschema, chromium, slurm-client")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian_files_script.cmake")
include(CPack)
