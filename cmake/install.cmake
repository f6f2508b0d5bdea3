# What `make install` installs beside the modules' own targets: the public headers, and the CMake package, in the build folder as well as in the prefix.
# Both have the same layout (bin, lib/blackout, include, lib/cmake/Blackout), so one package file,
# which finds everything relative to itself, serves both.
include(CMakePackageConfigHelpers)

set(package_files)
foreach(file BlackoutConfig.cmake)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${file} ${PROJECT_BINARY_DIR}/lib/cmake/Blackout/${file} COPYONLY)
  list(APPEND package_files ${PROJECT_BINARY_DIR}/lib/cmake/Blackout/${file})
endforeach()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lib/cmake/Blackout/BlackoutConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
list(APPEND package_files ${PROJECT_BINARY_DIR}/lib/cmake/Blackout/BlackoutConfigVersion.cmake)

install(FILES ${package_files} DESTINATION lib/cmake/Blackout)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/blackout DESTINATION include)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION share/doc/blackout)
# README's links lead there.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/doc/blackout)
install(FILES ${PROJECT_SOURCE_DIR}/examples/index.cpp DESTINATION share/doc/blackout/examples)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/kinds DESTINATION share/doc/blackout/examples)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/examples/demo DESTINATION share/doc/blackout/examples)
