# Run at build time by embed.cmake: OUTPUT from FILES, named from ROOT.
set(text "// Written by cmake/write_embedded.cmake.\n#include \"harness/core/registry.hpp\"\n\nnamespace {\n\n")
foreach(name IN LISTS FILES)
  file(READ ${ROOT}/${name} source)
  string(MAKE_C_IDENTIFIER ${name} identifier)
  string(APPEND text "const bool ${identifier} = fusebench::registry().add_source(\"${name}\", R\"kernel(${source})kernel\");\n")
endforeach()
string(APPEND text "\n}  // namespace\n")
file(WRITE ${OUTPUT} "${text}")
