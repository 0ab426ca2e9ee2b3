# Compile options shared by every target.
add_library(talus_options INTERFACE)
target_link_libraries(talus_options INTERFACE OpenMP::OpenMP_CXX)
# The C interface of MPI only; given to every target so that all can share one precompiled header.
target_compile_definitions(talus_options INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_compile_options(talus_options INTERFACE -Wall -Wextra -Wpedantic)
# Designated initialisers leave out what has a default; GCC 12 sees uninitialised reads inside Eigen that are none.
target_compile_options(talus_options INTERFACE -Wno-missing-field-initializers
                       $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local -Wno-maybe-uninitialized>)
if(TALUS_WERROR)
  target_compile_options(talus_options INTERFACE -Werror)
endif()

# Same bits everywhere: no contraction into fused multiply-adds, no reassociation. Wider registers are then only
# faster, never different.
target_compile_options(talus_options INTERFACE -ffp-contract=off -fno-math-errno)

if(TALUS_MARCH STREQUAL "auto" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  include(CheckCXXSourceRuns)
  check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") && __builtin_cpu_supports(\"bmi2\") ? 0 : 1; }"
                        TALUS_HOST_RUNS_V3)
  if(TALUS_HOST_RUNS_V3)
    target_compile_options(talus_options INTERFACE -march=x86-64-v3)
  endif()
elseif(NOT TALUS_MARCH STREQUAL "auto")
  target_compile_options(talus_options INTERFACE -march=${TALUS_MARCH})
endif()

if(TALUS_SANITIZE)
  target_compile_options(talus_options INTERFACE -fsanitize=${TALUS_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(talus_options INTERFACE -fsanitize=${TALUS_SANITIZE})
endif()
