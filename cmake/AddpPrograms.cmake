# What people run and link:
#   libaddp_core.so  the torch-free folders
#   libaddp.so       everything that needs libtorch, with the bodies of the heavy commands
#   addp             the program: options, help and the light commands; it loads libaddp.so when needed,
#                    so that `addp --help` does not wait for libtorch
set(ADDP_CORE_FOLDERS base image checkpoint data report)
set(ADDP_LIGHT_COMMANDS doctor convert bench_images weights)

# The static folders named, whole, in one shared library.
function(addp_whole target)
  foreach(folder ${ARGN})
    target_link_libraries(${target} PRIVATE
      -Wl,--push-state,--whole-archive $<TARGET_FILE:addp_${folder}> -Wl,--pop-state)
    add_dependencies(${target} addp_${folder})
    target_link_libraries(${target} PRIVATE ${ADDP_LINKS_${folder}})
  endforeach()
endfunction()

# Headers of the folders named, without linking their static libraries.
function(addp_headers target)
  foreach(folder ${ARGN})
    target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/include/${folder})
  endforeach()
endfunction()

set(commands_view ${CMAKE_BINARY_DIR}/include/commands)
file(MAKE_DIRECTORY ${commands_view})
foreach(folder commands cli)
  if(NOT IS_SYMLINK ${commands_view}/${folder})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${folder} ${commands_view}/${folder} SYMBOLIC)
  endif()
endforeach()

file(WRITE ${CMAKE_BINARY_DIR}/core.cpp "// the folders are linked in whole\n")
add_library(addp_core SHARED ${CMAKE_BINARY_DIR}/core.cpp)
addp_whole(addp_core ${ADDP_CORE_FOLDERS})

file(GLOB command_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/commands/*.cpp)
set(light_sources "")
foreach(name ${ADDP_LIGHT_COMMANDS})
  set(source ${CMAKE_SOURCE_DIR}/src/commands/${name}.cpp)
  if(source IN_LIST command_sources)
    list(APPEND light_sources ${source})
    list(REMOVE_ITEM command_sources ${source})
  endif()
endforeach()

file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/*.cpp)
add_executable(addp ${cli_sources} ${light_sources})
addp_headers(addp ${ADDP_FOLDERS} commands)
target_link_libraries(addp PRIVATE addp_core fmt::fmt CLI11::CLI11 addp_json ${CMAKE_DL_LIBS}
  Threads::Threads)
set_target_properties(addp PROPERTIES BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN/../lib")

if(ADDP_TORCH_PARTS)
  add_library(addp_library SHARED ${command_sources})
  set_target_properties(addp_library PROPERTIES OUTPUT_NAME addp BUILD_RPATH "$ORIGIN;${ADDP_TORCH}/lib"
    INSTALL_RPATH "$ORIGIN;${ADDP_TORCH}/lib")
  set(heavy ${ADDP_FOLDERS})
  list(REMOVE_ITEM heavy ${ADDP_CORE_FOLDERS})
  addp_headers(addp_library ${ADDP_FOLDERS} commands)
  addp_use_torch(addp_library)
  addp_whole(addp_library ${heavy})
  target_link_libraries(addp_library PRIVATE addp_core fmt::fmt addp_json)
  # The program loads it while running, so nothing else makes it a dependency.
  add_dependencies(addp addp_library)
endif()

if(ADDP_TESTS AND ADDP_TORCH_PARTS)
  foreach(name cli generation training)
    add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/${name}_test.sh $<TARGET_FILE:addp>
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
install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs DESTINATION share/addp)
