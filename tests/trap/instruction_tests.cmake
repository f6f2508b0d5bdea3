# Instructions: the runtime's part, the generated forms, their tests.
enable_language(ASM)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_library(trap_instructions STATIC
  ${runtime}/trap/zydis.cpp ${runtime}/trap/instruction.cpp ${runtime}/trap/instruction_access.cpp
  ${runtime}/trap/instruction_analysis.cpp ${runtime}/trap/instruction_copy.cpp
  ${runtime}/trap/instruction_execute.cpp ${runtime}/trap/instruction_run.cpp ${runtime}/trap/vector_state.cpp
  ${runtime}/trap/access_stub.cpp ${runtime}/trap/near_memory.cpp ${runtime}/trap/pm_table.cpp ${runtime}/trap/stub_memory.cpp)
target_include_directories(trap_instructions PUBLIC ${PROJECT_SOURCE_DIR}/src)
target_compile_options(trap_instructions PRIVATE -Wall -Wextra -Wno-unused-parameter -O2 -fno-exceptions -fno-rtti
                                                 -D_GNU_SOURCE)
target_link_libraries(trap_instructions PUBLIC ${CMAKE_DL_LIBS})

set(forms ${CMAKE_CURRENT_BINARY_DIR}/instruction_forms.S)
add_custom_command(OUTPUT ${forms}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/instruction_forms.py ${forms}
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/instruction_forms.py VERBATIM)
add_executable(trap_instruction_forms_test instruction_forms_test.cpp instruction_forms.cpp instruction_trapping.cpp
                                           ${forms})
target_link_libraries(trap_instruction_forms_test PRIVATE trap_instructions GTest::gtest_main)
add_test(NAME trap.instruction_forms COMMAND trap_instruction_forms_test)

add_executable(trap_instruction_test instruction_test.cpp instruction_trapping.cpp)
target_link_libraries(trap_instruction_test PRIVATE trap_instructions GTest::gtest_main)
add_test(NAME trap.instruction COMMAND trap_instruction_test)

# Optimised, and so without the precompiled headers: these have the project's settings, among them a sanitizer build's flags, which
# the decoder can't be loaded under (RTLD_DEEPBIND).
set_target_properties(trap_instruction_forms_test trap_instruction_test PROPERTIES BLACKOUT_BUSY_TEST ON)
