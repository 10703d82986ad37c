# shellcheck shell=bash
# What the scripts here share. Source it: it only defines things.

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
build_folder=$root/build

say() { echo "fusebench: $*" >&2; }

# No verdict could be had: exit code 2, as the program's own.
fail() {
  say "$*"
  exit 2
}

# The set-up, then CMake where it is needed. Sets and exports FUSEBENCH_CUDA_ROOT.
prepare() {
  # shellcheck source=scripts/setup
  source "$root/scripts/setup"
  configure
}

# Runs CMake where there is no build yet, or its CUDA or FUSEBENCH_CMAKE_ARGS are no longer those of
# last time. Unset, FUSEBENCH_CMAKE_ARGS means those of last time.
configure() {
  local stamp=$build_folder/.configured_by_scripts last_cuda= last_arguments= cuda arguments
  if [[ -f $stamp ]]; then
    { IFS= read -r last_cuda && IFS= read -r last_arguments; } <"$stamp" || true
  fi
  cuda=${FUSEBENCH_CUDA:-auto}:${FUSEBENCH_CUDA_ROOT:-}
  arguments=${FUSEBENCH_CMAKE_ARGS-$last_arguments}
  if [[ -f $build_folder/build.ninja && $installed_anything == no && $arguments == "$last_arguments" ]]; then
    # Without a stamp it was configured by hand, and is left as it is.
    if [[ ! -f $stamp || $cuda == "$last_cuda" ]]; then return; fi
  fi
  if [[ -f $stamp ]]; then  # options of last time, which may no longer be given
    rm -f "$build_folder"/{CMakeCache.txt,build.ninja} "$stamp"
  fi
  local words
  read -ra words <<<"$arguments"
  [[ ${FUSEBENCH_CUDA:-auto} != 0 ]] || words+=(-DFUSEBENCH_CUDA=OFF)
  (cd "$root" && cmake --preset release "${words[@]}" >&2) || fail "CMake failed; see above"
  printf '%s\n' "$cuda" "$arguments" >"$stamp"
}

# A compiler of this code wants up to 2 GiB.
build_jobs() {
  local available_kib jobs
  available_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  jobs=$((available_kib / (2 * 1024 * 1024)))
  ((jobs < $(nproc))) || jobs=$(nproc)
  echo $((jobs > 1 ? jobs : 1))
}

# No source is newer than the program: what is left to do is not worth a progress line.
looks_current() {
  [[ -x $build_folder/fusebench ]] && [[ -z $(
    cd "$root" && find CMakeLists.txt cmake harness reference variants tests \
      \( -type d -o -name '*.[ch]pp' -o -name '*.cu*' -o -name '*.cmake' -o -name CMakeLists.txt \) \
      -newer build/fusebench -print -quit 2>/dev/null
  ) ]]
}

# shellcheck disable=SC2120
# build [--target NAME]: everything, or one target. Progress goes to stderr.
build() {
  local quiet=()
  if looks_current; then quiet=(-- --quiet); fi
  (cd "$root" && cmake --build --preset release --parallel "$(build_jobs)" "$@" "${quiet[@]}" >&2) ||
    fail "the build failed; see above"
}
