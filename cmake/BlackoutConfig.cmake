# find_package(Blackout): instrument chosen targets of a CMake project and check them from ctest.
#
#   blackout_instrument(<target>...)
#       Compiles and links the targets as blackout-clang and blackout-clang++ would. The project's
#       compiler must be clang 19. A project whose compiler *is* one of the wrappers needs no call, and a
#       call changes nothing there. What uses an instrumented static or object library
#       gets the runtime with it.
#
#   blackout_add_test(NAME <name> COMMAND <target or program> [<argument>...]
#                     [PM <pool file, folder or glob>...] [ARGS <option of blackout check>...]
#                     [WORKING_DIRECTORY <folder>])
#       A ctest test that runs `blackout check --pm <pool>... <options> -- <command>` and passes if the
#       check finds nothing and is complete.
#
#   blackout_add_gtest(TARGET <target> TESTS <Suite.Name>... [PM <pool>...] [EXTRA_ARGS <argument>...]
#                      [ARGS <option of blackout check>...] [WORKING_DIRECTORY <folder>])
#       The same for chosen tests of a GoogleTest program: a ctest test <target>.<Suite.Name> for each, whose restarts run
#       that test again (blackout_recovering() tells it which run it is).
#
#   Blackout::headers    interface target with the folder of <blackout/blackout.h>
#   Blackout::blackout   the tool, for commands of your own
#
# Everything is found relative to this file, in a build folder as well as in an installation.

get_filename_component(BLACKOUT_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(BLACKOUT_EXECUTABLE "${BLACKOUT_PREFIX}/bin/blackout")
set(BLACKOUT_PASS "${BLACKOUT_PREFIX}/lib/blackout/BlackoutPass.so")
set(BLACKOUT_RUNTIME "${BLACKOUT_PREFIX}/lib/blackout/libblackout.so")

foreach(_blackout_part BLACKOUT_PASS BLACKOUT_RUNTIME)
  if(NOT EXISTS "${${_blackout_part}}")
    set(Blackout_FOUND FALSE)
    set(Blackout_NOT_FOUND_MESSAGE "${${_blackout_part}} is missing: run make, or make install, in Blackout's folder again")
    return()
  endif()
endforeach()

if(NOT TARGET Blackout::headers)
  add_library(Blackout::headers INTERFACE IMPORTED)
  set_target_properties(Blackout::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${BLACKOUT_PREFIX}/include")
endif()
if(NOT TARGET Blackout::blackout)
  add_executable(Blackout::blackout IMPORTED)
  set_target_properties(Blackout::blackout PROPERTIES IMPORTED_LOCATION "${BLACKOUT_EXECUTABLE}")
endif()

# Stops with a sentence unless the compilers in use are ones that can load the pass. Sets `out` to true if
# they are the wrappers, which do everything by themselves.
function(_blackout_check_compilers out)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(wrapped FALSE)
  foreach(language C CXX)
    if(NOT language IN_LIST languages)
      continue()
    endif()
    get_filename_component(name "${CMAKE_${language}_COMPILER}" NAME)
    if(name MATCHES "^blackout-clang")
      set(wrapped TRUE)
    elseif(NOT CMAKE_${language}_COMPILER_ID STREQUAL "Clang" OR NOT CMAKE_${language}_COMPILER_VERSION MATCHES "^19\\.")
      if(language STREQUAL "C")
        set(cure "-DCMAKE_C_COMPILER=clang-19")
      else()
        set(cure "-DCMAKE_CXX_COMPILER=clang++-19")
      endif()
      message(FATAL_ERROR
              "Blackout: blackout_instrument() needs clang 19, because its pass is a plugin of that version, but the "
              "${language} compiler is ${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION} "
              "(${CMAKE_${language}_COMPILER}). Configure in a new build folder with ${cure}.")
    endif()
  endforeach()
  set(${out} ${wrapped} PARENT_SCOPE)
endfunction()

function(blackout_instrument)
  if(NOT ARGN)
    message(FATAL_ERROR "Blackout: blackout_instrument() takes the names of one or more targets")
  endif()
  _blackout_check_compilers(wrapped)
  foreach(target IN LISTS ARGN)
    if(NOT TARGET ${target})
      message(FATAL_ERROR "Blackout: blackout_instrument(${target}): there is no target of that name at this point")
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      message(FATAL_ERROR "Blackout: blackout_instrument(${target}): an interface library has no code; instrument what uses it")
    endif()
    if(wrapped)
      continue()
    endif()
    get_filename_component(runtime_folder "${BLACKOUT_RUNTIME}" DIRECTORY)

    # As in the wrappers (src/cli/compiler_wrapper.cpp says why each is there). BEFORE: the project's own
    # options win.
    set(options)
    foreach(option -fplugin=${BLACKOUT_PASS} -fpass-plugin=${BLACKOUT_PASS} -D__BLACKOUT__=1
                   -idirafter${BLACKOUT_PREFIX}/include -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer)
      list(APPEND options "$<$<COMPILE_LANGUAGE:C,CXX>:${option}>")
    endforeach()
    target_compile_options(${target} BEFORE PRIVATE ${options})

    # One SHELL: string, so that neither order nor pairs are lost to CMake's removal of duplicates.
    set(link "SHELL:-Xlinker --push-state -Xlinker --no-as-needed \"${BLACKOUT_RUNTIME}\" -Xlinker --pop-state -Xlinker -rpath -Xlinker \"${runtime_folder}\"")
    if(type STREQUAL "STATIC_LIBRARY" OR type STREQUAL "OBJECT_LIBRARY")
      target_link_options(${target} BEFORE INTERFACE "${link}")
    else()
      target_link_options(${target} BEFORE PRIVATE "${link}")
    endif()
    get_target_property(link_options ${target} LINK_OPTIONS)
    foreach(option IN LISTS link_options)
      if(option MATCHES "^-static(-pie)?$")
        message(FATAL_ERROR
                "Blackout: ${target} is linked with ${option}, but static programs are not supported, because the "
                "runtime is a shared library. Link it without ${option}.")
      endif()
    endforeach()
  endforeach()
endfunction()

function(blackout_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;WORKING_DIRECTORY" "COMMAND;PM;ARGS")
  if(NOT arg_NAME OR NOT arg_COMMAND)
    message(FATAL_ERROR "Blackout: blackout_add_test() needs NAME and COMMAND")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "Blackout: blackout_add_test(${arg_NAME}): unknown words: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT EXISTS "${BLACKOUT_EXECUTABLE}")
    message(WARNING "Blackout: ${BLACKOUT_EXECUTABLE} is missing: run make, or make install, in Blackout's folder again")
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program "$<TARGET_FILE:${program}>")
  endif()
  set(pools)
  foreach(pool IN LISTS arg_PM)
    list(APPEND pools --pm "${pool}")
  endforeach()
  set(where)
  if(arg_WORKING_DIRECTORY)
    set(where WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}")
  endif()
  add_test(NAME ${arg_NAME} COMMAND "${BLACKOUT_EXECUTABLE}" check ${pools} ${arg_ARGS} -- "${program}" ${arg_COMMAND} ${where})
endfunction()

function(blackout_add_gtest)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;WORKING_DIRECTORY" "TESTS;PM;EXTRA_ARGS;ARGS")
  if(NOT arg_TARGET OR NOT arg_TESTS)
    message(FATAL_ERROR "Blackout: blackout_add_gtest() needs TARGET and TESTS")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "Blackout: blackout_add_gtest(${arg_TARGET}): unknown words: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(test IN LISTS arg_TESTS)
    blackout_add_test(NAME ${arg_TARGET}.${test} COMMAND ${arg_TARGET} ${arg_EXTRA_ARGS} --gtest_filter=${test}
                      PM ${arg_PM} ARGS ${arg_ARGS} WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
  endforeach()
endfunction()
