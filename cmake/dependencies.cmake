# Finds what the program stands on. Only fmt, CLI11, nlohmann-json and libcsv are required; what else is
# missing switches off what needs it, with one line that says so and how to get it.
find_package(Threads REQUIRED)

function(fusebench_require package debian)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found: apt-get install ${debian}, or run scripts/setup")
  endif()
endfunction()
fusebench_require(fmt libfmt-dev)
fusebench_require(CLI11 libcli11-dev)
fusebench_require(nlohmann_json nlohmann-json3-dev)

find_path(LIBCSV_INCLUDE_DIR csv.h)
find_library(LIBCSV_LIBRARY NAMES libcsv.a csv)
if(NOT LIBCSV_INCLUDE_DIR OR NOT LIBCSV_LIBRARY)
  message(FATAL_ERROR "libcsv was not found: apt-get install libcsv-dev, or run scripts/setup")
endif()

add_library(fusebench_dependencies INTERFACE)
# Header-only fmt, so that an installed tree needs one library less.
target_link_libraries(fusebench_dependencies INTERFACE
  Threads::Threads ${CMAKE_DL_LIBS} fmt::fmt-header-only CLI11::CLI11 nlohmann_json::nlohmann_json
  ${LIBCSV_LIBRARY})
target_include_directories(fusebench_dependencies SYSTEM INTERFACE ${LIBCSV_INCLUDE_DIR})

function(fusebench_optional flag found what debian)
  if(found)
    target_compile_definitions(fusebench_dependencies INTERFACE ${flag}=1)
  else()
    target_compile_definitions(fusebench_dependencies INTERFACE ${flag}=0)
    message(STATUS "fusebench: without ${what}: apt-get install ${debian} to have it")
  endif()
endfunction()

find_package(hwy QUIET)
fusebench_optional(FUSEBENCH_HAVE_HIGHWAY "${hwy_FOUND}" "the Highway variants" libhwy-dev)
if(hwy_FOUND)
  target_link_libraries(fusebench_dependencies INTERFACE hwy::hwy)
endif()

# oneDNN runs its threads by OpenMP, and what comes between two of its primitives must use the same ones.
# Looked for as files: dnnl's own package fails where OpenCL's headers are not installed.
find_path(ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(ONEDNN_LIBRARY dnnl)
find_package(OpenMP QUIET COMPONENTS CXX)
set(have_onednn OFF)
if(ONEDNN_INCLUDE_DIR AND ONEDNN_LIBRARY AND OpenMP_CXX_FOUND)
  set(have_onednn ON)
  target_include_directories(fusebench_dependencies SYSTEM INTERFACE ${ONEDNN_INCLUDE_DIR})
  target_link_libraries(fusebench_dependencies INTERFACE ${ONEDNN_LIBRARY} OpenMP::OpenMP_CXX)
endif()
fusebench_optional(FUSEBENCH_HAVE_ONEDNN "${have_onednn}" "the oneDNN variants" libdnnl-dev)

find_package(benchmark QUIET)
fusebench_optional(FUSEBENCH_HAVE_GOOGLE_BENCHMARK "${benchmark_FOUND}" "'fusebench gbench'"
                   libbenchmark-dev)
if(benchmark_FOUND)
  target_link_libraries(fusebench_dependencies INTERFACE benchmark::benchmark)
endif()

# Recorded spaces are often gzipped. One file reads them, so only it is told.
find_package(ZLIB QUIET)
if(ZLIB_FOUND)
  set(FUSEBENCH_HAVE_ZLIB 1)
  target_link_libraries(fusebench_dependencies INTERFACE ZLIB::ZLIB)
else()
  set(FUSEBENCH_HAVE_ZLIB 0)
  message(STATUS "fusebench: without gzipped recorded spaces: apt-get install zlib1g-dev to have them")
endif()

# Only headers are needed to build; driver and NVRTC are looked up when the program runs.
set(cuda_roots $ENV{FUSEBENCH_CUDA_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda)
find_path(CUDA_INCLUDE_DIR cuda.h HINTS ${cuda_roots} PATH_SUFFIXES include
          targets/x86_64-linux/include)
find_path(NVRTC_INCLUDE_DIR nvrtc.h HINTS ${cuda_roots} PATH_SUFFIXES include
          targets/x86_64-linux/include)
set(FUSEBENCH_HAVE_CUDA OFF)
if(FUSEBENCH_CUDA AND CUDA_INCLUDE_DIR AND NVRTC_INCLUDE_DIR)
  set(FUSEBENCH_HAVE_CUDA ON)
  file(STRINGS ${CUDA_INCLUDE_DIR}/cuda.h cuda_version REGEX "^#define CUDA_VERSION ")
  string(REGEX REPLACE ".* ([0-9]+)[0-9][0-9][0-9]$" "\\1" cuda_major "${cuda_version}")
  find_path(NVRTC_LIBRARY_DIR libnvrtc.so.${cuda_major} HINTS ${cuda_roots}
            PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib)
  if(NOT NVRTC_LIBRARY_DIR)
    set(NVRTC_LIBRARY_DIR "")
  endif()
  target_include_directories(fusebench_dependencies SYSTEM INTERFACE ${CUDA_INCLUDE_DIR}
                             ${NVRTC_INCLUDE_DIR})
  target_compile_definitions(fusebench_dependencies INTERFACE
    FUSEBENCH_NVRTC_MAJOR=${cuda_major} FUSEBENCH_NVRTC_FOLDER="${NVRTC_LIBRARY_DIR}")
else()
  message(STATUS "fusebench: without CUDA: install the CUDA Toolkit, or run scripts/setup with "
                 "FUSEBENCH_CUDA=1, to have it")
endif()
target_compile_definitions(fusebench_dependencies INTERFACE
  FUSEBENCH_HAVE_CUDA=$<BOOL:${FUSEBENCH_HAVE_CUDA}>)

# Names for profilers: NVTX 3, headers only. Its files, and CUPTI's, concern one source each, so only that is told.
find_path(NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h HINTS ${cuda_roots} PATH_SUFFIXES include
          targets/x86_64-linux/include)
set(FUSEBENCH_HAVE_NVTX 0)
if(NVTX_INCLUDE_DIR)
  set(FUSEBENCH_HAVE_NVTX 1)
else()
  message(STATUS "fusebench: without names in profilers: install the CUDA Toolkit, or run scripts/setup "
                 "with FUSEBENCH_CUDA=1, to have them")
endif()

# Timelines of our own: CUPTI's headers; the library is looked up when the program runs, the folder last.
set(FUSEBENCH_HAVE_CUPTI 0)
if(FUSEBENCH_HAVE_CUDA)
  find_path(CUPTI_INCLUDE_DIR cupti_activity.h HINTS ${cuda_roots} PATH_SUFFIXES include
            extras/CUPTI/include targets/x86_64-linux/include)
  if(CUPTI_INCLUDE_DIR AND cuda_major GREATER_EQUAL 12)
    set(FUSEBENCH_HAVE_CUPTI 1)
    find_path(CUPTI_LIBRARY_DIR libcupti.so.${cuda_major} HINTS ${cuda_roots}
              PATH_SUFFIXES lib64 lib extras/CUPTI/lib64 targets/x86_64-linux/lib)
    if(NOT CUPTI_LIBRARY_DIR)
      set(CUPTI_LIBRARY_DIR "")
    endif()
  else()
    message(STATUS "fusebench: without GPU activity in 'fusebench profile --trace': install the CUDA Toolkit, 12 or later, "
                   "with CUPTI, or run scripts/setup with FUSEBENCH_CUDA=1, to have it")
  endif()
endif()

# cuDNN's own headers and NVIDIA's frontend, which is headers only, from a toolkit or from PyPI. The library is
# looked up when the program runs; the folder is where to look last.
set(FUSEBENCH_HAVE_CUDNN OFF)
if(FUSEBENCH_HAVE_CUDA AND FUSEBENCH_CUDNN)
  set(cudnn_roots $ENV{FUSEBENCH_CUDNN_ROOT} ${CMAKE_BINARY_DIR}/cudnn-wheels ${cuda_roots})
  find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS ${cudnn_roots} PATH_SUFFIXES include
            targets/x86_64-linux/include)
  find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h HINTS ${cudnn_roots} PATH_SUFFIXES include)
  # The frontend includes the runtime's header, which on PyPI comes in pieces.
  find_path(CUDA_RUNTIME_INCLUDE_DIR cuda_runtime_api.h HINTS ${CUDA_INCLUDE_DIR} ${cuda_roots}
            PATH_SUFFIXES include targets/x86_64-linux/include)
  find_path(CUDA_CRT_INCLUDE_DIR crt/host_defines.h HINTS ${CUDA_INCLUDE_DIR} ${cudnn_roots}
            PATH_SUFFIXES include targets/x86_64-linux/include)
  if(CUDNN_INCLUDE_DIR AND CUDNN_FRONTEND_INCLUDE_DIR AND CUDA_RUNTIME_INCLUDE_DIR AND CUDA_CRT_INCLUDE_DIR)
    set(FUSEBENCH_HAVE_CUDNN ON)
    find_path(CUDNN_LIBRARY_DIR libcudnn.so.9 HINTS ${cudnn_roots}
              PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib)
    if(NOT CUDNN_LIBRARY_DIR)
      set(CUDNN_LIBRARY_DIR "")
    endif()
  else()
    message(STATUS "fusebench: without the cuDNN variants: run scripts/setup, or see docs/cudnn.md, to have them")
  endif()
endif()
