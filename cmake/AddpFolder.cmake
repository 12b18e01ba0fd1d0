# addp_folder(PATH [TORCH | OBJECTS] [DEPENDS folders] [PRIVATE folders] [HEADERS folders] [LINKS libraries])
#
# Makes the static library addp_<path> of src/PATH/*.cpp ('/' becomes '_'). A folder may include the headers of the
# folders it names with DEPENDS and of what those name: the includes are written "folder/file.h" and searched in
# build/include/<path>/, which holds links to that folder's headers alone. What it names with PRIVATE its .cpp files may
# include, but nobody who names this folder. With HEADERS a folder sees headers without
# linking what is behind them; the headers must then do without libtorch. OBJECTS: sources of the program itself, which
# links no static folder, because libaddp_core.so has them.
set(ADDP_FOLDERS "" CACHE INTERNAL "")
set(ADDP_TORCH_FOLDERS "" CACHE INTERNAL "")

function(addp_folder path)
  cmake_parse_arguments(ARG "TORCH;OBJECTS" "" "DEPENDS;PRIVATE;HEADERS;LINKS" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  addp_header_view(${path} ${name})
  foreach(other ${ARG_DEPENDS} ${ARG_HEADERS})
    string(REPLACE "/" "_" other ${other})
    target_link_libraries(addp_${name}_headers INTERFACE addp_${other}_headers)
  endforeach()
  target_link_libraries(addp_${name}_headers INTERFACE ${ARG_LINKS})
  if(ARG_TORCH AND NOT ADDP_TORCH_PARTS)
    return()
  endif()

  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${path}/*.cpp)
  if(NOT sources)  # a folder of headers
    file(WRITE ${CMAKE_BINARY_DIR}/empty/${name}.cpp "// ${path} has headers only\n")
    set(sources ${CMAKE_BINARY_DIR}/empty/${name}.cpp)
  endif()
  if(ARG_OBJECTS)
    add_library(addp_${name} OBJECT ${sources})
    target_link_libraries(addp_${name} PUBLIC addp_${name}_headers)
    return()
  endif()
  add_library(addp_${name} STATIC ${sources})
  target_link_libraries(addp_${name} PUBLIC addp_${name}_headers)
  foreach(other ${ARG_DEPENDS})
    string(REPLACE "/" "_" other ${other})
    target_link_libraries(addp_${name} PUBLIC addp_${other})
  endforeach()
  foreach(other ${ARG_PRIVATE})
    string(REPLACE "/" "_" other ${other})
    target_link_libraries(addp_${name} PRIVATE addp_${other})
  endforeach()
  if(ARG_TORCH)
    addp_use_torch(addp_${name})
    set(ADDP_TORCH_FOLDERS ${ADDP_TORCH_FOLDERS} ${name} CACHE INTERNAL "")
  endif()
  set(ADDP_FOLDERS ${ADDP_FOLDERS} ${name} CACHE INTERNAL "")
  set(ADDP_LINKS_${name} ${ARG_LINKS} CACHE INTERNAL "")
endfunction()

# addp_<name>_headers: what an include path shows of a folder.
function(addp_header_view path name)
  set(view ${CMAKE_BINARY_DIR}/include/${name})
  file(REMOVE_RECURSE ${view})
  file(MAKE_DIRECTORY ${view}/${path})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${path}/*.h)
  foreach(header ${headers})
    get_filename_component(file ${header} NAME)
    file(CREATE_LINK ${header} ${view}/${path}/${file} SYMBOLIC)
  endforeach()
  add_library(addp_${name}_headers INTERFACE)
  target_include_directories(addp_${name}_headers INTERFACE ${view})
endfunction()

# libtorch and the one precompiled header, shared by every target that uses it. Sources are compiled in batches ("unity
# builds"): the cost of a file is libtorch's headers, not its own lines, so a clean build takes minutes instead of half an
# hour. Files of one folder therefore share their anonymous namespaces.
function(addp_use_torch target)
  target_link_libraries(${target} PUBLIC addp_torch)
  if(NOT TARGET addp_torch_pch)
    file(WRITE ${CMAKE_BINARY_DIR}/torch_pch.cpp "// carries the precompiled header\n")
    add_library(addp_torch_pch OBJECT ${CMAKE_BINARY_DIR}/torch_pch.cpp)
    target_link_libraries(addp_torch_pch PRIVATE addp_torch)
    target_precompile_headers(addp_torch_pch PRIVATE ${CMAKE_SOURCE_DIR}/src/nn/torch.h)
  endif()
  target_precompile_headers(${target} REUSE_FROM addp_torch_pch)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL EXECUTABLE)  # -fPIE would not match the precompiled header, which would then be ignored
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# addp_tests(NAME [TORCH] DEPENDS folders): the test program test_<name> of all of tests/NAME.
function(addp_tests name)
  cmake_parse_arguments(ARG "TORCH" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp)
  if(NOT ADDP_TESTS OR NOT tests OR (ARG_TORCH AND NOT ADDP_TORCH_PARTS))
    return()
  endif()
  find_package(GTest REQUIRED)
  set(program test_${name})
  add_executable(${program} ${tests})
  target_include_directories(${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${program} PRIVATE GTest::gtest GTest::gtest_main addp_json)
  foreach(folder ${ARG_DEPENDS})
    string(REPLACE "/" "_" folder ${folder})
    target_link_libraries(${program} PRIVATE addp_${folder})
  endforeach()
  target_compile_definitions(${program} PRIVATE ADDP_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  if(ADDP_SANITIZE)  # instrumented code takes long to compile; what is tested is optimised
    if(NOT ADDP_TORCH_PARTS)  # a precompiled header goes with one level only
      target_compile_options(${program} PRIVATE -O0)
    endif()
    set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
  if(ARG_TORCH)
    addp_use_torch(${program})
  endif()
  add_test(NAME ${name} COMMAND ${program} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  # Threads that wait for each other must not spin the cores away from the test beside this one.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT GOMP_SPINCOUNT=1000)
endfunction()

# addp_assets(PATH): the files of src/PATH/assets inside the folder's library, as assets.h of that folder names them.
function(addp_assets path)
  string(REPLACE "/" "_" name ${path})
  file(GLOB assets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${path}/assets/*)
  set(source ${CMAKE_BINARY_DIR}/assets/${name}.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DOUT=${source} "-DFILES=${assets}" -P ${CMAKE_SOURCE_DIR}/cmake/AddpEmbed.cmake
    DEPENDS ${assets} ${CMAKE_SOURCE_DIR}/cmake/AddpEmbed.cmake VERBATIM)
  target_sources(addp_${name} PRIVATE ${source})
endfunction()
