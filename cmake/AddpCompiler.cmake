# Warnings, sanitizers and ccache, the same for every target.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-unused-parameter)
if(ADDP_SANITIZE)
  add_compile_options(-fsanitize=${ADDP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(ADDP_TORCH_PARTS)
    # libtorch's headers make each file large: less is optimised, and stacks are told by their functions. Its classes have
    # their type information hidden, so that a check of it would tell what is not so.
    set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
    add_compile_options(-fno-sanitize=vptr)
  else()
    add_compile_options(-g1)
  endif()
  add_link_options(-fsanitize=${ADDP_SANITIZE})
endif()
if(ADDP_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A precompiled header is only reused with this (ccache's manual, "Precompiled headers").
  add_compile_options(-fpch-preprocess)
endif()
