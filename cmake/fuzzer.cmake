# Fuzz targets. They compile what they fuzz once more, with coverage and sanitizers, and run for a while: so they are built by the
# target `fuzzers` alone, and their tests have the label `full`. A fixture builds them before the first one runs.
#
#   blackout_add_fuzzer(<target> TEST <ctest name> SOURCES <file>... [LIBRARIES <library>...]
#                       [INCLUDES <folder of system headers>...] [LENGTH <bytes of the longest input>])
#       A source that starts with a module's folder (`events/trace.cpp`) is one of src/.
include_guard(GLOBAL)

# Other compilers have no libFuzzer, and a build for one sanitizer takes no other.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT BLACKOUT_SANITIZE)
  set(BLACKOUT_FUZZERS TRUE)
  add_custom_target(fuzzers)
  add_test(NAME fuzzers.build COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target fuzzers)
  set_tests_properties(fuzzers.build PROPERTIES FIXTURES_SETUP fuzzers LABELS full RUN_SERIAL TRUE TIMEOUT 3600)
else()
  set(BLACKOUT_FUZZERS FALSE)
endif()

function(blackout_add_fuzzer target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TEST;LENGTH" "SOURCES;LIBRARIES;INCLUDES")
  if(NOT BLACKOUT_FUZZERS)
    return()
  endif()
  if(NOT arg_LENGTH)
    set(arg_LENGTH 8192)
  endif()
  set(sources)
  foreach(source IN LISTS arg_SOURCES)
    if(source MATCHES "^[a-z]+/")
      set(source ${PROJECT_SOURCE_DIR}/src/${source})
    endif()
    list(APPEND sources ${source})
  endforeach()
  add_executable(${target} EXCLUDE_FROM_ALL ${sources})
  add_dependencies(fuzzers ${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(${target} SYSTEM PRIVATE ${arg_INCLUDES})
  target_compile_options(${target} PRIVATE -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_libraries(${target} PRIVATE blackout_settings fmt::fmt ${arg_LIBRARIES})

  # Inputs that reached something new are kept for the next run; the seeds are written there by the fuzzer itself.
  set(inputs ${CMAKE_CURRENT_BINARY_DIR}/${target}-inputs)
  file(MAKE_DIRECTORY ${inputs})
  # Through cmake -E env: ctest asks for the program itself when it lists tests, and it may not be built yet.
  add_test(NAME ${arg_TEST}
           COMMAND ${CMAKE_COMMAND} -E env BLACKOUT_CORPUS=${inputs} $<TARGET_FILE:${target}> -max_total_time=30 -timeout=10
                   -rss_limit_mb=1024 -max_len=${arg_LENGTH} -print_final_stats=0 -verbosity=0 ${inputs})
  set_tests_properties(${arg_TEST} PROPERTIES FIXTURES_REQUIRED fuzzers LABELS full TIMEOUT 120)
endfunction()
