# What people run and link:
#   libaddp_core.so  the torch-free folders
#   libaddp.so       everything that needs libtorch, with the bodies of the heavy commands
#   addp             the program: options, help and the light commands; it loads libaddp.so when needed,
#                    so that `addp --help` does not wait for libtorch
# The static folders named, whole, in one shared library.
function(addp_whole target)
  foreach(folder ${ARGN})
    target_link_libraries(${target} PRIVATE
      -Wl,--push-state,--whole-archive $<TARGET_FILE:addp_${folder}> -Wl,--pop-state)
    add_dependencies(${target} addp_${folder})
    target_link_libraries(${target} PRIVATE ${ADDP_LINKS_${folder}})
  endforeach()
endfunction()

file(WRITE ${CMAKE_BINARY_DIR}/core.cpp "// the folders are linked in whole\n")
add_library(addp_core SHARED ${CMAKE_BINARY_DIR}/core.cpp)
addp_whole(addp_core ${ADDP_CORE_FOLDERS})

add_executable(addp $<TARGET_OBJECTS:addp_cli> $<TARGET_OBJECTS:addp_commands_files>
  $<TARGET_OBJECTS:addp_commands_library>)
target_link_libraries(addp PRIVATE addp_core fmt::fmt ${CMAKE_DL_LIBS} Threads::Threads)
set_target_properties(addp PROPERTIES BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN/../lib")

if(ADDP_TORCH_PARTS)
  file(WRITE ${CMAKE_BINARY_DIR}/library.cpp "// the folders are linked in whole\n")
  add_library(addp_library SHARED ${CMAKE_BINARY_DIR}/library.cpp)
  set_target_properties(addp_library PROPERTIES OUTPUT_NAME addp BUILD_RPATH "$ORIGIN;${ADDP_RPATH}"
    INSTALL_RPATH "$ORIGIN;${ADDP_RPATH}")
  addp_whole(addp_library ${ADDP_SERVER_FOLDERS} ${ADDP_TORCH_FOLDERS})
  target_link_libraries(addp_library PRIVATE addp_torch addp_core fmt::fmt)
  # The program loads it while running, so nothing else makes it a dependency.
  add_dependencies(addp addp_library)
endif()

if(ADDP_TESTS AND ADDP_TORCH_PARTS)
  foreach(name cli generation training reproduction skipped)
    add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/${name}_test.sh $<TARGET_FILE:addp>
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endforeach()
  find_package(Python3 3.11 COMPONENTS Interpreter)
  if(Python3_FOUND)  # hostile input, and a sample of what `make faults` does
    add_test(NAME hostile COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/hostile/run.py $<TARGET_FILE:addp>
      --random 40 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    add_test(NAME faults COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/faults/run.py $<TARGET_FILE:addp>
      --sample WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(hostile PROPERTIES PROCESSORS 2)
  endif()
  foreach(name http openai browser)
    add_test(NAME serve-${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/server/serve_test.sh $<TARGET_FILE:addp> ${name}
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endforeach()
endif()

# make install: the program, the libraries and the find_package(addp) package.
include(GNUInstallDirs)
configure_file(${CMAKE_SOURCE_DIR}/cmake/addp-config.cmake.in ${CMAKE_BINARY_DIR}/addp-config.cmake @ONLY)
set_target_properties(addp_core PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS addp RUNTIME DESTINATION bin)
install(TARGETS addp_core LIBRARY DESTINATION lib)
if(ADDP_TORCH_PARTS)
  install(TARGETS addp_library LIBRARY DESTINATION lib)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/addp DESTINATION include)
  install(FILES ${CMAKE_BINARY_DIR}/addp-config.cmake DESTINATION lib/cmake/addp)
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs ${CMAKE_SOURCE_DIR}/models DESTINATION share/addp)
