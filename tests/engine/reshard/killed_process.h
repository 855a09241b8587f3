// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Kills a process at a chosen moment between two system calls that change files.

#include <functional>
#include <optional>

namespace tessera::test {

/// Runs `work` in a forked process under ptrace and kills it (SIGKILL) before its `moment`-th call
/// that changes a file or a folder, counted from 1.
/// \return whether it was killed; false if it ended before that many calls; nullopt if processes
///     cannot be traced on this machine
std::optional<bool> KillAtChange(int moment, const std::function<void()>& work);

}  // namespace tessera::test
