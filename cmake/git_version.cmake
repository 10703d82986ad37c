# A header with the commit that is being built, rewritten only when it changes.
add_custom_target(fusebench_git_version
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${CMAKE_BINARY_DIR}/generated/fusebench_git_version.hpp
          -DROOT=${CMAKE_SOURCE_DIR} -DRELEASE=${PROJECT_VERSION}
          -P ${CMAKE_SOURCE_DIR}/cmake/write_git_version.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/fusebench_git_version.hpp
  COMMENT "Noting the commit" VERBATIM)
