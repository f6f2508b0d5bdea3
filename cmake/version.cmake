# The version: the newest tag vMAJOR.MINOR.PATCH that this checkout has in its history; without any, or outside of a git checkout (a tarball, a
# package's build), what stands here. Sets BLACKOUT_TAGGED_VERSION.
set(BLACKOUT_TAGGED_VERSION 0.1.0)
if(NOT DEFINED BLACKOUT_SOURCE)
  set(BLACKOUT_SOURCE ${CMAKE_CURRENT_LIST_DIR}/..)
endif()
# Not the tags of a repository around this one.
if(EXISTS ${BLACKOUT_SOURCE}/.git)
  execute_process(COMMAND git -C ${BLACKOUT_SOURCE} describe --tags --abbrev=0 "--match=v[0-9]*.[0-9]*.[0-9]*" "--exclude=*-*"
                  OUTPUT_VARIABLE tag OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
  if(result EQUAL 0 AND tag MATCHES "^v([0-9]+\\.[0-9]+\\.[0-9]+)$")
    set(BLACKOUT_TAGGED_VERSION ${CMAKE_MATCH_1})
  endif()
endif()
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${BLACKOUT_TAGGED_VERSION})
endif()
