# System libraries, and libtorch linked directly: its own CMake package refuses to configure for a CUDA
# wheel on a machine without the CUDA toolkit, direct linking works for both.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibArchive REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

find_library(WEBP_LIBRARY webp REQUIRED)
find_library(WEBPDEMUX_LIBRARY webpdemux REQUIRED)
find_library(WEBPMUX_LIBRARY webpmux REQUIRED)
add_library(addp_webp INTERFACE)
target_link_libraries(addp_webp INTERFACE ${WEBPDEMUX_LIBRARY} ${WEBPMUX_LIBRARY} ${WEBP_LIBRARY})

find_path(EXIF_INCLUDE libexif/exif-data.h REQUIRED)
find_library(EXIF_LIBRARY exif REQUIRED)
add_library(addp_exif INTERFACE)
target_include_directories(addp_exif SYSTEM INTERFACE ${EXIF_INCLUDE})
target_link_libraries(addp_exif INTERFACE ${EXIF_LIBRARY})

find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
add_library(addp_tomlplusplus INTERFACE)
target_include_directories(addp_tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE})

find_path(NLOHMANN_INCLUDE nlohmann/json.hpp REQUIRED)
add_library(addp_json INTERFACE)
target_include_directories(addp_json SYSTEM INTERFACE ${NLOHMANN_INCLUDE})

# Debian's package is a shared library whose classes depend on what it was built with (its
# cpp-httplib.pc says so); elsewhere the header is all there is, and none of that is wanted.
find_path(HTTPLIB_INCLUDE httplib.h REQUIRED)
find_library(HTTPLIB_LIBRARY cpp-httplib)
add_library(addp_httplib INTERFACE)
target_include_directories(addp_httplib SYSTEM INTERFACE ${HTTPLIB_INCLUDE})
target_link_libraries(addp_httplib INTERFACE Threads::Threads)
if(HTTPLIB_LIBRARY)
  target_compile_definitions(addp_httplib INTERFACE
    CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)
  target_link_libraries(addp_httplib INTERFACE ${HTTPLIB_LIBRARY})
endif()

if(ADDP_TORCH_PARTS)
  set(ADDP_TORCH "$ENV{ADDP_TORCH}" CACHE PATH "folder of libtorch, with include/ and lib/")
  if(NOT EXISTS ${ADDP_TORCH}/include/torch/csrc/api/include/torch/torch.h)
    message(FATAL_ERROR "No libtorch in ADDP_TORCH='${ADDP_TORCH}'. 'make build' sets it up; "
                        "or give ADDP_TORCH=<folder with include/ and lib/>.")
  endif()
  add_library(addp_torch INTERFACE)
  target_include_directories(addp_torch SYSTEM INTERFACE
    ${ADDP_TORCH}/include ${ADDP_TORCH}/include/torch/csrc/api/include)
  target_link_directories(addp_torch INTERFACE ${ADDP_TORCH}/lib)
  target_link_libraries(addp_torch INTERFACE torch torch_cpu c10 Threads::Threads)
  if(EXISTS ${ADDP_TORCH}/lib/libtorch_cuda.so)
    # --no-as-needed: nothing refers to the CUDA libraries by name, they register themselves.
    target_link_libraries(addp_torch INTERFACE
      -Wl,--push-state,--no-as-needed torch_cuda c10_cuda -Wl,--pop-state)
  endif()
  # The OpenMP that libtorch itself uses: another one would bring threads of its own.
  set(ADDP_RPATH ${ADDP_TORCH}/lib)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    file(GLOB openmp ${ADDP_TORCH}/lib/libgomp*.so* ${ADDP_TORCH}/lib/libiomp5.so ${ADDP_TORCH}/../torch.libs/libgomp*.so*)
    list(APPEND openmp gomp)
    list(GET openmp 0 openmp)
    target_link_libraries(addp_torch INTERFACE ${openmp})
    if(openmp MATCHES torch.libs)
      list(APPEND ADDP_RPATH ${ADDP_TORCH}/../torch.libs)
      target_link_options(addp_torch INTERFACE -Wl,-rpath,${ADDP_TORCH}/../torch.libs)
    endif()
  endif()
  target_link_options(addp_torch INTERFACE -Wl,-rpath,${ADDP_TORCH}/lib)
  # gloo is in libtorch, its headers are not. Those that NCCL needs come with the CUDA wheel's
  # companions (nvidia-cuda-crt among them) or with the CUDA toolkit.
  find_path(GLOO_INCLUDE gloo/algorithm.h REQUIRED)
  if(EXISTS ${ADDP_TORCH}/lib/libtorch_cuda.so)
    file(GLOB cuda_includes ${ADDP_TORCH}/../nvidia/*/include)
    set(ADDP_NCCL_INCLUDES "")
    foreach(header nccl cuda_runtime_api crt/host_config cublas_v2 cusparse cusolverDn)
      find_path(ADDP_INCLUDE_OF_${header} ${header}.h HINTS ${cuda_includes} /usr/local/cuda/include)
      list(APPEND ADDP_NCCL_INCLUDES ${ADDP_INCLUDE_OF_${header}})
    endforeach()
    if(ADDP_NCCL_INCLUDES MATCHES NOTFOUND)
      message(STATUS "No headers of NCCL: several processes train on the CPU only")
      set(ADDP_NCCL_INCLUDES "")
    endif()
    list(REMOVE_DUPLICATES ADDP_NCCL_INCLUDES)
  endif()
endif()
