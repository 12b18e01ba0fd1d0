# One libFuzzer program for each tests/fuzz/<name>_fuzz.cpp, against the torch-free folders. clang only; `make fuzz`
# builds and runs them.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "ADDP_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
endif()
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp)
foreach(source ${fuzz_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  foreach(folder image_augment checkpoint_layout data_inspect server_requests)
    target_link_libraries(${name} PRIVATE addp_${folder})
  endforeach()
endforeach()
