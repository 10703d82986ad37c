# Flags of all our own code.
add_library(fusebench_warnings INTERFACE)
target_compile_options(fusebench_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wshadow
  # A designated initialiser that leaves the defaults alone is the point of it.
  -Wno-missing-field-initializers
  # __FILE__ is the path from the root, which is how kernel sources are registered.
  -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=
  # Each step of an exact_order variant must be rounded: no fused multiply-add the source does not ask for.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Warns falsely about std::string's operator+ (GCC bug 105651).
  target_compile_options(fusebench_warnings INTERFACE -Wno-restrict)
endif()
if(FUSEBENCH_WERROR)
  target_compile_options(fusebench_warnings INTERFACE -Werror)
endif()
