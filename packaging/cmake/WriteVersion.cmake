# SPDX-License-Identifier: Apache-2.0
# Writes the version with the commit that is checked out: cmake -D SOURCE=… -D VERSION=… -D TEMPLATE=…
# -D OUTPUT=… -P WriteVersion.cmake. Runs in each build; an unchanged file keeps its time, so nothing is
# compiled again.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "no commit")
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
