# An installed tree can be copied to another machine: every shared library but the C library's own is
# copied into lib/, where the program looks first.
set(system_libraries "^ld-linux" "^libc\\.so" "^libm\\.so" "^libdl\\.so" "^libpthread\\.so" "^librt\\.so")
install(TARGETS fusebench RUNTIME_DEPENDENCY_SET runtime_libraries
        RUNTIME DESTINATION bin COMPONENT fusebench)
install(RUNTIME_DEPENDENCY_SET runtime_libraries
        PRE_EXCLUDE_REGEXES ${system_libraries}
        LIBRARY DESTINATION lib COMPONENT fusebench)
# The README's links work there too.
install(FILES README.md LICENSE CONTRIBUTING.md CHANGELOG.md DESTINATION share/doc/fusebench
        COMPONENT fusebench)
install(DIRECTORY docs DESTINATION share/doc/fusebench COMPONENT fusebench)
install(FILES results/README.md DESTINATION share/doc/fusebench/results COMPONENT fusebench)
