// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A process that is killed at a chosen moment: between two calls that change files.

#include <functional>
#include <optional>

namespace tessera::test {

/// Runs `work` in a forked process under ptrace and kills it (SIGKILL) before its `moment`-th call
/// that changes a file or a folder, counted from 1.
/// \return whether it was killed (false: it had fewer such calls and ended by itself), nullopt
/// where
///     this machine does not let a process be traced
std::optional<bool> KillAtChange(int moment, const std::function<void()>& work);

}  // namespace tessera::test
