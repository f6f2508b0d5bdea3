# blackout-clang and blackout-clang++: one program, built twice. They find clang at configure time; a
# moved or newer one is found by PATH, or named by BLACKOUT_CC and BLACKOUT_CXX, when they run.
include_guard(GLOBAL)
find_program(BLACKOUT_CLANG NAMES clang-19 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(BLACKOUT_CLANGXX NAMES clang++-19 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)

foreach(language C CXX)
  if(language STREQUAL CXX)
    set(target blackout-clang++)
    set(is_cxx 1)
  else()
    set(target blackout-clang)
    set(is_cxx 0)
  endif()
  add_executable(${target} ${PROJECT_SOURCE_DIR}/src/cli/compiler_wrapper.cpp)
  target_compile_definitions(
    ${target} PRIVATE BLACKOUT_WRAPPER_CXX=${is_cxx} BLACKOUT_CLANG="${BLACKOUT_CLANG}"
                      BLACKOUT_CLANGXX="${BLACKOUT_CLANGXX}")
  target_compile_options(${target} PRIVATE -O0)
  target_link_libraries(${target} PRIVATE blackout_settings)
  install(TARGETS ${target} RUNTIME DESTINATION bin)
endforeach()

# CMake takes "blackout-" for a tool chain's prefix and looks for an archiver of that name when a project is
# built with link-time optimisation; Debian's ar cannot index bitcode.
foreach(tool ar ranlib)
  find_program(BLACKOUT_LLVM_${tool} NAMES llvm-${tool}-19 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
  file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  file(CREATE_LINK ${BLACKOUT_LLVM_${tool}} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/blackout-llvm-${tool} SYMBOLIC)
  install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/blackout-llvm-${tool} DESTINATION bin)
endforeach()
