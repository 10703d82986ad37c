# Run at every build by git_version.cmake.
set(commit unknown)
set(dirty false)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse HEAD WORKING_DIRECTORY ${ROOT}
                  OUTPUT_VARIABLE head RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(commit ${head})
    execute_process(COMMAND ${GIT} status --porcelain -- CMakeLists.txt cmake harness reference variants
                    WORKING_DIRECTORY ${ROOT}
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      set(dirty true)
    endif()
  endif()
endif()
set(text "// Written by cmake/write_git_version.cmake.
#pragma once

namespace fusebench {
inline constexpr const char* git_version_release = \"${RELEASE}\";
inline constexpr const char* git_version_commit = \"${commit}\";
inline constexpr bool git_version_dirty = ${dirty};
}  // namespace fusebench
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUTPUT} "${text}")
endif()
