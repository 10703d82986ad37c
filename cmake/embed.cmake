# Builds kernel sources into the program, under their paths from the root of the checkout.

# fusebench_embed(VARIABLE FILE...): sets VARIABLE to a C++ file that registers the text of each FILE.
function(fusebench_embed variable)
  set(output ${CMAKE_BINARY_DIR}/generated/${variable}.cpp)
  set(inputs ${ARGN})
  list(TRANSFORM inputs PREPEND ${CMAKE_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DROOT=${CMAKE_SOURCE_DIR} "-DFILES=${ARGN}"
            -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
    DEPENDS ${inputs} ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
    COMMENT "Embedding kernel sources" VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()
