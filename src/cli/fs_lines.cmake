# blackout-fs-lines: what `blackout fs --lines` runs. It is a program under test like any other, so it lies beside the runtime
# and has debug information of its own lines in every build.
add_executable(blackout-fs-lines ${PROJECT_SOURCE_DIR}/src/cli/fs_lines.cpp)
target_include_directories(blackout-fs-lines PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(blackout-fs-lines PRIVATE -O1 -gline-tables-only)
target_link_libraries(blackout-fs-lines PRIVATE blackout_settings ${CMAKE_DL_LIBS})
set_target_properties(blackout-fs-lines PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${BLACKOUT_LIBDIR})
install(TARGETS blackout-fs-lines RUNTIME DESTINATION ${BLACKOUT_LIBDIR})
